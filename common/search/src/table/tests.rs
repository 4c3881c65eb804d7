mod model;
mod torn;

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::effort::Effort;

fn pair(proof: u64, disproof: u64) -> EffortPair {
    EffortPair { proof: Effort::finite(proof), disproof: Effort::finite(disproof) }
}

#[test]
fn a_table_is_at_least_one_bucket_and_at_most_the_memory() {
    assert_eq!(TranspositionTable::with_bytes(0).map(|t| t.capacity()), Ok(2));
    assert_eq!(TranspositionTable::with_bytes(640).map(|t| t.capacity()), Ok(20));
    let error = TranspositionTable::with_bytes(u64::MAX).map(|t| t.capacity());
    assert_eq!(error, Err(TableTooLarge(u64::MAX)));
}

#[test]
fn facts_about_one_threshold_answer_others() {
    let table = TranspositionTable::with_bytes(1 << 10).unwrap();
    table.put(7, Threshold(3), EffortPair::PROVED, 5);
    table.put(7, Threshold(6), EffortPair::DISPROVED, 4);
    table.put(7, Threshold(5), pair(2, 9), 3);
    let known = |t| table.get(7, Threshold(t)).map(|k| k.pair);
    assert_eq!(known(2), Some(EffortPair::PROVED));
    assert_eq!(known(3), Some(EffortPair::PROVED));
    assert_eq!(known(4), None);
    assert_eq!(known(5), Some(pair(2, 9)));
    assert_eq!(known(6), Some(EffortPair::DISPROVED));
    assert_eq!(table.get(7, Threshold(5)).map(|k| k.work), Some(5));
    assert_eq!((table.len(), table.get(8, Threshold(5))), (1, None));
    table.clear();
    assert_eq!((table.len(), table.get(7, Threshold(5))), (0, None));
}

#[test]
fn the_position_that_cost_most_survives_a_flood() {
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.put(1, Threshold(1), pair(3, 4), 1000);
    for key in 2..50 {
        table.put(key, Threshold(1), pair(1, 1), 10);
        assert!(table.get(key, Threshold(1)).is_some(), "the newest is always kept");
    }
    assert_eq!(table.get(1, Threshold(1)).map(|k| k.pair), Some(pair(3, 4)));
    table.put(50, Threshold(1), pair(5, 6), 1000);
    assert_eq!(table.get(50, Threshold(1)).map(|k| k.pair), Some(pair(5, 6)));
    assert_eq!(table.get(1, Threshold(1)).map(|k| k.pair), Some(pair(3, 4)));
    assert_eq!((table.len(), table.capacity()), (2, 2));
}

proptest! {
    /// A small table forgets, but what it tells is the last that it was told or follows from
    /// a fact that it was told.
    #[test]
    fn a_table_tells_nothing_but_what_it_was_told(
        puts in prop::collection::vec((0u128..40, 1u8..4, 1u64..9, 1u32..100), 1..200),
        keys_far_apart: bool, buckets in 1u64..12,
    ) {
        let table = TranspositionTable::with_bytes(buckets * 64).unwrap();
        let mut told = HashMap::new();
        for (key, threshold, number, work) in puts {
            // Keys that differ in their high half only, or in their low half only.
            let key = if keys_far_apart { key << 64 } else { key };
            // Values 2 throughout: 1 and 2 can be proved, 3 disproved.
            let pair = if number == 8 { EffortPair::solved(threshold < 3) } else { pair(number, 9) };
            table.put(key, Threshold(threshold), pair, work);
            told.insert((key, threshold), pair);
            for other in 1..4 {
                let Some(known) = table.get(key, Threshold(other)) else {
                    prop_assert_ne!(other, threshold, "the newest entry is there");
                    continue;
                };
                match known.pair.verdict() {
                    Some(holds) => prop_assert_eq!(holds, other < 3),
                    None => prop_assert_eq!(Some(&known.pair), told.get(&(key, other))),
                }
            }
        }
        prop_assert!(table.len() <= table.capacity());
    }
}

/// Threads write to a few buckets as fast as they can; every number that is read must be one
/// that some thread wrote for that very position.
#[test]
fn torn_entries_are_not_found() {
    let table = TranspositionTable::with_bytes(2 * 64).unwrap();
    let numbers = |key: u128, round: u32| {
        let secret = (key as u32).wrapping_mul(0x9e37_79b9) >> 8;
        pair(u64::from(round) + 1, u64::from(round ^ secret) + 1)
    };
    let found: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u128)
            .map(|thread| {
                let table = &table;
                scope.spawn(move || {
                    let mut found = 0;
                    for round in 0..200_000u32 {
                        let key = u128::from(round % 5) + 1;
                        let work = round.wrapping_mul(2_654_435_761 + thread as u32);
                        table.put(key, Threshold(1), numbers(key, round), work);
                        let other = u128::from(round.wrapping_mul(7) % 5) + 1;
                        if let Some(known) = table.get(other, Threshold(1)) {
                            let round = known.pair.proof.to_bits() - 1;
                            assert_eq!(known.pair, numbers(other, round));
                            found += 1;
                        }
                    }
                    found
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert!(found > 1000, "{found} of 800000 look-ups found something");
}

/// Numbers that only the entry of `key` has.
fn numbers_of(key: u128) -> EffortPair {
    let secret = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    pair(secret + 1, (secret ^ 0x55_5555) + 1)
}

#[test]
fn what_cost_most_survives_the_growth() {
    // Sizes that are a power of two times the first one, and others.
    for bytes in [16 << 20, 13 << 20, 3 << 20] {
        let table = TranspositionTable::with_bytes(bytes).unwrap();
        let keys = || (1..=8 * u128::from(table.capacity())).map(|n| n | n << 64);
        let costly = |key: u128| (key as u64).is_multiple_of(64);
        for key in keys() {
            table.put(key, Threshold(1), numbers_of(key), if costly(key) { 1000 } else { 1 });
        }
        assert_eq!(table.used.load(Relaxed), table.buckets, "{bytes}");
        let known = keys().filter_map(|key| Some((key, table.get(key, Threshold(1))?)));
        let known = known.inspect(|(key, known)| assert_eq!(known.pair, numbers_of(*key)));
        let found = known.filter(|(key, _)| costly(*key)).count() as u64;
        // Before each step, one bucket in forty has more than one of them.
        assert!(found * 4 > table.capacity() / 8 * 3, "{found} of {}", table.capacity() / 8);
        assert!(table.len() <= table.capacity());
        table.clear();
        assert!(table.is_empty() && keys().all(|key| table.get(key, Threshold(1)).is_none()));
    }
}

/// Threads fill a table that grows; what they read is what was written.
#[test]
fn a_table_grows_while_others_use_it() {
    let table = TranspositionTable::with_bytes(32 << 20).unwrap();
    let found: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u128)
            .map(|thread| {
                let table = &table;
                scope.spawn(move || {
                    let mut found = 0;
                    for n in 1..400_000u128 {
                        let key = n * 4 + thread;
                        table.put(key, Threshold(1), numbers_of(key), 1);
                        let earlier = (n * 7 % n.next_power_of_two()) * 4 + (thread + 1) % 4;
                        if let Some(known) = table.get(earlier, Threshold(1)) {
                            assert_eq!(known.pair, numbers_of(earlier));
                            found += 1;
                        }
                    }
                    found
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert!(found > 10_000, "{found} of 1600000 look-ups found something");
    assert!(table.used.load(Relaxed) > growth::FIRST_BUCKETS);
}

#[test]
fn solved_positions_travel_from_table_to_table() {
    let tables = [0, 1].map(|_| TranspositionTable::with_bytes(1 << 12).unwrap());
    tables[0].put(1, Threshold(1), EffortPair::PROVED, 5000);
    assert_eq!(tables[0].take_solved(), [], "nobody wanted it");
    tables.iter().for_each(|table| table.keep_solved_from(1000));
    tables[0].put(2, Threshold(2), EffortPair::DISPROVED, 1000);
    tables[0].put(3, Threshold(2), EffortPair::DISPROVED, 999);
    tables[0].put(4, Threshold(2), pair(3, 4), 5000);
    let solved = tables[0].take_solved();
    let expected = SolvedPosition { key: 2, threshold: Threshold(2), holds: false, work: 1000 };
    assert_eq!(solved, [expected]);
    assert_eq!(tables[0].take_solved(), [], "each is told once");
    tables[1].learn(&solved[0]);
    assert_eq!(tables[1].get(2, Threshold(2)).map(|k| k.pair), Some(EffortPair::DISPROVED));
    assert_eq!(tables[1].take_solved(), [], "what was learnt is not told again");
}

/// A table that knows of the position with key 7 that its value is 3.
fn table_with_a_value() -> TranspositionTable {
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.put(7, Threshold(3), EffortPair::PROVED, 5);
    table.put(7, Threshold(4), EffortPair::DISPROVED, 5);
    table
}

#[cfg(debug_assertions)]
#[test]
#[should_panic = "a wrong fact: in the position with key 0x7 thresholds up to 3 were proved and from \
                  4 on disproved, and now threshold 4 is proved"]
fn facts_that_exclude_each_other_stop_a_debug_build() {
    table_with_a_value().put(7, Threshold(4), EffortPair::PROVED, 5);
}

#[cfg(debug_assertions)]
#[test]
#[should_panic = "thresholds up to 0 were proved and from 255 on disproved, and now threshold 0 is \
                  disproved"]
fn a_fact_that_no_game_has_stops_a_debug_build() {
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.put(7, Threshold(0), EffortPair::DISPROVED, 5);
}

#[test]
fn of_facts_that_exclude_each_other_neither_is_believed() {
    let lie = SolvedPosition { key: 7, threshold: Threshold(2), holds: false, work: 9 };
    let known = |table: &TranspositionTable| {
        [1, 2, 3, 4].map(|t| table.get(7, Threshold(t)).map(|known| known.pair))
    };
    // A lie is told of what the table knows.
    let table = table_with_a_value();
    table.learn(&lie);
    assert_eq!(known(&table), [None; 4]);
    // What is found out afterwards is believed.
    table.put(7, Threshold(1), EffortPair::PROVED, 5);
    assert_eq!(known(&table), [Some(EffortPair::PROVED), None, None, None]);
    assert_eq!(table.get(7, Threshold(1)).map(|known| known.work), Some(9));
    // The truth is found out after a lie: no search may stop for that, nor tell it to others, who
    // may know better.
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.keep_solved_from(1);
    table.learn(&lie);
    table.put(7, Threshold(2), EffortPair::PROVED, 5);
    assert_eq!(known(&table), [None; 4]);
    assert_eq!(table.take_solved(), []);
    table.put(7, Threshold(2), EffortPair::PROVED, 5);
    assert_eq!(known(&table), [Some(EffortPair::PROVED), Some(EffortPair::PROVED), None, None]);
    assert_eq!(table.take_solved().len(), 1);
    // A lie about a threshold that every game answers.
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.learn(&SolvedPosition { threshold: Threshold(0), ..lie });
    assert_eq!(known(&table), [None; 4]);
    table.learn(&SolvedPosition { threshold: Threshold(255), holds: true, ..lie });
    assert_eq!(known(&table), [None; 4]);
}
