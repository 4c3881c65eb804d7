//! Makes certificates: the checker's pass over the layers, in which the moves come from somebody who knows them, and are
//! written down. A move that does not hold what is claimed fails here as it fails when the file is checked.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use jlpns_verify::{
    Board, Boards, Claim, Failure, Header, MOST_IN_A_BLOCK, Moves, Place, Proved, Settings, pass,
};
use sha2::{Digest, Sha256};

/// How many positions somebody is asked for at a time.
const ASKED: usize = 512;

/// Somebody who knows the claimant's moves. What is said need not be believed: it is checked.
pub trait Strategy: Sync {
    /// For each of these positions, which are of one layer, the number of the claimant's move among the
    /// legal moves; or a sentence that says why there is none. In the compact kind each number has a plan after it, of
    /// one byte a cell, and 128 is added to it if the plan says how the game goes on; else the plan is zeros.
    fn numbers(&self, claim: &Claim, boards: &[Board<'_>]) -> Result<Vec<u8>, Failure>;
}

/// Who wants to know how far the making of a certificate is.
pub trait Progress {
    /// The moves of so many more positions are found.
    fn advanced(&mut self, _positions: usize) {}
    /// Somebody has looked into so many more positions for a small strategy, before there are moves to write.
    fn looked_into(&mut self, _positions: usize) {}
}

/// Nobody wants to know.
impl Progress for () {}

/// What a certificate is to show.
pub struct Statement<'a> {
    /// The game.
    pub spec: &'a str,
    /// The moves to the position in question, as they are written.
    pub moves: &'a str,
    /// The claims, such as `>=win`.
    pub claims: &'a [String],
    /// Whether it is to be of the compact kind.
    pub compact: bool,
}

impl Statement<'_> {
    /// The header, with the number of positions that each claim has.
    fn header(&self, counts: &[u64]) -> String {
        let Statement { spec, moves, claims, compact } = self;
        let kind = if *compact { "compact" } else { "full" };
        let claims = claims.iter().zip(counts);
        let claims: String = claims
            .map(|(claim, count)| format!("claim: {claim}, positions: {count:020}\n"))
            .collect();
        format!(
            "jlpns certificate, version 1\ngame: {spec}\nrules: 1\nmoves: {moves}\nkind: {kind}\n{claims}\n"
        )
    }
}

/// Makes the certificate of a statement, and writes it, from where `output` stands.
///
/// Whatever the strategy says, what comes out is a certificate that holds, or a failure.
pub fn make(
    statement: &Statement<'_>,
    strategy: &dyn Strategy,
    output: &mut (impl Read + Write + Seek),
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Proved, Failure> {
    let begin = output.stream_position().map_err(unwritable)?;
    // The counts are known at the end, and take as much room as zeros.
    let mut counts = vec![0; statement.claims.len()];
    let text = statement.header(&counts);
    let header = Header::read(&mut text.as_bytes())?;
    write(output, text.as_bytes())?;
    let pass = pass(&header, settings)?;
    let (threads, entry_bytes) = (settings.threads.get(), header.entry_bytes());
    for (claim, count) in header.claims.iter().zip(&mut counts) {
        let open = Vec::new();
        let mut writer = Writer { strategy, output, progress, threads, entry_bytes, open };
        *count = pass.run(claim, &mut writer)?;
    }
    let text = statement.header(&counts);
    block(output, 0, crc32fast::hash(text.as_bytes()), &[])?;
    output.seek(SeekFrom::Start(begin)).map_err(unwritable)?;
    write(output, text.as_bytes())?;
    output.flush().map_err(unwritable)?;
    output.seek(SeekFrom::Start(begin)).map_err(unwritable)?;
    let sha256 = digest(output).map_err(unwritable)?;
    let header = Header::read(&mut text.as_bytes())?;
    Ok(Proved { positions: counts.iter().sum(), sha256, header })
}

/// Asks for the moves of a claim, and writes them.
struct Writer<'a, W> {
    strategy: &'a dyn Strategy,
    output: &'a mut W,
    progress: &'a mut dyn Progress,
    threads: usize,
    entry_bytes: usize,
    /// The entries of the layer that are still to be written.
    open: Vec<u8>,
}

impl<W: Write> Moves for Writer<'_, W> {
    fn at_hand(&mut self, _: Place<'_>) -> Result<usize, Failure> {
        Ok(MOST_IN_A_BLOCK)
    }

    fn entries(&mut self, place: Place<'_>, boards: Boards<'_>) -> Result<Vec<u8>, Failure> {
        let entries = self.asked(place.claim, &boards.collect::<Vec<_>>())?;
        self.open.extend(&entries);
        while self.open.len() >= MOST_IN_A_BLOCK * self.entry_bytes {
            let rest = self.open.split_off(MOST_IN_A_BLOCK * self.entry_bytes);
            self.write_open(rest)?;
        }
        Ok(entries)
    }

    fn layer_ended(&mut self, _: Place<'_>) -> Result<(), Failure> {
        if self.open.is_empty() { Ok(()) } else { self.write_open(Vec::new()) }
    }
}

impl<W: Write> Writer<'_, W> {
    /// The entries of these positions, for which all threads ask. Of several failures the first position's is told.
    fn asked(&mut self, claim: &Claim, boards: &[Board<'_>]) -> Result<Vec<u8>, Failure> {
        let (strategy, entry_bytes) = (self.strategy, self.entry_bytes);
        let parts = Mutex::new(boards.chunks(ASKED).enumerate());
        let (answers, answered) = (Mutex::new(BTreeMap::new()), AtomicUsize::new(0));
        let ask = || {
            let Some((number, part)) = lock(&parts).next() else { return false };
            let answer = strategy.numbers(claim, part).and_then(|entries| {
                let (some, many) = (entries.len(), part.len() * entry_bytes);
                let fails =
                    || format!("the strategy has {some} bytes for positions that take {many}");
                if some == many { Ok(entries) } else { Err(Failure::Fails(fails())) }
            });
            if answer.is_err() {
                // Of later positions nobody need know.
                lock(&parts).by_ref().for_each(drop);
            }
            lock(&answers).insert(number, answer);
            answered.fetch_add(part.len(), Ordering::Relaxed);
            true
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(boards.len().div_ceil(ASKED)) {
                scope.spawn(|| while ask() {});
            }
            while ask() {
                self.progress.advanced(answered.swap(0, Ordering::Relaxed));
            }
        });
        self.progress.advanced(answered.into_inner());
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let entries: Result<Vec<_>, _> = answers.into_values().collect();
        Ok(entries?.concat())
    }

    /// Writes a block of what is open; `rest` is open afterwards.
    fn write_open(&mut self, rest: Vec<u8>) -> Result<(), Failure> {
        let entries = mem::replace(&mut self.open, rest);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        let packed = zlib.write_all(&entries).and_then(|()| zlib.finish()).map_err(unwritable)?;
        block(self.output, entries.len() / self.entry_bytes, crc32fast::hash(&entries), &packed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The SHA-256 of all that is still to be read, in hexadecimal.
fn digest(input: &mut impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => hash.update(&buffer[..count]),
        }
    }
}
