//! What is written of a solve: records that are on their way to the journal, those that count, and
//! the leases that have ended with them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::belief::{Keys, MachineId};
use crate::top_level::NodeRef;
use crate::{Action, LeaseId, Record, WorkerId};

/// How many ranges of ended leases are remembered. They are given one after the other, and nearly
/// all of them end: there is a range more for each that does not.
const ENDED_RANGES: usize = 1 << 20;

/// A record that is not durable yet.
#[derive(Debug)]
pub struct Unrecorded {
    /// Its number.
    pub number: u64,
    /// What is recorded.
    pub record: Arc<Record>,
    /// Who is to be told when it is durable.
    pub from: Option<(WorkerId, LeaseId)>,
    /// What it is about.
    pub about: About,
}

/// What a record is about, as far as that is known when it is made.
#[derive(Debug, Default)]
pub struct About {
    /// The node, which is locked until the record counts.
    pub node: Option<NodeRef>,
    /// The keys of the positions of a report.
    pub keys: Option<Keys>,
}

/// The records of a solve. The number of the last one made is never below that of the last one that
/// is durable, nor that below the last one that counts.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Whether records are written: without a journal each is as good as durable.
    journal: bool,
    /// Why records cannot be written at present.
    halted: Option<String>,
    /// The number of the last record made.
    written: u64,
    /// The number of the last record that is durable.
    durable: u64,
    /// The number of the last record that counts.
    applied: u64,
    unrecorded: VecDeque<Unrecorded>,
    /// Leases whose report waits to be durable.
    recording: BTreeSet<LeaseId>,
    ended: EndedLeases,
    /// The number of the last record of the last snapshot.
    snapshot: u64,
}

impl Ledger {
    /// One without records, with or without a journal.
    pub fn new(journal: bool) -> Ledger {
        Ledger { journal, ..Ledger::default() }
    }

    /// One that goes on after a snapshot.
    pub fn after(
        journal: bool,
        through: u64,
        ended: impl IntoIterator<Item = (u64, u64)>,
    ) -> Ledger {
        let mut ledger = Ledger {
            written: through,
            durable: through,
            applied: through,
            snapshot: through,
            ..Ledger::new(journal)
        };
        ended.into_iter().for_each(|(first, last)| ledger.ended.insert_range(first, last));
        ledger
    }

    /// The number of the last record made.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The number of the last record that counts.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Notes that a snapshot stands for all that counts.
    pub fn note_snapshot(&mut self) {
        self.snapshot = self.applied;
    }

    /// Numbers a record, and has it written if there is a journal. `from` is told when it is
    /// durable.
    pub fn add(
        &mut self,
        record: Record,
        from: Option<(WorkerId, LeaseId)>,
        about: About,
        actions: &mut Vec<Action>,
    ) {
        self.written += 1;
        let (number, record) = (self.written, Arc::new(record));
        self.recording.extend(from.map(|(_, lease)| lease));
        self.unrecorded.push_back(Unrecorded { number, record: record.clone(), from, about });
        if self.journal {
            actions.push(Action::Record { number, record });
        } else {
            self.durable = number;
        }
    }

    /// Notes that the records up to `through` are durable.
    pub fn note_durable(&mut self, through: u64) {
        self.durable = self.durable.max(through);
    }

    /// The next record that is durable: it counts now.
    pub fn take_durable(&mut self) -> Option<Unrecorded> {
        self.unrecorded.front().filter(|waiting| waiting.number <= self.durable)?;
        self.unrecorded.pop_front()
    }

    /// Notes why records cannot be written at present, or that they can again.
    pub fn halt(&mut self, reason: Option<String>) {
        self.halted = reason;
    }

    /// Why records cannot be written at present.
    pub fn why_halted(&self) -> Option<&str> {
        self.halted.as_deref()
    }

    /// Whether records cannot be written at present: nothing may go out.
    pub fn is_halted(&self) -> bool {
        self.halted.is_some()
    }

    /// Notes that a record counts.
    pub fn note_applied(&mut self, number: u64) {
        self.applied = number;
        self.durable = self.durable.max(number);
        self.written = self.written.max(number);
    }

    /// Whether records that are durable wait to count.
    pub fn has_durable(&self) -> bool {
        self.unrecorded.front().is_some_and(|waiting| waiting.number <= self.durable)
    }

    /// How many records are durable and count; `None` without a journal.
    pub fn durable_records(&self) -> Option<u64> {
        self.journal.then_some(self.applied)
    }

    /// Whether a snapshot is due, when one is made after at least so many records.
    pub fn is_snapshot_due(&self, records: u64) -> bool {
        self.journal && self.applied - self.snapshot >= records.max(1)
    }

    /// Whether records wait to be durable.
    pub fn waits(&self) -> bool {
        !self.unrecorded.is_empty()
    }

    /// Notes that a lease has ended with a report.
    pub fn end(&mut self, lease: LeaseId) {
        self.recording.remove(&lease);
        self.ended.insert(lease);
    }

    /// Whether a lease has ended with a report that counts, or that tells nothing new.
    pub fn has_ended(&self, lease: LeaseId) -> bool {
        self.ended.contains(lease)
    }

    /// Whether the report of a lease waits to be durable.
    pub fn is_recording(&self, lease: LeaseId) -> bool {
        self.recording.contains(&lease)
    }

    /// Has `worker`, on the machine that made it, told when the report of a lease is durable. `false` if
    /// it is of another machine.
    pub fn answer_to(&mut self, lease: LeaseId, worker: WorkerId, machine: MachineId) -> bool {
        let of = |waiting: &&mut Unrecorded| match &*waiting.record {
            Record::Report(report) => report.lease == lease && report.machine == machine,
            _ => false,
        };
        let found = self.unrecorded.iter_mut().find(of);
        let is_its_own = found.is_some();
        if let Some(waiting) = found {
            waiting.from = Some((worker, lease));
        }
        is_its_own
    }

    /// The nodes that are locked until a record is durable are gone.
    pub fn forget_nodes(&mut self) {
        self.unrecorded.iter_mut().for_each(|waiting| waiting.about.node = None);
    }

    /// The leases that have ended, as ranges.
    pub fn ended(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ended.0.iter().map(|(&first, &last)| (first, last))
    }
}

/// The leases that have ended with a report, as ranges: the first number of each, and the last.
#[derive(Debug, Default)]
struct EndedLeases(BTreeMap<u64, u64>);

impl EndedLeases {
    fn contains(&self, LeaseId(lease): LeaseId) -> bool {
        self.0.range(..=lease).next_back().is_some_and(|(_, &last)| lease <= last)
    }

    fn insert(&mut self, LeaseId(lease): LeaseId) {
        self.insert_range(lease, lease);
    }

    /// Adds all leases from `first` to `last`.
    fn insert_range(&mut self, mut first: u64, mut last: u64) {
        // Ranges that touch become one.
        while let Some((&start, &end)) = self.0.range(..=last.saturating_add(1)).next_back()
            && end.saturating_add(1) >= first
        {
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
        }
        self.0.insert(first, last);
        if self.0.len() > ENDED_RANGES
            && let (Some((oldest, _)), Some((_, end))) = (self.0.pop_first(), self.0.pop_first())
        {
            // A report that comes that late tells nothing new.
            self.0.insert(oldest, end);
        }
    }
}
