//! The journal of a virtual coordinator, whose commits take time: what is durable survives its crashes.

use std::collections::BTreeMap;
use std::sync::Arc;

use jlpns_solve::{LeaseId, Record, Snapshot};

/// What is on the disk, and what is on its way there.
#[derive(Default)]
pub struct Disk {
    /// Durable records by their numbers; compaction takes the oldest away.
    records: BTreeMap<u64, Arc<Record>>,
    /// The leases whose reports are durable, or were before compaction.
    reports: BTreeMap<LeaseId, u64>,
    snapshots: Vec<Snapshot>,
    /// Ordered, and not in a commit yet.
    waiting: Vec<(u64, Arc<Record>)>,
    /// In the commit that is under way.
    committing: Vec<(u64, Arc<Record>)>,
}

impl Disk {
    /// Orders a record to be written; whether a commit must begin.
    pub fn order(&mut self, number: u64, record: Arc<Record>) -> bool {
        let last = self.waiting.last().or(self.committing.last()).map(|&(number, _)| number);
        let last = last.or(self.records.keys().next_back().copied());
        assert!(last.is_none_or(|last| number == last + 1), "records are numbered without gaps");
        self.waiting.push((number, record));
        self.committing.is_empty() && self.waiting.len() == 1
    }

    /// Begins a commit of all that waits.
    pub fn begin(&mut self) -> bool {
        if self.committing.is_empty() {
            self.committing = std::mem::take(&mut self.waiting);
        }
        !self.committing.is_empty()
    }

    /// Ends the commit; gives the last number that is durable, and whether another must begin.
    pub fn end(&mut self) -> (Option<u64>, bool) {
        let through = self.committing.last().map(|&(number, _)| number);
        for (number, record) in self.committing.drain(..) {
            if let Record::Report(report) = &*record {
                let before = self.reports.insert(report.lease, number);
                assert_eq!(before, None, "the report of {} is recorded twice", report.lease);
            }
            self.records.insert(number, record);
        }
        (through, !self.waiting.is_empty())
    }

    /// What was not durable is gone.
    pub fn crash(&mut self) {
        self.waiting.clear();
        self.committing.clear();
    }

    /// Whether the report of this lease was ordered to be written.
    pub fn is_under_way(&self, lease: LeaseId) -> bool {
        let of = |(_, record): &(u64, Arc<Record>)| matches!(&**record, Record::Report(report) if report.lease == lease);
        self.waiting.iter().chain(&self.committing).any(of)
    }

    /// How many reports have become durable.
    pub fn reports(&self) -> usize {
        self.reports.len()
    }

    /// Keeps a snapshot, and compacts: the last two stay, and the records after the older one.
    pub fn keep(&mut self, snapshot: Snapshot) {
        self.snapshots.push(snapshot);
        if let Some(older) = self.snapshots.len().checked_sub(2) {
            self.snapshots.drain(..older);
            self.records = self.records.split_off(&(self.snapshots[0].through + 1));
        }
    }

    /// What a coordinator finds when it starts: snapshots, newest first, and records.
    pub fn read(&self) -> (Vec<Snapshot>, Vec<(u64, Record)>) {
        let snapshots = self.snapshots.iter().rev().cloned();
        let records = self.records.iter().map(|(&number, record)| (number, (**record).clone()));
        (snapshots.collect(), records.collect())
    }
}
