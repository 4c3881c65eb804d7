//! A snapshot in its file.
//!
//! ```text
//! magic 8 | through 8 | settled 1 | header length 4 | length 8 | checksum 4 | header | bytes
//! ```
//!
//! Integers are little-endian; the checksum is the CRC-32 of all the rest but the magic and the flag
//! `settled`, which may be set later.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::JournalError;
use super::fault_injection::FaultInjector;
use super::{Snapshot, directory};

/// Begins each snapshot; its last byte but one is the version of the layout.
const MAGIC: [u8; 8] = *b"jlpnsS\x01\n";
const PREFIX: usize = 33;
/// Where the flag lies that tells a settled snapshot.
const SETTLED: usize = 16;

/// What was found in the file of a snapshot.
#[derive(Debug)]
pub(super) struct SnapshotContents {
    /// The bytes of the journal's header.
    pub header: Vec<u8>,
    /// The snapshot itself.
    pub snapshot: Snapshot,
}

/// Writes a snapshot that is there whole or not at all.
pub(super) fn write(
    path: &Path,
    (through, settled): (u64, bool),
    header: &[u8],
    bytes: &[u8],
    faults: &FaultInjector,
) -> Result<(), JournalError> {
    let mut prefix = Vec::with_capacity(PREFIX);
    prefix.extend_from_slice(&MAGIC);
    prefix.extend_from_slice(&through.to_le_bytes());
    prefix.push(u8::from(settled));
    let length = u32::try_from(header.len()).expect("a header is short");
    prefix.extend_from_slice(&length.to_le_bytes());
    prefix.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    let checksum = checksum(&[&prefix[8..SETTLED], &prefix[SETTLED + 1..], header, bytes]);
    prefix.extend_from_slice(&checksum.to_le_bytes());
    directory::write_new(path, &[&prefix, header, bytes], faults)
}

/// Marks a snapshot as settled. One byte is written: it is there or not.
pub(super) fn settle(path: &Path) -> Result<(), JournalError> {
    let file =
        fs::OpenOptions::new().write(true).open(path).map_err(JournalError::at("open", path))?;
    file.write_at(&[1], SETTLED as u64).map_err(JournalError::at("write", path))?;
    file.sync_data().map_err(JournalError::at("sync", path))
}

/// Reads a snapshot back; `None` if it is damaged.
pub(super) fn read(path: &Path) -> Result<Option<SnapshotContents>, JournalError> {
    let file = fs::read(path).map_err(JournalError::at("read", path))?;
    Ok(decode(&file))
}

fn decode(file: &[u8]) -> Option<SnapshotContents> {
    let (prefix, rest) = file.split_at_checked(PREFIX)?;
    let (fields, stored) = prefix.split_at(PREFIX - 4);
    let settled = match fields[SETTLED] {
        0 => false,
        1 => true,
        _ => return None,
    };
    let eight = |at: usize| u64::from_le_bytes(fields[at..at + 8].try_into().expect("eight bytes"));
    let header_length = u32::from_le_bytes(fields[17..21].try_into().expect("four bytes"));
    let (header, bytes) = rest.split_at_checked(header_length as usize)?;
    let whole = fields.starts_with(&MAGIC)
        && eight(8) < u64::MAX
        && eight(21) == bytes.len() as u64
        && *stored
            == checksum(&[&fields[8..SETTLED], &fields[SETTLED + 1..], header, bytes])
                .to_le_bytes();
    whole.then(|| SnapshotContents {
        header: header.to_vec(),
        snapshot: Snapshot { through: eight(8), settled, bytes: bytes.to_vec() },
    })
}

fn checksum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}
