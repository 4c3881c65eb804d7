//! All that can happen when threads meet in one bucket, in the weak memory order of the language:
//! each word is read as any write that may be seen, in no order with the other words.
//!
//! The model runs threads by turns; `loom` tries every order of them, with a bounded number of times
//! that a thread is interrupted, and every value that a read may return.

use std::collections::HashSet;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelWord;
use loom::thread::spawn;

use super::*;
use crate::table::entry::{Place, Word, Words};

impl Word for ModelWord {
    fn read(&self) -> u64 {
        self.load(Relaxed)
    }

    fn write(&self, value: u64) {
        self.store(value, Relaxed);
    }
}

/// Two keys with the same low half.
const ONE: u128 = 1 << 64 | 5;
const OTHER: u128 = 2 << 64 | 5;

fn empty_place() -> Place<ModelWord> {
    std::array::from_fn(|_| ModelWord::new(0))
}

fn empty_bucket() -> Bucket<ModelWord> {
    Bucket { big: empty_place(), recent: empty_place() }
}

/// The value of a position is 1 or 3: up to there its thresholds hold.
fn value(key: u128) -> u8 {
    if key == ONE { 1 } else { 3 }
}

/// What a search finds out: whether the threshold holds if it solves it, else numbers that are the
/// position's and the threshold's own.
fn found(key: u128, threshold: u8, solves: bool) -> Entry {
    let own_numbers = pair(u64::from(value(key)) * 16 + u64::from(threshold), 1);
    let solved = EffortPair::solved(threshold <= value(key));
    Entry::new(Threshold(threshold), if solves { solved } else { own_numbers }, 1)
}

/// Asserts that all that an entry says of its position is true.
fn assert_true(key: u128, entry: Entry) {
    for threshold in 1..=4 {
        match entry.pair_of(Threshold(threshold)).map(|pair| (pair, pair.verdict())) {
            None => {}
            Some((_, Some(holds))) => assert_eq!(holds, threshold <= value(key), "{entry:?}"),
            Some((pair, None)) => assert_eq!(pair, found(key, threshold, false).pair),
        }
    }
}

/// All that the readers of a model saw, in all of its runs.
type Seen = Mutex<HashSet<Vec<u64>>>;

/// Runs a model in every way, with at most so many interruptions of threads in each. Returns how many
/// different things its readers saw: a model in which threads hardly meet shows nothing.
fn check(
    interruptions: usize,
    run: impl Fn(&std::sync::Arc<Seen>) + Send + Sync + 'static,
) -> usize {
    let seen = std::sync::Arc::new(Seen::default());
    let shown = std::sync::Arc::clone(&seen);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    model.check(move || run(&seen));
    shown.lock().unwrap().len()
}

/// A look at places, as it is: all that it finds of the two positions is true.
fn look(places: &[&Place<ModelWord>], seen: &Seen) {
    let mut words = Vec::new();
    for place in places {
        let place = Words::read(place);
        for key in [ONE, OTHER] {
            if let Some(entry) = place.entry_of(Scrambled::new(key)) {
                assert_true(key, entry);
            }
        }
        words.extend([place.low, place.high, place.pair, place.rest]);
    }
    seen.lock().unwrap().insert(words);
}

/// Two writers of one place and a reader. What they write does not depend on what they see.
fn writers_of_a_place(writes: [(u128, Entry); 2]) {
    let mixes = check(2, move |seen| {
        let place = Arc::new(empty_place());
        for (key, entry) in writes {
            let place = Arc::clone(&place);
            spawn(move || Words::new(Scrambled::new(key), entry).write(&*place));
        }
        look(&[&*place], seen);
    });
    assert_eq!(mixes, 3usize.pow(4), "each word was seen empty and as each of them left it");
}

#[test]
fn two_writers_of_one_position() {
    writers_of_a_place([(ONE, found(ONE, 1, true)), (ONE, found(ONE, 2, false))]);
}

#[test]
fn two_writers_of_two_positions() {
    writers_of_a_place([(ONE, found(ONE, 2, false)), (OTHER, found(OTHER, 2, true))]);
}

/// Two searches keep what they found in one bucket, where something is known already. What one of
/// them takes over from the other is true, and so is what is there afterwards.
fn searches_of_a_bucket(finds: [(u128, Entry); 2]) -> usize {
    check(1, move |seen| {
        let bucket = Arc::new(empty_bucket());
        bucket.insert(Scrambled::new(ONE), found(ONE, 3, false));
        let searches = finds.map(|(key, entry)| {
            let bucket = Arc::clone(&bucket);
            spawn(move || {
                let inserted = bucket.insert(Scrambled::new(key), entry);
                assert_eq!(inserted.contradicts, None);
            })
        });
        searches.into_iter().for_each(|search| search.join().unwrap());
        look(&[&bucket.big, &bucket.recent], seen);
    })
}

#[test]
fn two_searches_of_one_position() {
    let ends = searches_of_a_bucket([(ONE, found(ONE, 1, true)), (ONE, found(ONE, 2, true))]);
    assert!(ends > 16, "{ends} different ends");
}

#[test]
fn two_searches_of_two_positions() {
    let ends = searches_of_a_bucket([(ONE, found(ONE, 2, true)), (OTHER, found(OTHER, 2, true))]);
    assert!(ends > 16, "{ends} different ends");
}

/// A search makes room for its entry by moving another one, while a thread looks.
#[test]
fn an_entry_makes_room_while_it_is_read() {
    let sights = check(1, |seen| {
        let bucket = Arc::new(empty_bucket());
        bucket.insert(Scrambled::new(ONE), found(ONE, 2, true));
        let search = Arc::clone(&bucket);
        spawn(move || search.insert(Scrambled::new(OTHER), found(OTHER, 2, true)));
        let seen = std::sync::Arc::clone(seen);
        spawn(move || look(&[&bucket.big, &bucket.recent], &seen));
    });
    assert_eq!(sights, 1 << 8, "each word was seen before and after");
}

/// The table grows: an entry moves to another bucket while a search writes to its old place.
#[test]
fn an_entry_moves_while_a_search_adds_to_it() {
    let ends = check(2, |seen| {
        let buckets = Arc::new([(); 2].map(|()| empty_bucket()));
        buckets[0].insert(Scrambled::new(ONE), found(ONE, 1, true));
        let mover = Arc::clone(&buckets);
        let mover = spawn(move || {
            let [old, new] = &*mover;
            let words = Words::read(&old.big);
            Words::EMPTY.write(&old.big);
            new.take_over(words.key(), words);
        });
        let search = Arc::clone(&buckets);
        let search = spawn(move || {
            let inserted = search[0].insert(Scrambled::new(ONE), found(ONE, 2, true));
            assert_eq!(inserted.contradicts, None);
        });
        mover.join().unwrap();
        search.join().unwrap();
        look(&[&buckets[0].big, &buckets[1].big], seen);
    });
    assert!(ends > 16, "{ends} different ends");
}
