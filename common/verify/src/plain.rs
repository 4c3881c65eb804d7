//! The plain form of a certificate: the same numbers as text, a line for each layer.

use std::io::{self, Write};

use crate::Failure;
use crate::check::Reader;
use crate::header::{Claim, Game, Header};
use crate::pass::Board;

/// How the numbers of a layer are written, from 0 on.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Writes a certificate down in its plain form while it is checked; what is written is whole only if it is
/// proved. There is such a form for Connect Four.
pub struct Transcript<'o> {
    output: &'o mut dyn Write,
    /// The numbers of the present layer.
    layer: Vec<u8>,
}

impl<'o> Transcript<'o> {
    /// Writes to `output`.
    pub fn new(output: &'o mut dyn Write) -> Transcript<'o> {
        Transcript { output, layer: Vec::new() }
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.output.write_all(text.as_bytes()).map_err(unwritable)
    }
}

impl Reader for Transcript<'_> {
    fn begins(&mut self, header: &Header) -> Result<(), Failure> {
        match header.game {
            _ if header.compact => {
                refuse!(Unreadable, "there is no plain form of the compact kind")
            }
            Game::Connect4 { columns: 0..=36, rows: 0..=36 } => {}
            _ => refuse!(
                Unreadable,
                "there is no plain form for {}; there is one for Connect Four of at most 36 columns and rows",
                header.spec
            ),
        }
        let Header { spec, moves, .. } = header;
        self.write(&format!(
            "jlpns certificate, version 1, plain\ngame: {spec}\nrules: 1\nmoves: {moves}\n"
        ))
    }

    fn claim_begins(&mut self, claim: &Claim) -> Result<(), Failure> {
        self.write(&format!("claim: {claim}, positions: {}\n", claim.positions))
    }

    fn moves(&mut self, _: &Claim, _: &[Board<'_>], numbers: &[u8]) -> Result<(), Failure> {
        for &number in numbers {
            let Some(&digit) = DIGITS.get(usize::from(number)) else {
                refuse!(Fails, "the number {number} is no legal move's");
            };
            self.layer.push(digit);
        }
        Ok(())
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        let layer = std::mem::take(&mut self.layer);
        let digits = String::from_utf8_lossy(&layer);
        self.write(&format!("layer {}: {digits}\n", digits.len()))
    }

    fn ends(&mut self) -> Result<(), Failure> {
        self.write("end\n")?;
        self.output.flush().map_err(unwritable)
    }
}

fn unwritable(error: io::Error) -> Failure {
    Failure::Trouble(format!("the plain form cannot be written: {error}"))
}
