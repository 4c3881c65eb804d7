//! The check of a file: its numbers are the moves of the pass, and it must hold neither fewer nor more.

use std::io::Read;

use crate::blocks::{Block, Blocks};
use crate::games::with_rules;
use crate::header::Header;
use crate::layer::Merge;
use crate::pass::{Board, Numbers, Pass, Place, Rules, Source};
use crate::{Claim, Failure, Progress, Proved, Settings};

/// Checks a certificate to its end: every claim holds, or it fails.
///
/// The same file gives the same result, and the same sentence, whatever the settings are, if the machine has what
/// they take.
pub fn check(
    input: impl Read,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Proved, Failure> {
    check_for(input, settings, progress, None)
}

/// Who wants the moves of a certificate while it is checked. Nothing is proved before its end.
pub trait Reader {
    /// The header was read.
    fn begins(&mut self, _header: &Header) -> Result<(), Failure> {
        Ok(())
    }

    /// The layers of a claim follow.
    fn claim_begins(&mut self, _claim: &Claim) -> Result<(), Failure> {
        Ok(())
    }

    /// The numbers of the claimant's moves in these positions, which are the next of a layer.
    fn moves(&mut self, claim: &Claim, boards: &[Board<'_>], numbers: &[u8])
    -> Result<(), Failure>;

    /// The layer has no more positions.
    fn layer_ended(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// All of it is proved.
    fn ends(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// The same for a reader.
pub fn check_for(
    input: impl Read,
    settings: &Settings,
    progress: &mut dyn Progress,
    mut reader: Option<&mut dyn Reader>,
) -> Result<Proved, Failure> {
    let (header, mut blocks) = Blocks::open(input, progress)?;
    if let Some(reader) = &mut reader {
        reader.begins(&header)?;
    }
    let checked = claims(&header, &mut blocks, settings, &mut reader);
    if let Err(Failure::Fails(why)) = checked {
        // It may fail because the header is damaged, and the end of the file has its checksum: that has the last word.
        blocks.finish()?;
        refuse!(Fails, "{why}");
    }
    let positions = checked?;
    let sha256 = blocks.finish()?;
    if let Some(reader) = reader {
        reader.ends()?;
    }
    Ok(Proved { header, positions, sha256 })
}

/// Checks all claims, and gives the number of their positions.
fn claims(
    header: &Header,
    blocks: &mut Blocks<impl Read>,
    settings: &Settings,
    reader: &mut Option<&mut dyn Reader>,
) -> Result<u64, Failure> {
    let mut positions = 0;
    with_rules!(header, settings, rules => {
        for claim in &header.claims {
            let pass = Pass::new(rules, claim, settings);
            positions += match reader {
                None => pass.run(blocks),
                Some(reader) => pass.run(&mut ReadAlong { blocks, rules, reader: *reader }),
            }?;
        }
    });
    if let Some(block) = blocks.next()? {
        block.unpack()?;
        refuse!(Fails, "the file has more numbers than its claims need");
    }
    Ok(positions)
}

/// The numbers of some positions.
pub(crate) enum Given {
    /// All of a block.
    Packed(Block),
    /// Some of a block.
    Unpacked(Vec<u8>),
}

impl Given {
    fn unpack(self) -> Result<Vec<u8>, Failure> {
        match self {
            Given::Packed(block) => block.unpack(),
            Given::Unpacked(numbers) => Ok(numbers),
        }
    }
}

impl<R: Read> Blocks<'_, R> {
    /// The next block, which is to be the claim's.
    fn block(&mut self, claim: &Claim, used: u64) -> Result<Block, Failure> {
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
        Ok(block)
    }
}

impl<G: Rules, R: Read> Source<G> for Blocks<'_, R> {
    type Numbers = Given;

    /// The next block with its positions, or a part of it if all of these would take too much memory.
    fn piece(
        &mut self,
        Place { claim, layer: number, first, used }: Place<'_>,
        layer: &mut Merge<G::Position>,
    ) -> Result<(Vec<G::Position>, Given), Failure> {
        let positions = if self.rest.len() > 0 {
            layer.take(self.rest.len() / self.entry)?
        } else {
            let block = self.block(claim, used)?;
            let positions = layer.take(block.count)?;
            if positions.len() == block.count {
                return Ok((positions, Given::Packed(block)));
            }
            self.rest = block.unpack()?.into_iter();
            positions
        };
        let numbers = self.rest.by_ref().take(positions.len() * self.entry).collect();
        if layer.is_empty() && self.rest.len() > 0 {
            let count = first + positions.len() as u64;
            // The moves of those that there are come first, in however many parts the block is taken.
            self.beyond = Some(format!(
                "claim {claim} has a block that goes beyond the {count} positions of layer {number}"
            ));
        }
        Ok((positions, Given::Unpacked(numbers)))
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        self.beyond.take().map_or(Ok(()), |why| Err(Failure::Fails(why)))
    }

    fn claim_ended(&mut self, Place { claim, used, .. }: Place<'_>) -> Result<(), Failure> {
        let named = claim.positions;
        if used < named {
            refuse!(Fails, "claim {claim} needs {used} numbers, but the header names {named}");
        }
        Ok(())
    }
}

impl<G: Rules> Numbers<G> for Given {
    fn numbers(self, _: &G, _: &[G::Position]) -> Result<Vec<u8>, Failure> {
        self.unpack()
    }
}

/// Blocks that somebody reads along.
struct ReadAlong<'r, 'b, 'p, G, R> {
    blocks: &'b mut Blocks<'p, R>,
    rules: &'r G,
    reader: &'r mut dyn Reader,
}

impl<G: Rules, R: Read> Source<G> for ReadAlong<'_, '_, '_, G, R> {
    type Numbers = Vec<u8>;

    fn claim_begins(&mut self, claim: &Claim) -> Result<(), Failure> {
        self.reader.claim_begins(claim)
    }

    fn piece(
        &mut self,
        place: Place<'_>,
        layer: &mut Merge<G::Position>,
    ) -> Result<(Vec<G::Position>, Vec<u8>), Failure> {
        let (positions, numbers) = Source::<G>::piece(self.blocks, place, layer)?;
        let numbers = numbers.unpack()?;
        let boards: Vec<_> = positions.iter().map(|position| self.rules.board(position)).collect();
        self.reader.moves(place.claim, &boards, &numbers)?;
        drop(boards);
        Ok((positions, numbers))
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        Source::<G>::layer_ended(self.blocks)?;
        self.reader.layer_ended()
    }

    fn claim_ended(&mut self, place: Place<'_>) -> Result<(), Failure> {
        Source::<G>::claim_ended(self.blocks, place)
    }
}
