//! What of the files found is used when a journal is opened: the run of records, without a gap,
//! that leads furthest from its beginning or from a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::Record;

/// A segment as it was found.
#[derive(Debug)]
pub(super) struct FoundSegment {
    /// The name of its file.
    pub name: String,
    /// The first number that was free when it was begun; `None` if nothing in it says so.
    pub since: Option<u64>,
    /// Its records.
    pub records: BTreeMap<u64, Vec<u8>>,
    /// Whether its file is damaged.
    pub damaged: bool,
    /// The first and last of its records that were written after its last commit.
    pub uncommitted: Option<(u64, u64)>,
}

/// What to use and what to repair.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Salvage {
    /// The number of the first record, or the one that it would have.
    pub first: u64,
    /// The number of the last record that is known of; 0 if none.
    pub last: u64,
    /// The records from `first` on; none if a snapshot covers all up to `last`.
    pub records: Vec<Record>,
    /// Those of `records` that are only in files that are moved aside.
    pub rewrite: BTreeSet<u64>,
    /// The segments to move aside, by their index.
    pub aside: Vec<usize>,
    /// For each segment the number of its last record in use.
    pub lasts: Vec<Option<u64>>,
    /// What is lost or of no use, in sentences.
    pub said: Vec<String>,
}

/// Decides what to use of these segments, oldest first, and of snapshots through these numbers.
pub(super) fn salvage(segments: Vec<FoundSegment>, throughs: &[u64]) -> Salvage {
    let mut merged: BTreeMap<u64, (usize, Vec<u8>)> = BTreeMap::new();
    let mut held: Vec<BTreeSet<u64>> = Vec::new();
    let mut files = Vec::new();
    for (index, found) in segments.into_iter().enumerate() {
        let FoundSegment { name, since, records, damaged, uncommitted } = found;
        if let Some(since) = since {
            // What earlier segments hold from there on was never committed.
            merged.split_off(&since);
            for held in &mut held {
                held.split_off(&since);
            }
        }
        held.push(records.keys().copied().collect());
        merged.extend(records.into_iter().map(|(number, bytes)| (number, (index, bytes))));
        files.push((name, damaged, uncommitted));
    }

    let runs = runs(merged.keys().copied());
    let (first, last) = best_run(&runs, throughs);
    let mut salvage = Salvage {
        first,
        last,
        records: Vec::new(),
        rewrite: BTreeSet::new(),
        aside: Vec::new(),
        lasts: held
            .iter()
            .map(|held| held.range(first..=last.max(first)).last().copied())
            .collect(),
        said: Vec::new(),
    };
    let unused = |number: &u64| !(first..=last).contains(number);
    for (index, (name, damaged, uncommitted)) in files.iter().enumerate() {
        if let Some((from, to)) = uncommitted.filter(|(from, _)| held[index].contains(from)) {
            let recovered = records(from, to);
            salvage.said.push(format!(
                "{name} was not closed: recovered {recovered} after its last commit"
            ));
        }
        if *damaged {
            let is_last = index + 1 == files.len();
            salvage.said.push(damage(name, &held[index], (first, last), is_last));
        }
        if *damaged || held[index].iter().any(unused) {
            salvage.aside.push(index);
        }
    }
    for (number, (index, bytes)) in merged {
        if unused(&number) {
            continue;
        }
        if salvage.aside.contains(&index) {
            salvage.rewrite.insert(number);
        }
        salvage.records.push(Record { number, bytes });
    }
    for &(from, to) in runs.iter().filter(|(from, _)| unused(from)) {
        salvage.said.push(if from > last {
            let (missing, unused) = (are(last + 1, from - 1), are(from, to));
            format!("{missing} missing, so {unused} of no use and kept aside")
        } else {
            format!(
                "{} of no use and kept aside: what came between that and record {first} is missing",
                are(from, to)
            )
        });
    }
    salvage
}

/// What was recovered of a damaged file.
fn damage(name: &str, held: &BTreeSet<u64>, (first, last): (u64, u64), is_last: bool) -> String {
    let used = || held.range(first..).take_while(|number| **number <= last);
    let recovered = match (used().next(), used().last()) {
        (Some(from), Some(to)) => format!("recovered {}", records(*from, *to)),
        _ => "recovered no record of it".to_owned(),
    };
    let lost = match last {
        _ if !is_last => String::new(),
        0 => "; what it held is lost".to_owned(),
        last => format!("; what came after record {last} is lost"),
    };
    format!("{name} is damaged: {recovered}{lost}")
}

fn records(from: u64, to: u64) -> String {
    if from == to { format!("record {from}") } else { format!("records {from} to {to}") }
}

fn are(from: u64, to: u64) -> String {
    let verb = if from == to { "is" } else { "are" };
    format!("{} {verb}", records(from, to))
}

/// Ascending numbers as runs without a gap: the first and the last of each.
fn runs(numbers: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

/// The first and last record to use, `(last + 1, last)` if there are none: the run that leads
/// furthest from the beginning or from a snapshot, and of those that lead as far the longest.
fn best_run(runs: &[(u64, u64)], throughs: &[u64]) -> (u64, u64) {
    let from = |through: u64| {
        // A run that goes on after the snapshot, or up to it.
        let joined = runs.iter().find(|(from, to)| *from <= through + 1 && through <= *to);
        joined.copied().unwrap_or((through + 1, through))
    };
    throughs
        .iter()
        .chain([&0])
        .map(|through| from(*through))
        .max_by_key(|&(first, last)| (last, std::cmp::Reverse(first)))
        .expect("there is always the beginning")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, since: u64, numbers: &[u64]) -> FoundSegment {
        let records = numbers.iter().map(|number| (*number, vec![since as u8])).collect();
        FoundSegment {
            name: name.to_owned(),
            since: Some(since),
            records,
            damaged: false,
            uncommitted: None,
        }
    }

    fn damaged(name: &str, since: u64, numbers: &[u64]) -> FoundSegment {
        FoundSegment { damaged: true, ..found(name, since, numbers) }
    }

    fn numbers(salvage: &Salvage) -> Vec<u64> {
        salvage.records.iter().map(|record| record.number).collect()
    }

    #[test]
    fn a_whole_journal_is_used_as_it_is() {
        let salvage = salvage(vec![found("a", 1, &[1, 2]), found("b", 3, &[3])], &[2]);
        assert_eq!((salvage.first, salvage.last), (1, 3));
        assert_eq!(numbers(&salvage), [1, 2, 3]);
        assert_eq!(salvage.lasts, [Some(2), Some(3)]);
        assert!(salvage.aside.is_empty() && salvage.rewrite.is_empty() && salvage.said.is_empty());
    }

    #[test]
    fn a_damaged_end_is_cut_off() {
        let salvage = salvage(vec![found("a", 1, &[1, 2]), damaged("b", 3, &[3, 5])], &[]);
        assert_eq!(numbers(&salvage), [1, 2, 3]);
        assert_eq!(salvage.aside, [1]);
        assert_eq!(salvage.rewrite, BTreeSet::from([3]));
        assert_eq!(
            salvage.said,
            [
                "b is damaged: recovered record 3; what came after record 3 is lost",
                "record 4 is missing, so record 5 is of no use and kept aside",
            ]
        );
    }

    #[test]
    fn a_snapshot_leads_over_a_gap() {
        let salvage = salvage(vec![damaged("a", 1, &[1, 3]), found("b", 5, &[5, 6])], &[2, 4]);
        assert_eq!((salvage.first, salvage.last), (5, 6));
        assert_eq!(salvage.aside, [0]);
        assert_eq!(salvage.said[0], "a is damaged: recovered no record of it");
    }

    #[test]
    fn a_snapshot_beyond_all_records_counts() {
        let salvage = salvage(vec![damaged("a", 1, &[1, 2])], &[9]);
        assert_eq!((salvage.first, salvage.last), (10, 9));
        assert!(salvage.records.is_empty());
        assert_eq!(salvage.aside, [0]);
    }

    #[test]
    fn later_segments_make_what_was_not_committed_void() {
        let salvage = salvage(vec![damaged("a", 1, &[1, 2, 3, 4]), found("b", 3, &[3])], &[]);
        assert_eq!(numbers(&salvage), [1, 2, 3]);
        assert_eq!(salvage.records[2].bytes, [3]);
        assert_eq!(salvage.said, ["a is damaged: recovered records 1 to 2"]);
    }

    #[test]
    fn nothing_is_told_by_a_last_of_nothing() {
        let salvage = salvage(vec![damaged("a", 1, &[2])], &[]);
        assert_eq!((salvage.first, salvage.last), (1, 0));
        assert!(salvage.records.is_empty());
    }
}
