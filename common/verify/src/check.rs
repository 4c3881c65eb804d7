//! The check of a file: its entries are the moves of the pass, and it must hold neither fewer nor more.

use std::io::Read;
use std::vec::IntoIter;

use crate::blocks::Certificate;
use crate::pass::{Boards, Moves, Place, pass};
use crate::{Claim, Failure, Proved, Settings};

/// Checks a certificate to its end: every claim holds, or it fails.
///
/// The same file gives the same result, and the same sentence, whatever the settings are, if the machine has what
/// they take.
pub fn check(
    input: impl Read,
    settings: &Settings,
    reader: &mut dyn Reader,
) -> Result<Proved, Failure> {
    Certificate::open(input)?.check(settings, reader)
}

/// Who reads a certificate along while it is checked. Nothing is proved before its end.
pub trait Reader {
    /// The layers of a claim follow.
    fn claim_begins(&mut self, _claim: &Claim) -> Result<(), Failure> {
        Ok(())
    }

    /// These are the entries of the next positions of a layer, one after the other.
    fn moves(
        &mut self,
        _claim: &Claim,
        _boards: Boards<'_>,
        _entries: &[u8],
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// The layer has no more positions, and all its moves have been played.
    fn layer_ended(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Nobody reads along.
impl Reader for () {}

impl<R: Read> Certificate<R> {
    /// Checks it to its end.
    pub fn check(
        mut self,
        settings: &Settings,
        reader: &mut dyn Reader,
    ) -> Result<Proved, Failure> {
        match self.positions(settings, reader) {
            // It may fail because the header is damaged, and the end of the file has its checksum: that has the last word.
            Err(Failure::Fails(why)) => self.finish().and(Err(Failure::Fails(why))),
            Err(failure) => Err(failure),
            Ok(positions) => {
                Ok(Proved { positions, header: self.header.clone(), sha256: self.finish()? })
            }
        }
    }

    /// Checks all claims, and gives the number of their positions.
    fn positions(&mut self, settings: &Settings, reader: &mut dyn Reader) -> Result<u64, Failure> {
        let header = self.header.clone();
        let pass = pass(&header, settings)?;
        let mut moves = Entries { file: self, rest: Vec::new().into_iter(), reader };
        let mut positions = 0;
        for claim in &header.claims {
            moves.reader.claim_begins(claim)?;
            let (used, named) = (pass.run(claim, &mut moves)?, claim.positions);
            if used < named {
                refuse!(Fails, "claim {claim} needs {used} numbers, but the header names {named}");
            }
            positions += used;
        }
        if let Some(block) = self.next_block()? {
            block.unpack()?;
            refuse!(Fails, "the file has more numbers than its claims need");
        }
        Ok(positions)
    }
}

/// The entries of a file.
struct Entries<'a, R> {
    file: &'a mut Certificate<R>,
    /// What is left of the last block that was read.
    rest: IntoIter<u8>,
    reader: &'a mut dyn Reader,
}

impl<R: Read> Moves for Entries<'_, R> {
    fn at_hand(&mut self, Place { claim, used, .. }: Place<'_>) -> Result<usize, Failure> {
        if self.rest.len() == 0 {
            let Some(block) = self.file.next_block()? else {
                refuse!(
                    Fails,
                    "claim {claim} needs more than the {used} numbers that the file has for it"
                );
            };
            // A block that does not fit may be a damaged one, so that is looked at first.
            self.rest = block.unpack()?.into_iter();
            let named = claim.positions;
            if block.entries as u64 > named - used {
                refuse!(
                    Fails,
                    "claim {claim} needs more than the {named} numbers that the header names"
                );
            }
        }
        Ok(self.rest.len() / self.file.header.entry_bytes())
    }

    fn entries(&mut self, place: Place<'_>, boards: Boards<'_>) -> Result<Vec<u8>, Failure> {
        let bytes = boards.len() * self.file.header.entry_bytes();
        let entries: Vec<u8> = self.rest.by_ref().take(bytes).collect();
        self.reader.moves(place.claim, boards, &entries)?;
        Ok(entries)
    }

    fn layer_ended(&mut self, place: Place<'_>) -> Result<(), Failure> {
        let Place { claim, layer, position, .. } = place;
        if self.rest.len() > 0 {
            refuse!(
                Fails,
                "claim {claim} has a block that goes beyond the {position} positions of layer {layer}"
            );
        }
        self.reader.layer_ended()
    }
}
