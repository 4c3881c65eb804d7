//! Whether a journal holds what was promised.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use jlpns_coordinator::written::{record_from_bytes, snapshot_from_bytes};
use jlpns_journal::{Header, Journal};
use jlpns_solve::{Record, Snapshot, Solve, SolveSettings};

use super::ledger::Book;

/// What a journal holds.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The leases of the reports in its records.
    pub leases: BTreeSet<u64>,
    /// The leases whose reports its snapshots stand for, as ranges, the last of each included.
    pub ended: Vec<(u64, u64)>,
    /// The nodes of all reports together.
    pub nodes: u64,
    /// What had to be repaired when it was opened.
    pub repairs: Vec<String>,
    /// The workers that it says are quarantined.
    pub quarantined: Vec<String>,
}

/// Reads the journal of a solve of the value of `spec` with the usual settings. Nobody may have it
/// open.
///
/// # Panics
///
/// If it cannot be read, or if a report is in it twice.
pub fn audit(directory: &Path, spec: &str) -> Audit {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let facts = vec![
        fact("game", spec),
        fact("moves", "none"),
        fact("goal", "the value"),
        fact("store", "graph"),
        fact("initialisation", "mobility"),
        fact("knowledge", "false"),
    ];
    let header = Header { solve_id: "audit".to_owned(), facts };
    let opened = Journal::open(directory, &header).unwrap_or_else(|error| panic!("{error}"));
    let mut audit = Audit { repairs: opened.repairs, ..Audit::default() };
    // What came before the first record is in a snapshot.
    let first = opened.records.first().map_or(1, |record| record.number);
    let mut records = Vec::new();
    for (number, record) in (first..).zip(opened.records) {
        assert_eq!(record.number, number, "records are numbered without a gap");
        let read = record_from_bytes(&record.bytes).unwrap_or_else(|error| panic!("{error}"));
        if let Record::Report(report) = &read {
            let lease = report.lease.0;
            assert!(audit.leases.insert(lease), "lease {lease} is in the journal twice");
        }
        records.push((number, read));
    }
    let snapshot = |kept: jlpns_journal::Snapshot| {
        snapshot_from_bytes(kept.through, &kept.bytes).unwrap_or_else(|error| panic!("{error}"))
    };
    let snapshots: Vec<Snapshot> = opened.snapshots.into_iter().map(snapshot).collect();
    // What a snapshot stands for need not be kept otherwise.
    audit.ended = snapshots.iter().flat_map(|snapshot| snapshot.ended.iter().copied()).collect();
    let spec = spec.parse().expect("a spec");
    let settings = SolveSettings { knowledge: false, ..SolveSettings::new(spec) };
    let solve = Solve::resume(settings, 0, snapshots, records).expect("it can be taken up");
    let status = solve.status(Duration::ZERO);
    (audit.nodes, audit.quarantined) = (status.nodes, status.quarantined);
    audit
}

impl Audit {
    /// Checks that every report that had to be recorded is here.
    ///
    /// # Panics
    ///
    /// If one is not.
    pub fn keeps(&self, book: &Book) {
        let in_snapshot =
            |lease: u64| self.ended.iter().any(|&(first, last)| (first..=last).contains(&lease));
        let promised = book.promised();
        let unrecorded = promised.difference(&self.leases);
        let lost = unrecorded.filter(|&&lease| !in_snapshot(lease));
        let lost: Vec<_> = lost.map(|&lease| book.entry(lease)).collect();
        assert!(lost.is_empty(), "acknowledged, but not in the journal: {lost:#?}");
    }
}
