//! Any bytes as a file: the checker has an opinion of them, and what it accepts is true.
//!
//! Changed files rarely get past their checksums, so the mutator puts these right in every other one. It begins
//! with certificates that brute force makes.
#![no_main]

mod judge;
#[path = "../../tests/checker/naive/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests need more of it")]
mod naive;

use std::sync::LazyLock;

use flate2::{Decompress, FlushDecompress};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use naive::{Certificate, Connect4, Naive, Woodpush, true_certificate, writer};

/// Headers are to have these in the place of what they had.
const FIELDS: [(&str, &[&str]); 3] = [
    (
        "game: ",
        &[
            "connect4:4x4",
            "connect4:1x1",
            "connect4:1x127",
            "connect4:64x1",
            "connect4:9x13",
            "connect4:7x6",
            "woodpush:6",
            "woodpush:32",
            "woodpush:L.R.....",
            "woodpush:LLRLRLRR",
            "woodpush:LLLLLLLLLLLLLLLLRRRRRRRRRRRRRRRR",
            "woodpush:L..L..L..L..L..L..R..R..R..R..R",
        ],
    ),
    ("moves: ", &["", "1", "1234", "1=", "s0", "s0s5", "s0s5s1p31"]),
    (
        "claim: ",
        &[
            ">=win, positions: 00000000000000000000",
            "<=loss, positions: 00000000000000000001",
            ">=draw, positions: 18446744073709551615",
            "<=draw, positions: 00000000000000000009",
            ">=1, positions: 00000000000000000000",
            "<=-1, positions: 00000000000000000007",
        ],
    ),
];

fuzz_target!(|file: &[u8]| {
    let _ = judge::accepted_only_if_true(file);
});

fuzz_mutator!(|file: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut pick = {
        let mut left = seed as usize;
        move |choices: usize| {
            let picked = left % choices;
            left /= choices;
            picked
        }
    };
    if !file[..size].starts_with(b"jlpns certificate") && pick(4) != 0 {
        return replaced(file, max_size, &CERTIFICATES[pick(CERTIFICATES.len())]);
    }
    if pick(8) == 0 {
        let (field, values) = FIELDS[pick(FIELDS.len())];
        let with = with_field(&file[..size], field, values[pick(values.len())]);
        return replaced(file, max_size, &mended(&with).unwrap_or(with));
    }
    let size = fuzzer_mutate(file, size, max_size);
    match mended(&file[..size]).filter(|_| pick(2) == 0) {
        Some(mended) => replaced(file, max_size, &mended),
        None => size,
    }
});

/// True certificates.
static CERTIFICATES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    fn of<G: Naive>(game: G, moves: &[&str], block: usize) -> Vec<u8> {
        let game = moves.iter().fold(game, |game, name| game.play(name));
        Certificate { block, ..true_certificate(&game) }.bytes()
    }
    vec![
        of(Connect4::new(4, 4), &["1", "2", "2", "1", "3", "3"], 65_536),
        of(Connect4::new(4, 4), &["1", "2", "2", "1", "3"], 3),
        of(Connect4::new(1, 1), &[], 65_536),
        of(Connect4::new(3, 4), &["2", "2", "3"], 65_536),
        of(Woodpush::new("6"), &[], 65_536),
        of(Woodpush::new("L.LR.R"), &["s0", "s5"], 3),
    ]
});

/// The file if there is room for it, else its beginning. Gives its size.
fn replaced(file: &mut [u8], max_size: usize, by: &[u8]) -> usize {
    let size = by.len().min(max_size);
    file[..size].copy_from_slice(&by[..size]);
    size
}

fn header_end(file: &[u8]) -> Option<usize> {
    Some(file.windows(2).position(|two| two == b"\n\n")? + 2)
}

fn with_field(file: &[u8], field: &str, value: &str) -> Vec<u8> {
    let (header, rest) = file.split_at(header_end(file).unwrap_or(0));
    let header = String::from_utf8_lossy(header);
    let line = |line: &str| match line.starts_with(field) {
        true => format!("{field}{value}\n"),
        false => line.to_owned(),
    };
    let mut changed: Vec<u8> =
        header.split_inclusive('\n').flat_map(|l| line(l).into_bytes()).collect();
    changed.extend(rest);
    changed
}

/// The file with the checksums that its header and its numbers should have.
fn mended(file: &[u8]) -> Option<Vec<u8>> {
    let (header, mut blocks) = file.split_at(header_end(file)?);
    let mut mended = header.to_vec();
    while let Some((words, rest)) = blocks.split_at_checked(12) {
        let size = u32::from_le_bytes(words[4..8].try_into().ok()?) as usize;
        let zlib = &rest[..size.min(rest.len())];
        if zlib.len() < 2 {
            break;
        }
        // Without the stream's own checksum.
        let mut numbers = vec![0; 4096];
        let mut stream = Decompress::new(false);
        let _ = stream.decompress(&zlib[2..], &mut numbers, FlushDecompress::Finish);
        numbers.truncate(stream.total_out() as usize);
        mended.extend(writer::block(&numbers));
        blocks = &rest[zlib.len()..];
    }
    mended.extend([0; 8]);
    mended.extend(crc32fast::hash(header).to_le_bytes());
    Some(mended)
}
