//! The frame around each record in a segment: enough to find it again, and to trust it, in a file
//! that no database can read any more.
//!
//! ```text
//! magic 8 | since 8 | number 8 | length 4 | checksum 4 | bytes
//! ```
//!
//! Integers are little-endian; the checksum is the CRC-32 of since, number, length and bytes.

use memchr::memmem;

/// Begins each frame; its last byte but one is the version of the frame.
const MAGIC: [u8; 8] = *b"jlpnsR\x01\n";
/// Bytes before those of the record.
const PREFIX: usize = 32;
/// The most bytes that a record may have.
pub(super) const MAX_LENGTH: usize = 1 << 30;
/// The number of the frame that holds the journal's header instead of a record.
pub(super) const HEADER: u64 = 0;

/// A frame that was found whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// The first number that was free when the segment was begun: what earlier segments hold
    /// from there on was never committed.
    pub since: u64,
    /// The number of the record, or [`HEADER`].
    pub number: u64,
    /// The bytes of the record.
    pub bytes: &'a [u8],
}

/// The frame of a record of at most [`MAX_LENGTH`] bytes.
pub(super) fn encode(since: u64, number: u64, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("records are at most 1 GiB");
    let mut frame = Vec::with_capacity(PREFIX + bytes.len());
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&since.to_le_bytes());
    frame.extend_from_slice(&number.to_le_bytes());
    frame.extend_from_slice(&length.to_le_bytes());
    let checksum = checksum(&frame[8..], bytes);
    frame.extend_from_slice(&checksum.to_le_bytes());
    frame.extend_from_slice(bytes);
    frame
}

/// The frame that begins here, if it is whole.
fn decode(from: &[u8]) -> Option<Frame<'_>> {
    let (prefix, rest) = from.split_at_checked(PREFIX)?;
    let eight = |at: usize| u64::from_le_bytes(prefix[at..at + 8].try_into().expect("eight bytes"));
    let four = |at: usize| u32::from_le_bytes(prefix[at..at + 4].try_into().expect("four bytes"));
    let bytes = rest.get(..four(24) as usize)?;
    let whole = prefix.starts_with(&MAGIC) && four(28) == checksum(&prefix[8..28], bytes);
    let whole = whole && eight(8) > 0 && eight(16) < u64::MAX;
    whole.then(|| Frame { since: eight(8), number: eight(16), bytes })
}

/// The frame that these bytes are, if they are one and nothing more.
pub(super) fn decode_exactly(from: &[u8]) -> Option<Frame<'_>> {
    decode(from).filter(|frame| PREFIX + frame.bytes.len() == from.len())
}

/// Every whole frame in these bytes, in the order of their places. A frame inside the bytes of
/// another is not told.
pub(super) fn scan(bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    let finder = memmem::Finder::new(&MAGIC);
    let mut place = 0;
    std::iter::from_fn(move || {
        loop {
            place += finder.find(bytes.get(place..)?)?;
            match decode(&bytes[place..]) {
                Some(frame) => {
                    place += PREFIX + frame.bytes.len();
                    return Some(frame);
                }
                None => place += 1,
            }
        }
    })
}

fn checksum(fields: &[u8], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(fields);
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn frames_are_found_between_garbage(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
            garbage in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = garbage.clone();
            for (number, record) in (1..).zip(&records) {
                bytes.extend(encode(7, number, record));
                // A magic with nothing behind it.
                bytes.extend(MAGIC);
                bytes.extend(&garbage);
            }
            let found: Vec<Frame<'_>> = scan(&bytes).collect();
            let expected: Vec<Frame<'_>> = (1..)
                .zip(&records)
                .map(|(number, bytes)| Frame { since: 7, number, bytes })
                .collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_changed_or_cut_frame_is_none(
            record in prop::collection::vec(any::<u8>(), 0..40),
            place in any::<prop::sample::Index>(),
            bit in 0..8_u8,
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = encode(3, 5, &record);
            prop_assert!(decode_exactly(&whole).is_some());
            let mut changed = whole.clone();
            changed[place.index(whole.len())] ^= 1_u8 << bit;
            prop_assert_eq!(decode(&changed), None);
            prop_assert_eq!(decode(&whole[..cut.index(whole.len())]), None);
        }
    }
}
