//! Solved positions, packed: thousands of them go to each worker every second.

use jlpns_games::Threshold;
use jlpns_games::outcome::MAX_OUTCOMES;
use jlpns_search::SolvedPosition;
use prost::Message;
use prost::bytes::Bytes;

use super::{WireError, at_most, in_range};
use crate::{MAX_BATCH, MAX_SOLVED_PARTS, v1};

/// Packs positions; their order is that of their keys from now on, as that makes the steps between them short.
pub fn packed(solved: &[SolvedPosition]) -> v1::SolvedPositions {
    let mut solved = solved.to_vec();
    solved.sort_unstable_by_key(|solved| (solved.key, solved.threshold));
    let mut before = 0;
    let mut step = |low: u64| low.wrapping_sub(std::mem::replace(&mut before, low));
    let key_steps = solved.iter().map(|solved| step(solved.key as u64)).collect();
    let mut keys_high: Vec<u64> = solved.iter().map(|solved| (solved.key >> 64) as u64).collect();
    if keys_high.iter().all(|&high| high == 0) {
        keys_high.clear();
    }
    let fact =
        |solved: &SolvedPosition| 2 * u32::from(solved.threshold.0) + u32::from(solved.holds);
    let facts = solved.iter().map(fact).collect();
    let work = solved.iter().map(|solved| solved.work).collect();
    v1::SolvedPositions { key_steps, keys_high, facts, work }
}

/// Packs positions for many workers at once: as many parts as the contract asks for, each as it goes on the wire.
pub fn packed_parts(solved: &[SolvedPosition]) -> Vec<Bytes> {
    let part = |part| Bytes::from(packed(part).encode_to_vec());
    solved.chunks(MAX_BATCH).map(part).collect()
}

/// Unpacks positions, and checks them.
///
/// # Errors
///
/// What is wrong with the message.
pub fn unpacked(message: &v1::SolvedPositions) -> Result<Vec<SolvedPosition>, WireError> {
    let v1::SolvedPositions { key_steps, keys_high, facts, work } = message;
    at_most("solved.key_steps", key_steps, MAX_BATCH)?;
    let count = key_steps.len() as u64;
    let as_many = |field, len: usize| in_range(field, len as u64, count, count);
    as_many("the length of solved.facts", facts.len())?;
    as_many("the length of solved.work", work.len())?;
    if !keys_high.is_empty() {
        as_many("the length of solved.keys_high", keys_high.len())?;
    }
    let mut low = 0_u64;
    let position = |(index, (&step, (&fact, &work))): (usize, (&u64, (&u32, &u32)))| {
        low = low.wrapping_add(step);
        let high = keys_high.get(index).copied().unwrap_or(0);
        let most = 2 * MAX_OUTCOMES as u64 + 1;
        let fact = in_range("solved.facts", u64::from(fact), 0, most)?;
        Ok(SolvedPosition {
            key: u128::from(high) << 64 | u128::from(low),
            threshold: Threshold((fact / 2) as u8),
            holds: fact % 2 == 1,
            work,
        })
    };
    key_steps.iter().zip(facts.iter().zip(work)).enumerate().map(position).collect()
}

/// The same for parts as they come from the wire.
///
/// # Errors
///
/// What is wrong with them.
pub fn unpacked_parts(parts: &[Bytes]) -> Result<Vec<SolvedPosition>, WireError> {
    at_most("batch.solved", parts, MAX_SOLVED_PARTS)?;
    let mut all = Vec::new();
    for part in parts {
        let message = v1::SolvedPositions::decode(part.clone()).map_err(WireError::Encoding)?;
        all.append(&mut unpacked(&message)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn solved()(
            key in prop_oneof![any::<u64>().prop_map(u128::from), any::<u128>()],
            threshold in any::<u8>(),
            holds in any::<bool>(),
            work in any::<u32>(),
        ) -> SolvedPosition {
            SolvedPosition { key, threshold: Threshold(threshold), holds, work }
        }
    }

    proptest! {
        #[test]
        fn positions_come_back_in_the_order_of_their_keys(
            mut all in prop::collection::vec(solved(), 0..40)
        ) {
            let message = packed(&all);
            let parts = packed_parts(&all);
            all.sort_by_key(|solved| (solved.key, solved.threshold));
            let mut back = unpacked(&message).unwrap();
            back.sort_by_key(|solved| (solved.key, solved.threshold, solved.holds, solved.work));
            all.sort_by_key(|solved| (solved.key, solved.threshold, solved.holds, solved.work));
            prop_assert_eq!(&back, &all);
            prop_assert_eq!(unpacked_parts(&parts).unwrap().len(), all.len());
        }

        #[test]
        fn whatever_comes_is_refused_or_read(
            key_steps in prop::collection::vec(any::<u64>(), 0..4),
            keys_high in prop::collection::vec(any::<u64>(), 0..4),
            facts in prop::collection::vec(0..600_u32, 0..4),
            work in prop::collection::vec(any::<u32>(), 0..4),
            bytes in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let (count, high) = (key_steps.len(), keys_high.len());
            let is_sound = [facts.len(), work.len()] == [count; 2]
                && (high == 0 || high == count)
                && facts.iter().all(|&fact| fact <= 511);
            let message = v1::SolvedPositions { key_steps, keys_high, facts, work };
            prop_assert_eq!(unpacked(&message).is_ok(), is_sound);
            let _ = unpacked_parts(&[Bytes::from(bytes)]);
        }
    }

    #[test]
    fn there_are_no_more_than_a_batch_may_have() {
        let solved = SolvedPosition { key: 5, threshold: Threshold(1), holds: true, work: 9 };
        assert_eq!(unpacked(&packed(&vec![solved; MAX_BATCH])).unwrap().len(), MAX_BATCH);
        assert!(unpacked(&packed(&vec![solved; MAX_BATCH + 1])).is_err());
        let parts = packed_parts(&vec![solved; MAX_BATCH + 1]);
        assert_eq!(parts.len(), 2);
        assert_eq!(unpacked_parts(&parts).unwrap().len(), MAX_BATCH + 1);
        assert!(unpacked_parts(&vec![Bytes::new(); MAX_SOLVED_PARTS + 1]).is_err());
    }

    #[test]
    fn a_position_takes_some_nine_bytes() {
        // Keys of a board of 50 bits, as scattered as can be.
        let key = |n: u128| (n * 0x9e37_79b9_7f4a_7c15) % (1 << 50);
        let position =
            |n| SolvedPosition { key: key(n), threshold: Threshold(2), holds: true, work: 3_000 };
        let all: Vec<SolvedPosition> = (0..1000).map(position).collect();
        assert!(packed(&all).encoded_len() < 10 * all.len());
    }
}
