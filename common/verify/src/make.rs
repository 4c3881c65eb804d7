//! Makes certificates: the same pass over the layers, in which the moves come from somebody who knows them, and are
//! written down. A move that does not hold what is claimed fails here as it fails when the file is checked.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

use crate::blocks::{LARGEST, hexadecimal};
use crate::games::with_rules;
use crate::header::{Claim, Header};
use crate::layer::Merge;
use crate::pass::{Board, Numbers, Pass, Place, Rules, Source};
use crate::{Failure, Progress, Proved, Settings};

/// How many positions somebody is asked for at a time.
const ASKED: usize = 512;

/// Somebody who knows the claimant's moves. What is said need not be believed: it is checked.
pub trait Strategy: Sync {
    /// For each of these positions, which are of one layer, the number of the claimant's move among the
    /// legal moves; or a sentence that says why there is none. In the compact kind each number has a plan after it, of
    /// one byte a cell, and 128 is added to it if the plan says how the game goes on; else the plan is zeros.
    fn numbers(&self, claim: &Claim, boards: &[Board<'_>]) -> Result<Vec<u8>, Failure>;
}

/// Makes the certificate of what a header claims, and writes it, from where `output` stands. The header's counts of
/// positions do not matter: the file has the right ones.
///
/// Whatever the strategy says, what comes out is a certificate that holds, or a failure.
pub fn make(
    header: &Header,
    strategy: &dyn Strategy,
    output: &mut (impl Read + Write + Seek),
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Proved, Failure> {
    let mut header = header.clone();
    let begin = output.stream_position().map_err(unwritable)?;
    // The counts are known at the end, and take as much room as zeros.
    write(output, header.text().as_bytes())?;
    let mut counts = Vec::new();
    with_rules!(header, settings, rules => {
        for claim in &header.claims {
            let entry = rules.entry_bytes();
            let mut writer = Writer::new(strategy, claim, output, progress, entry);
            counts.push(Pass::new(rules, claim, settings).run(&mut writer)?);
        }
    });
    for (claim, count) in header.claims.iter_mut().zip(counts) {
        claim.positions = count;
    }
    let text = header.text();
    block(output, 0, crc32fast::hash(text.as_bytes()), &[])?;
    output.seek(SeekFrom::Start(begin)).map_err(unwritable)?;
    write(output, text.as_bytes())?;
    output.flush().map_err(unwritable)?;
    output.seek(SeekFrom::Start(begin)).map_err(unwritable)?;
    let sha256 = digest(output).map_err(unwritable)?;
    let positions = header.claims.iter().map(|claim| claim.positions).sum();
    Ok(Proved { positions, sha256, header })
}

/// Writes the numbers of a claim, in their order, whichever of them is found first.
struct Writer<'a, W> {
    strategy: &'a dyn Strategy,
    claim: &'a Claim,
    output: &'a mut W,
    progress: &'a mut dyn Progress,
    /// How many bytes each position has.
    entry: usize,
    /// Where threads tell the numbers from some position of the layer on.
    tell: Sender<(u64, Vec<u8>)>,
    told: Receiver<(u64, Vec<u8>)>,
    /// Those before which some are missing.
    ahead: BTreeMap<u64, Vec<u8>>,
    /// How many of the layer are in order.
    in_order: u64,
    /// Those of them that are still to be written.
    open: Vec<u8>,
}

/// Positions of which the strategy is to be asked.
struct Question<'a> {
    strategy: &'a dyn Strategy,
    claim: &'a Claim,
    first: u64,
    tell: Sender<(u64, Vec<u8>)>,
}

impl<G: Rules> Numbers<G> for Question<'_> {
    fn numbers(self, rules: &G, positions: &[G::Position]) -> Result<Vec<u8>, Failure> {
        let boards: Vec<_> = positions.iter().map(|position| rules.board(position)).collect();
        let numbers = self.strategy.numbers(self.claim, &boards)?;
        let (some, many) = (numbers.len(), positions.len() * rules.entry_bytes());
        if some != many {
            refuse!(Fails, "the strategy has {some} bytes for positions that take {many}");
        }
        // The writer is there until all threads have ended.
        let _ = self.tell.send((self.first, numbers.clone()));
        Ok(numbers)
    }
}

impl<'a, W: Write> Writer<'a, W> {
    fn new(
        strategy: &'a dyn Strategy,
        claim: &'a Claim,
        output: &'a mut W,
        progress: &'a mut dyn Progress,
        entry: usize,
    ) -> Writer<'a, W> {
        let (tell, told) = channel();
        let (ahead, open) = (BTreeMap::new(), Vec::new());
        Writer { strategy, claim, output, progress, entry, tell, told, ahead, in_order: 0, open }
    }

    /// Takes in what was told, and writes all whole blocks.
    fn take_in(&mut self) -> Result<(), Failure> {
        self.ahead.extend(self.told.try_iter());
        while let Some(numbers) = self.ahead.remove(&self.in_order) {
            self.in_order += (numbers.len() / self.entry) as u64;
            self.open.extend(numbers);
        }
        while self.open.len() >= LARGEST * self.entry {
            let rest = self.open.split_off(LARGEST * self.entry);
            self.write_open(rest)?;
        }
        Ok(())
    }

    /// Writes a block of what is open; `rest` is open afterwards.
    fn write_open(&mut self, rest: Vec<u8>) -> Result<(), Failure> {
        let numbers = mem::replace(&mut self.open, rest);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        let packed = zlib.write_all(&numbers).and_then(|()| zlib.finish()).map_err(unwritable)?;
        block(self.output, numbers.len() / self.entry, crc32fast::hash(&numbers), &packed)
    }
}

impl<'a, G: Rules, W: Write> Source<G> for Writer<'a, W> {
    type Numbers = Question<'a>;

    fn piece(
        &mut self,
        place: Place<'_>,
        layer: &mut Merge<G::Position>,
    ) -> Result<(Vec<G::Position>, Question<'a>), Failure> {
        self.take_in()?;
        let Writer { strategy, claim, .. } = *self;
        let question = Question { strategy, claim, first: place.first, tell: self.tell.clone() };
        let positions = layer.take(ASKED)?;
        self.progress.advanced(positions.len());
        Ok((positions, question))
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        self.take_in()?;
        debug_assert!(self.ahead.is_empty());
        self.in_order = 0;
        if self.open.is_empty() { Ok(()) } else { self.write_open(Vec::new()) }
    }
}

fn block(output: &mut impl Write, count: usize, crc: u32, zlib: &[u8]) -> Result<(), Failure> {
    for word in [count as u32, zlib.len() as u32, crc] {
        write(output, &word.to_le_bytes())?;
    }
    write(output, zlib)
}

fn write(output: &mut impl Write, bytes: &[u8]) -> Result<(), Failure> {
    output.write_all(bytes).map_err(unwritable)
}

fn unwritable(error: io::Error) -> Failure {
    Failure::Trouble(format!("the certificate cannot be written: {error}"))
}

/// The SHA-256 of all that is still to be read.
fn digest(input: &mut impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(hexadecimal(hash)),
            count => hash.update(&buffer[..count]),
        }
    }
}
