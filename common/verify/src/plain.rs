//! The plain form of a certificate: the same numbers as text, a line for each layer.

use std::io::{Read, Write};

use crate::Failure;
use crate::blocks::Blocks;
use crate::header::{Game, Header};
use crate::layer::Merge;
use crate::pass::{Place, Rules, Source};

/// How the numbers of a layer are written, from 0 on.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Writes down what is read, while it is checked.
pub(crate) struct Transcript<'t, 'p, R> {
    pub(crate) blocks: &'t mut Blocks<'p, R>,
    pub(crate) output: &'t mut dyn Write,
    /// The numbers of the present layer.
    pub(crate) layer: Vec<u8>,
}

/// Begins the plain form of a certificate with this header.
pub(crate) fn begin(header: &Header, output: &mut dyn Write) -> Result<(), Failure> {
    match header.game {
        _ if header.compact => refuse!(Unreadable, "there is no plain form of the compact kind"),
        Game::Connect4 { columns: 0..=36, rows: 0..=36 } => {}
        _ => refuse!(
            Unreadable,
            "there is no plain form for {}; there is one for Connect Four of at most 36 columns and rows",
            header.spec
        ),
    }
    let Header { spec, moves, .. } = header;
    let begin =
        format!("jlpns certificate, version 1, plain\ngame: {spec}\nrules: 1\nmoves: {moves}\n");
    write(output, &begin)
}

/// Ends it.
pub(crate) fn end(output: &mut dyn Write) -> Result<(), Failure> {
    write(output, "end\n")?;
    output.flush().map_err(|error| unwritable(&error))
}

impl<G: Rules, R: Read> Source<G> for Transcript<'_, '_, R> {
    type Numbers = Vec<u8>;

    fn claim_begins(&mut self, claim: &crate::Claim) -> Result<(), Failure> {
        write(self.output, &format!("claim: {claim}, positions: {}\n", claim.positions))
    }

    fn piece(
        &mut self,
        place: Place<'_>,
        layer: &mut Merge<G::Position>,
    ) -> Result<(Vec<G::Position>, Vec<u8>), Failure> {
        let (positions, block) = Source::<G>::piece(self.blocks, place, layer)?;
        let numbers = block.unpack()?;
        for &number in &numbers {
            let Some(&digit) = DIGITS.get(usize::from(number)) else {
                refuse!(Fails, "the number {number} is no legal move's");
            };
            self.layer.push(digit);
        }
        Ok((positions, numbers))
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        let digits = String::from_utf8_lossy(&self.layer);
        write(self.output, &format!("layer {}: {digits}\n", digits.len()))?;
        self.layer.clear();
        Ok(())
    }

    fn claim_ended(&mut self, place: Place<'_>) -> Result<(), Failure> {
        Source::<G>::claim_ended(self.blocks, place)
    }
}

fn write(output: &mut dyn Write, text: &str) -> Result<(), Failure> {
    output.write_all(text.as_bytes()).map_err(|error| unwritable(&error))
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::Trouble(format!("the plain form cannot be written: {error}"))
}
