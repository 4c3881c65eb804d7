mod model;
mod torn;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use proptest::prelude::*;

use super::*;
use crate::effort::Effort;
use crate::table::entry::Words;

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
fn an_empty_table_knows_nothing_of_any_position() {
    let table = TranspositionTable::with_bytes(1 << 10).unwrap();
    // An empty place has the words of a key that is 0.
    for key in [0, 1, u128::MAX] {
        assert!([1, 2, 254].iter().all(|&t| table.get(key, Threshold(t)).is_none()));
    }
    assert!(table.is_empty());
    table.put(0, Threshold(1), pair(1, 1), 1);
    assert!(table.get(0, Threshold(1)).is_some() && !table.is_empty());
}

#[test]
fn keys_that_are_alike_are_spread_over_the_buckets() {
    for shift in [0, 7, 32, 64, 96] {
        let buckets = (0..1000u128).map(|n| Scrambled::new(n << shift).bucket(1000));
        let different: BTreeSet<usize> = buckets.collect();
        assert!(different.len() > 450, "{shift}: {} of 1000 buckets", different.len());
    }
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
        let mut told = BTreeMap::new();
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

/// The table grows when each place was written eight times, and not for the same entries.
#[test]
fn a_table_grows_when_it_is_worth_it() {
    let first = growth::FIRST_BUCKETS;
    let table = TranspositionTable::with_bytes(4 * (first * BUCKET_BYTES) as u64).unwrap();
    let is_counted = |key: &u128| growth::is_sample(Scrambled::new(*key));
    assert_eq!((1..16_000).filter(is_counted).count() / 10, 100, "one in sixteen");
    let counted = (1..).find(is_counted).unwrap();
    for _ in 0..2 * first {
        table.put(counted, Threshold(1), pair(1, 1), 1);
    }
    assert_eq!((table.used.load(Relaxed), table.len()), (first, 1));
    // Nor do they keep it from growing when others come.
    let others = 1..2 * first as u128;
    others.for_each(|key| table.put(key, Threshold(1), pair(1, 1), 1));
    assert_eq!(table.used.load(Relaxed), 2 * first);
    table.clear();
    let mut keys = 1..;
    keys.by_ref().take(14 * first).for_each(|key| table.put(key, Threshold(1), pair(1, 1), 1));
    assert_eq!(table.used.load(Relaxed), first);
    keys.by_ref().take(4 * first).for_each(|key| table.put(key, Threshold(1), pair(1, 1), 1));
    assert_eq!(table.used.load(Relaxed), 2 * first);
    // Another thread was faster: the next step is not due yet.
    table.written.store(2 * first - 1, Relaxed);
    table.grow();
    assert_eq!(table.used.load(Relaxed), 2 * first);
    table.written.store(2 * first, Relaxed);
    table.grow();
    assert_eq!(table.used.load(Relaxed), 4 * first);
}

/// While entries move, one that has not moved yet is found where it was.
#[test]
fn an_entry_that_has_still_to_move_is_found() {
    let first = growth::FIRST_BUCKETS;
    let table = TranspositionTable::with_bytes(2 * (first * BUCKET_BYTES) as u64).unwrap();
    let moves = |key: &u128| {
        let key = Scrambled::new(*key);
        key.bucket(first) != key.bucket(2 * first)
    };
    let key = (1..).find(moves).unwrap();
    table.put(key, Threshold(1), pair(3, 4), 1);
    table.used.store(2 * first, Relaxed);
    assert_eq!(table.get(key, Threshold(1)), None);
    table.moving.store(first, Relaxed);
    assert_eq!(table.get(key, Threshold(1)).map(|known| known.pair), Some(pair(3, 4)));
}

/// The entry that moves into a bucket takes an empty place first, then that of less work.
#[test]
fn an_entry_moves_to_the_place_that_costs_least() {
    let entry = |key: u128, work| (Scrambled::new(key), Entry::new(Threshold(1), pair(1, 1), work));
    let moved = |there: &[(u128, u32)], key, work| {
        let empty = || [0; 4].map(AtomicU64::new);
        let bucket = Bucket { big: empty(), recent: empty() };
        for (&(key, work), place) in there.iter().zip([&bucket.big, &bucket.recent]) {
            let (key, entry) = entry(key, work);
            Words::new(key, entry).write(place);
        }
        let (key, entry) = entry(key, work);
        bucket.take_over(key, Words::new(key, entry));
        [&bucket.big, &bucket.recent].map(|place| {
            let words = Words::read(place);
            (!words.is_empty()).then(|| words.work())
        })
    };
    assert_eq!(moved(&[], 1, 5), [Some(5), None]);
    assert_eq!(moved(&[(2, 4)], 1, 5), [Some(4), Some(5)]);
    assert_eq!(moved(&[(2, 6)], 1, 5), [Some(6), Some(5)]);
    assert_eq!(moved(&[(1, 4)], 1, 5), [Some(4), None], "what was found since is newer");
    assert_eq!(moved(&[(2, 4), (3, 9)], 1, 5), [Some(5), Some(9)]);
    assert_eq!(moved(&[(2, 5), (3, 9)], 1, 5), [Some(5), Some(5)]);
    assert_eq!(moved(&[(2, 6), (3, 9)], 1, 5), [Some(6), Some(5)]);
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

#[test]
fn of_a_sample_of_positions_each_visit_is_noted() {
    let tables = [0, 1].map(|_| TranspositionTable::with_bytes(1 << 12).unwrap());
    tables[0].put(1, Threshold(1), pair(3, 4), 1);
    tables.iter().for_each(TranspositionTable::note_searched);
    assert_eq!(tables[0].take_searched(), [], "nobody had asked");
    let visited = |table: &TranspositionTable| {
        for key in (0..16_000).chain(0..16_000) {
            table.put(key, Threshold(1), pair(3, 4), 1);
        }
        table.take_searched()
    };
    let keys = visited(&tables[0]);
    let (once, again) = keys.split_at(keys.len() / 2);
    assert_eq!(once, again, "each visit counts");
    assert!((900..1_100).contains(&once.len()), "{} of 16000", once.len());
    assert_eq!(visited(&tables[1]), keys, "the same of every table");
    let solved = SolvedPosition { key: once[0], threshold: Threshold(1), holds: true, work: 1 };
    tables[0].learn(&solved);
    assert_eq!(tables[0].take_searched(), [], "what is learnt was not searched here");
}

#[test]
fn of_too_many_solved_positions_those_with_most_work_are_told() {
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.keep_solved_from(1);
    let told_of = |works: RangeInclusive<u32>| -> BTreeSet<u32> {
        for work in works {
            table.put(u128::from(work), Threshold(1), EffortPair::PROVED, work);
        }
        table.take_solved().iter().map(|solved| solved.work).collect()
    };
    assert_eq!(told_of(1..=4096), (1..=4096).collect(), "these are not too many");
    // The upper half of the first 4096, and the last one.
    assert_eq!(told_of(1..=4097), (2049..=4097).collect());
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

#[cfg(debug_assertions)]
#[test]
#[should_panic = "thresholds up to 0 were proved and from 255 on disproved, and now threshold 255 is \
                  proved"]
fn a_threshold_beyond_all_games_stops_a_debug_build() {
    let table = TranspositionTable::with_bytes(0).unwrap();
    table.put(7, Threshold(255), EffortPair::PROVED, 5);
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
