//! Torn entries: a place that holds words of several writes, in every mix. A look-up is told
//! nothing that was not written of that very position.

use super::*;
use crate::table::entry::Place;

/// What one search found out about a position.
#[derive(Clone, Copy, Debug)]
struct Told {
    key: u128,
    threshold: u8,
    pair: EffortPair,
    work: u32,
}

/// Two keys with the same low half, as Woodpush's without a past have, and one that has the high
/// half of the first, as all of Connect Four's have the same.
const KEYS: [u128; 3] = [1 << 64, 2 << 64, 1 << 64 | 7];

/// Facts and numbers that go together: the value is 1.
fn all_told() -> Vec<Told> {
    let found = [
        (1, EffortPair::PROVED),
        (2, EffortPair::DISPROVED),
        (2, pair(3, 4)),
        (3, EffortPair::DISPROVED),
        (3, pair(9, 1)),
    ];
    let told = |key| {
        let of_key = found.into_iter().zip([8, 8, 900, 8, 8]);
        of_key.map(move |((threshold, pair), work)| Told { key, threshold, pair, work })
    };
    KEYS.into_iter().flat_map(told).collect()
}

/// The words that are left in the first place of a bucket after so much was told, one after the
/// other.
fn words_after(told: &[Told]) -> [u64; 4] {
    let table = TranspositionTable::with_bytes(0).unwrap();
    for told in told {
        table.put(told.key, Threshold(told.threshold), told.pair, told.work);
    }
    table.memory.bucket(0).big.each_ref().map(|word| word.load(Relaxed))
}

/// Leaves these words in a place.
fn set(place: &Place<AtomicU64>, words: [u64; 4]) {
    place.iter().zip(words).for_each(|(word, value)| word.store(value, Relaxed));
}

/// The words that each of several searches writes, if none sees the others; and what the second
/// writes if it sees the first.
fn writes_of(first: Told, second: Told) -> [[[u64; 4]; 2]; 2] {
    let alone = words_after(&[second]);
    let after = if first.key == second.key { words_after(&[first, second]) } else { alone };
    [[words_after(&[first]), alone], [words_after(&[first]), after]]
}

/// What a table of one bucket says is something that it was told, or follows from it.
fn assert_true(table: &TranspositionTable, told: &[Told]) {
    for key in KEYS {
        for asked in 1..=4 {
            let Some(known) = table.get(key, Threshold(asked)) else { continue };
            let follows = |told: &&Told| match told.pair.verdict() {
                Some(true) => asked <= told.threshold && known.pair == EffortPair::PROVED,
                Some(false) => asked >= told.threshold && known.pair == EffortPair::DISPROVED,
                None => asked == told.threshold && known.pair == told.pair,
            };
            let mut of_key = told.iter().filter(|told| told.key == key);
            assert!(of_key.any(|told| follows(&told)), "{key:#x}, {asked}: {known:?} of {told:?}");
        }
    }
}

/// Every order in which two writers can write four words each: the bits of 8 that are set are the
/// second one's turns.
fn orders() -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|order| order.count_ones() == 4)
}

#[test]
fn no_order_of_two_writers_words_is_a_false_verdict() {
    assert_eq!(orders().count(), 70);
    let table = TranspositionTable::with_bytes(0).unwrap();
    let place = &table.memory.bucket(0).big;
    let told = all_told();
    for (&first, &second) in told.iter().flat_map(|a| told.iter().map(move |b| (a, b))) {
        for (writes, order) in
            writes_of(first, second).iter().flat_map(|w| orders().map(move |o| (w, o)))
        {
            Words::EMPTY.write(place);
            let mut next = [0, 0];
            for turn in 0..8 {
                let writer = usize::from(order >> turn & 1);
                let word = next[writer];
                place[word].store(writes[writer][word], Relaxed);
                next[writer] += 1;
                assert_true(&table, &[first, second]);
            }
        }
    }
}

/// A reader may see each word as it was at another time: empty, or as one of three writes left it.
#[test]
fn no_mix_of_words_is_a_false_verdict() {
    let table = TranspositionTable::with_bytes(0).unwrap();
    let told = all_told();
    let mut found = 0;
    for (index, &first) in told.iter().enumerate() {
        for (at, &second) in told.iter().enumerate() {
            let third = told[(index * 7 + at * 3) % told.len()];
            for [one, two] in writes_of(first, second) {
                let writes = [[0; 4], one, two, words_after(&[third])];
                for mix in 0..4usize.pow(4) {
                    let words = std::array::from_fn(|word| writes[mix >> (2 * word) & 3][word]);
                    let bucket = table.memory.bucket(0);
                    set(&bucket.big, words);
                    // The same in the second place, where it is looked for next.
                    set(&bucket.recent, words);
                    assert_true(&table, &[first, second, third]);
                    found += u32::from(table.get(first.key, Threshold(first.threshold)).is_some());
                }
            }
        }
    }
    assert!(found > 1000, "{found} whole entries");
}

/// A write over a torn entry takes nothing over from it, and may move it.
#[test]
fn a_torn_entry_is_not_taken_over() {
    let told = all_told();
    let table = TranspositionTable::with_bytes(0).unwrap();
    for (&first, &second) in told.iter().flat_map(|a| told.iter().map(move |b| (a, b))) {
        for mix in 0..16 {
            for &third in &told {
                table.clear();
                let writes = [words_after(&[first]), words_after(&[second])];
                let place = &table.memory.bucket(0).big;
                set(place, std::array::from_fn(|word| writes[mix >> word & 1][word]));
                table.put(third.key, Threshold(third.threshold), third.pair, third.work);
                let asked =
                    table.get(third.key, Threshold(third.threshold)).map(|known| known.pair);
                assert!(asked.is_some(), "what was put last is there");
                assert_true(&table, &[first, second, third]);
            }
        }
    }
}

/// The pair alone is no proof: what is proved is between the bounds.
#[test]
fn a_solved_pair_beyond_the_bounds_is_not_believed() {
    let table = TranspositionTable::with_bytes(0).unwrap();
    let key = KEYS[0];
    for solved in [EffortPair::PROVED, EffortPair::DISPROVED] {
        let mut entry = Entry::new(Threshold(2), solved, 5);
        entry.forget_verdicts();
        entry.add(Entry::new(Threshold(1), EffortPair::PROVED, 5));
        Words::new(Scrambled::new(key), entry).write(&table.memory.bucket(0).big);
        let known = |t| table.get(key, Threshold(t)).map(|known| known.pair);
        assert_eq!([1, 2, 3].map(known), [Some(EffortPair::PROVED), None, None]);
        // Neither is it when something else of the position is put.
        table.put(key, Threshold(4), EffortPair::DISPROVED, 5);
        assert_eq!([1, 2, 3].map(known), [Some(EffortPair::PROVED), None, None]);
    }
}

/// Contents that are alike, as those of one position are, are told apart by their checksums.
#[test]
fn contents_that_occur_have_checksums_of_their_own() {
    let mut pairs = vec![EffortPair::PROVED, EffortPair::DISPROVED];
    pairs.extend((1..40).flat_map(|proof| (1..40).map(move |disproof| pair(proof, disproof))));
    let works = (0..10).chain([1_000, 1_001, 1 << 16, u32::MAX]);
    let contents = works.flat_map(|work| {
        let bounds = [(1, 0, 255), (2, 0, 255), (2, 1, 255), (2, 0, 3), (2, 1, 3)];
        pairs.iter().flat_map(move |&pair| {
            bounds.map(|(threshold, lower, above)| Entry { pair, work, threshold, lower, above })
        })
    });
    let (mut count, mut checksums) = (0, BTreeSet::new());
    for entry in contents {
        count += 1;
        // The tie of a key of zeros is the checksum.
        checksums.insert(Words::new(Scrambled::new(0), entry).low);
    }
    assert_eq!(checksums.len(), count);
}

proptest! {
    /// Numbers and keys of any kind: words of two writes of any two positions are those of neither
    /// unless all words of its content are.
    #[test]
    fn a_mix_is_an_entry_only_if_its_content_was_written(
        keys: [u128; 2], share_half in 0..3u8,
        contents: [(u32, u32, u32, u8, u8, u8); 2], mix in 0..16usize,
    ) {
        let [one, mut other] = keys;
        let low = u128::from(u64::MAX);
        match share_half {
            0 => other = (other & !low) | (one & low),
            1 => other = (other & low) | (one & !low),
            _ => {}
        }
        let entries = contents.map(|(proof, disproof, work, threshold, lower, above)| {
            let pair = EffortPair { proof: Effort::from_bits(proof), disproof: Effort::from_bits(disproof) };
            Entry { pair, work, threshold, lower, above }
        });
        let keys = [one, other].map(Scrambled::new);
        let writes = [0, 1].map(|n| Words::new(keys[n], entries[n]));
        let written = writes.map(|words| {
            let place = [0; 4].map(AtomicU64::new);
            words.write(&place);
            place.map(AtomicU64::into_inner)
        });
        let place = [0; 4].map(AtomicU64::new);
        set(&place, std::array::from_fn(|word| written[mix >> word & 1][word]));
        let mixed = Words::read(&place);
        for key in keys {
            if let Some(entry) = mixed.entry_of(key) {
                let written = [0, 1].iter().any(|&n| keys[n] == key && entries[n] == entry);
                prop_assert!(written, "{entry:?}");
            }
        }
        prop_assert_eq!(writes[0].entry_of(keys[0]), Some(entries[0]));
        prop_assert_eq!(writes[0].key(), keys[0]);
    }
}
