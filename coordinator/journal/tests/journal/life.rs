//! Random lives of a journal against a model.

use jlpns_journal::{JournalError, Snapshot};
use proptest::prelude::*;

use crate::stage::{directory, files, open_whole, record, records};

/// Something that happens to a journal.
#[derive(Clone, Debug)]
enum Happening {
    /// So many records are appended in one commit.
    Append(u64),
    /// A snapshot is taken, so many records before the last.
    Snapshot { behind: u64, settled: bool },
    /// The journal is closed and opened again.
    Reopen,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => (0..12_u64).prop_map(Happening::Append),
        2 => (0..15_u64, any::<bool>())
            .prop_map(|(behind, settled)| Happening::Snapshot { behind, settled }),
        2 => Just(Happening::Reopen),
    ]
}

/// What the journal must keep.
#[derive(Default)]
struct Model {
    last: u64,
    /// In the order in which they were taken.
    snapshots: Vec<Snapshot>,
}

impl Model {
    /// The snapshots that must be there, newest first: two settled ones, and before those two
    /// unsettled ones.
    fn kept(&self) -> Vec<Snapshot> {
        let mut newest_first: Vec<Snapshot> = self.snapshots.iter().rev().cloned().collect();
        // A stable sort: of two through the same record the later one comes first.
        newest_first.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.through));
        let first_settled =
            newest_first.iter().position(|it| it.settled).unwrap_or(newest_first.len());
        let (unsettled, older) = newest_first.split_at(first_settled);
        let settled = older.iter().filter(|it| it.settled).take(2);
        unsettled.iter().take(2).chain(settled).cloned().collect()
    }

    /// Records after this number must be there.
    fn base(&self) -> u64 {
        self.kept().iter().filter(|it| it.settled).nth(1).map_or(0, |it| it.through)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_journal_keeps_what_it_must(
        happenings in prop::collection::vec(happening(), 1..24),
    ) {
        let (_parent, directory) = directory();
        let mut model = Model::default();
        let mut opened = open_whole(&directory);
        prop_assert!(!opened.resumed);
        for happening in happenings.into_iter().chain([Happening::Reopen]) {
            match happening {
                Happening::Append(count) => {
                    let records = records(model.last + 1..=model.last + count);
                    opened.journal.append(&records).expect("appended");
                    model.last += count;
                }
                Happening::Snapshot { behind, settled } => {
                    let through = model.last.saturating_sub(behind);
                    let bytes = vec![model.snapshots.len() as u8; 1000];
                    opened.journal.snapshot(through, settled, &bytes).expect("a snapshot");
                    model.snapshots.push(Snapshot { through, settled, bytes });
                    // What compaction dropped stays dropped, whatever comes.
                    let kept = model.kept();
                    model.snapshots.retain(|it| kept.contains(it));
                }
                Happening::Reopen => {
                    drop(opened);
                    opened = open_whole(&directory);
                    prop_assert!(opened.resumed);
                    prop_assert_eq!(opened.journal.last(), model.last);
                    prop_assert_eq!(&opened.snapshots, &model.kept());
                    let first = opened.records.first().map_or(model.last + 1, |it| it.number);
                    prop_assert!(first <= model.base() + 1);
                    prop_assert_eq!(&opened.records, &records(first..=model.last));
                }
            }
        }
        prop_assert!(!files(&directory).iter().any(|name| name.contains(".new")));
    }
}

/// Four rounds of records and a snapshot; after the second somebody else deletes these files. What is left then is the same.
fn compacts(gone: &[&str]) {
    let (_parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    for round in 1..=4 {
        journal.append(&records(round * 10 - 9..=round * 10)).expect("appended");
        journal.snapshot(round * 10, true, b"all").expect("a snapshot");
        if round == 2 {
            for name in gone {
                std::fs::remove_file(directory.join(name)).expect("it was there");
            }
        }
    }
    assert_eq!(
        files(&directory),
        ["records-000007.redb", "snapshot-000006", "snapshot-000008", "solve.json"]
    );
}

#[test]
fn compaction_deletes_old_files() {
    compacts(&[]);
}

/// A process that was superseded may have deleted it, or a person in need of room.
#[test]
fn an_old_file_that_is_gone_already_does_not_stop_compaction() {
    compacts(&["snapshot-000002", "records-000003.redb"]);
}

#[test]
fn what_does_not_follow_is_refused() {
    let (_parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    journal.append(&records(1..=3)).expect("appended");
    let refused = |result: Result<(), JournalError>| result.expect_err("refused").to_string();
    assert_eq!(
        refused(journal.append(&[record(4), record(6)])),
        "cannot add record 6 as record 5 to a journal whose last record is 3"
    );
    assert_eq!(
        refused(journal.snapshot(4, true, b"")),
        "cannot add a snapshot through record 4 to a journal whose last record is 3"
    );
    journal.append(&[record(4)]).expect("appended");
    drop(journal);
    assert_eq!(open_whole(&directory).records, records(1..=4));
}
