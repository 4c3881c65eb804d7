//! The check of a file: its numbers are the moves of the pass, and it must hold neither fewer nor more.

use std::io::{Read, Write};

use crate::blocks::{Block, Blocks};
use crate::games::with_rules;
use crate::header::Header;
use crate::layer::Merge;
use crate::pass::{Numbers, Pass, Place, Rules, Source};
use crate::plain::{self, Transcript};
use crate::{Failure, Progress, Proved, Settings};

/// Checks a certificate to its end: every claim holds, or it fails.
///
/// The same file gives the same result, and the same sentence, whatever the settings are, if the machine has what
/// they take.
pub fn check(
    input: impl Read,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Proved, Failure> {
    check_and_transcribe(input, settings, progress, None)
}

/// The same; what is read is written down in the plain form of certificates as well, which is whole only if
/// it is proved. There is such a form for Connect Four.
pub fn check_and_transcribe(
    input: impl Read,
    settings: &Settings,
    progress: &mut dyn Progress,
    mut plain: Option<&mut dyn Write>,
) -> Result<Proved, Failure> {
    let (header, mut blocks) = Blocks::open(input, progress)?;
    if let Some(output) = &mut plain {
        plain::begin(&header, *output)?;
    }
    let checked = claims(&header, &mut blocks, settings, &mut plain);
    if let Err(Failure::Fails(why)) = checked {
        // It may fail because the header is damaged, and the end of the file has its checksum: that has the last word.
        blocks.finish()?;
        refuse!(Fails, "{why}");
    }
    let positions = checked?;
    let sha256 = blocks.finish()?;
    if let Some(output) = plain {
        plain::end(output)?;
    }
    Ok(Proved { header, positions, sha256 })
}

/// Checks all claims, and gives the number of their positions.
fn claims(
    header: &Header,
    blocks: &mut Blocks<impl Read>,
    settings: &Settings,
    plain: &mut Option<&mut dyn Write>,
) -> Result<u64, Failure> {
    let mut positions = 0;
    with_rules!(header, settings, rules => {
        for claim in &header.claims {
            let pass = Pass::new(rules, claim, settings);
            positions += match plain {
                None => pass.run(blocks),
                Some(output) => pass.run(&mut Transcript { blocks, output, layer: Vec::new() }),
            }?;
        }
    });
    if let Some(block) = blocks.next()? {
        block.unpack()?;
        refuse!(Fails, "the file has more numbers than its claims need");
    }
    Ok(positions)
}

impl<G: Rules, R: Read> Source<G> for Blocks<'_, R> {
    type Numbers = Block;

    /// The next block, with its positions.
    fn piece(
        &mut self,
        Place { claim, layer: number, first, used }: Place<'_>,
        layer: &mut Merge<G::Position>,
    ) -> Result<(Vec<G::Position>, Block), Failure> {
        let named = claim.positions;
        let Some(block) = self.next()? else {
            refuse!(
                Fails,
                "claim {claim} needs more than the {used} numbers that the file has for it"
            );
        };
        // A block that does not fit may be a damaged one.
        if block.count as u64 > named - used {
            block.unpack()?;
            refuse!(
                Fails,
                "claim {claim} needs more than the {named} numbers that the header names"
            );
        }
        let positions = layer.take(block.count)?;
        if positions.len() < block.count {
            block.unpack()?;
            let count = first + positions.len() as u64;
            refuse!(
                Fails,
                "claim {claim} has a block that goes beyond the {count} positions of layer {number}"
            );
        }
        Ok((positions, block))
    }

    fn claim_ended(&mut self, Place { claim, used, .. }: Place<'_>) -> Result<(), Failure> {
        let named = claim.positions;
        if used < named {
            refuse!(Fails, "claim {claim} needs {used} numbers, but the header names {named}");
        }
        Ok(())
    }
}

impl<G: Rules> Numbers<G> for Block {
    fn numbers(self, _: &G, _: &[G::Position]) -> Result<Vec<u8>, Failure> {
        self.unpack()
    }
}
