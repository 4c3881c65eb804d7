//! The plain form of a certificate: the same numbers as text, a line for each layer.

use std::io::{self, Write};
use std::mem;

use crate::Failure;
use crate::check::Reader;
use crate::header::{Claim, Game, Header};
use crate::pass::Boards;

/// Writes a certificate down in its plain form while it is checked; what is written is whole only if it is
/// proved. There is such a form for Connect Four.
pub struct Transcript<'o> {
    output: &'o mut dyn Write,
    /// The numbers of the present layer.
    layer: String,
}

impl<'o> Transcript<'o> {
    /// Writes what comes before the first claim to `output`.
    pub fn begin(header: &Header, output: &'o mut dyn Write) -> Result<Transcript<'o>, Failure> {
        let Header { spec, moves, .. } = header;
        match header.game {
            _ if header.compact => {
                refuse!(Unreadable, "there is no plain form of the compact kind")
            }
            Game::Connect4 { columns: 0..=36, rows: 0..=36 } => {}
            _ => refuse!(
                Unreadable,
                "there is no plain form for {spec}; there is one for Connect Four of at most 36 columns and rows"
            ),
        }
        let mut transcript = Transcript { output, layer: String::new() };
        transcript.write(&format!(
            "jlpns certificate, version 1, plain\ngame: {spec}\nrules: 1\nmoves: {moves}\n"
        ))?;
        Ok(transcript)
    }

    /// Writes the end, when all is proved.
    pub fn end(mut self) -> Result<(), Failure> {
        self.write("end\n")?;
        self.output.flush().map_err(unwritable)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.output.write_all(text.as_bytes()).map_err(unwritable)
    }
}

impl Reader for Transcript<'_> {
    fn claim_begins(&mut self, claim: &Claim) -> Result<(), Failure> {
        self.write(&format!("claim: {claim}, positions: {}\n", claim.positions))
    }

    fn moves(&mut self, _: &Claim, _: Boards<'_>, numbers: &[u8]) -> Result<(), Failure> {
        for &number in numbers {
            // A number that is no digit is no legal move's: with it nothing is proved.
            self.layer.push(char::from_digit(number.into(), 36).unwrap_or('?'));
        }
        Ok(())
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        let digits = mem::take(&mut self.layer);
        self.write(&format!("layer {}: {digits}\n", digits.len()))
    }
}

fn unwritable(error: io::Error) -> Failure {
    Failure::Trouble(format!("the plain form cannot be written: {error}"))
}
