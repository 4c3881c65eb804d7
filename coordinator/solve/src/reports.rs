//! From a report to its fold: a report is checked, recorded, and counts once its record is durable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jlpns_games::Move;
use jlpns_search::{Findings, Question};

use super::trust::Finding;
use super::{
    Action, LeaseId, NodeRef, Notice, Out, Purpose, Record, Refusal, Report, Solve, Subject,
    WorkerId, findings,
};

/// How many ranges of ended leases are remembered. They are given one after the other, and nearly
/// all of them end: there is a range more for each that does not.
const ENDED_RANGES: usize = 1 << 20;

/// A record that is not durable yet.
#[derive(Debug)]
pub(super) struct Unrecorded {
    /// Its number.
    pub number: u64,
    /// What is recorded.
    pub record: Arc<Record>,
    /// Who is to be told when it is durable.
    pub from: Option<(WorkerId, LeaseId)>,
    /// The node that is locked until then.
    pub node: Option<NodeRef>,
}

/// The leases that have ended with a report, as ranges: the first number of each, and the last.
#[derive(Debug, Default)]
pub(super) struct Ended(BTreeMap<u64, u64>);

impl Ended {
    pub fn contains(&self, LeaseId(lease): LeaseId) -> bool {
        self.0.range(..=lease).next_back().is_some_and(|(_, &last)| lease <= last)
    }

    pub fn insert(&mut self, LeaseId(lease): LeaseId) {
        self.insert_range(lease, lease);
    }

    /// Adds all leases from `first` to `last`.
    pub fn insert_range(&mut self, mut first: u64, mut last: u64) {
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

    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(&first, &last)| (first, last))
    }
}

impl Solve {
    /// The report that ends a lease. Refused or not it has arrived, and need not come again.
    pub(super) fn reported(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        subject: Option<Subject>,
        found: Findings,
        elapsed: Duration,
    ) -> Result<(), Refusal> {
        let outcome = self.take_in(worker, id, subject, found, elapsed);
        if !matches!(outcome, Ok(Taken::ToBeRecorded) | Err(Refusal::UnknownWorker(_))) {
            self.actions.push(Action::Acknowledge { worker, lease: id });
        }
        outcome.map(|_| ())
    }

    fn take_in(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        subject: Option<Subject>,
        found: Findings,
        elapsed: Duration,
    ) -> Result<Taken, Refusal> {
        let connected = self.scheduler.worker(worker).ok_or(Refusal::UnknownWorker(worker))?;
        let name = connected.info.name.clone();
        if self.ended.contains(id) {
            return Err(Refusal::Duplicate(id));
        }
        if self.recording.contains(&id) {
            // Whoever sent it last is told when it is durable.
            let of = |u: &&mut Unrecorded| u.from.is_some_and(|(_, lease)| lease == id);
            if let Some(waiting) = self.unrecorded.iter_mut().find(of) {
                waiting.from = Some((worker, id));
            }
            self.duplicates += 1;
            return Ok(Taken::ToBeRecorded);
        }
        let (purpose, moves, question, held) = match self.scheduler.find(worker, id) {
            Ok((lease, held)) => {
                (Some(lease.purpose), lease.job.moves.clone(), lease.job.question, held)
            }
            // Leased by this solve before it was started anew.
            Err(Refusal::UnknownLease(_)) if id.0 < self.first_lease && subject.is_some() => {
                let Subject { moves, question } = subject.expect("it is some");
                if !self.covers(question) || !self.tree.is_way(&moves) {
                    return Err(Refusal::ForeignSubject(id));
                }
                (None, moves, question, false)
            }
            Err(refusal) => return Err(refusal),
        };
        if let Err(refusal) = self.check(id, &moves, question, &found) {
            if held && let Some(lease) = self.scheduler.drop_lease(id) {
                match lease.purpose {
                    Purpose::Frontier(node) => self.put_back(node),
                    Purpose::Recheck(number) => self.trust.give_back(number, id),
                }
            }
            if self.trust.note_refused(&name) {
                self.found_out(name, false);
            }
            return Err(refusal);
        }
        self.scheduler.end(worker, id, found.nodes, elapsed, self.heard);
        let node = match purpose {
            Some(Purpose::Recheck(number)) => {
                self.ended.insert(id);
                self.note_work(found.nodes, elapsed);
                self.rechecked(number, id, &name, &found);
                return Ok(Taken::Done);
            }
            Some(Purpose::Frontier(node)) if held => Some(node),
            _ => None,
        };
        match node {
            Some(node) => {
                self.out.insert(node.id, (node.key, Out::Recording));
            }
            None if !self.is_news(&moves) => {
                self.ended.insert(id);
                self.note_work(found.nodes, elapsed);
                return Ok(Taken::Done);
            }
            None => {}
        }
        self.recording.insert(id);
        // One worker alone has searched everything.
        if self.scheduler.workers().nth(1).is_some() {
            self.affinity.note(&moves, worker);
        }
        let report = Report { worker: name, lease: id, moves, question, findings: found, elapsed };
        self.record(Record::Report(report), Some((worker, id)), node);
        Ok(Taken::ToBeRecorded)
    }

    /// Whether a late report about the position after `moves` can still tell something.
    fn is_news(&self, moves: &[Move]) -> bool {
        self.tree.locate(moves).is_some_and(|node| {
            self.tree.is_open(node) && self.waits_for(node) != Some(Out::Recording)
        })
    }

    /// Whether the tree holds numbers for the thresholds of a question.
    fn covers(&self, question: Question) -> bool {
        let (first, count) = question.thresholds();
        let (own_first, own_count) = self.tree.question().thresholds();
        let end = |first: u8, count: usize| usize::from(first) + count;
        first.0 >= own_first.0 && end(first.0, count) <= end(own_first.0, own_count)
    }

    pub(super) fn check(
        &self,
        id: LeaseId,
        moves: &[Move],
        question: Question,
        found: &Findings,
    ) -> Result<(), Refusal> {
        let legal = self.tree.legal_moves(moves);
        findings::check(found, question, &legal).map_err(|error| Refusal::BadFindings(id, error))
    }

    fn note_work(&mut self, nodes: u64, elapsed: Duration) {
        self.jobs += 1;
        self.nodes = self.nodes.saturating_add(nodes);
        self.search_time += elapsed;
    }

    /// Numbers a record, and has it written if there is a journal; it counts once it is durable.
    pub(super) fn record(
        &mut self,
        record: Record,
        from: Option<(WorkerId, LeaseId)>,
        node: Option<NodeRef>,
    ) {
        self.written += 1;
        let (number, record) = (self.written, Arc::new(record));
        self.unrecorded.push_back(Unrecorded { number, record: record.clone(), from, node });
        if self.settings.journal {
            self.actions.push(Action::Record { number, record });
        } else {
            self.recorded(number);
        }
    }

    /// Whether there are records that are not durable yet.
    pub fn waits_for_records(&self) -> bool {
        !self.unrecorded.is_empty()
    }

    /// The records up to `through` are durable: they count now.
    pub(super) fn recorded(&mut self, through: u64) {
        // What is built anew takes them up from the journal.
        while !self.rebuilding
            && self.unrecorded.front().is_some_and(|u| u.number <= through)
            && let Some(durable) = self.unrecorded.pop_front()
        {
            self.apply(durable.number, &durable.record, durable.node);
            if let Some((worker, lease)) = durable.from {
                self.actions.push(Action::Acknowledge { worker, lease });
            }
        }
    }

    /// Lets a record count: the one way into the tree, for reports of now and of long ago.
    pub(super) fn apply(&mut self, number: u64, record: &Record, node: Option<NodeRef>) {
        self.applied = number;
        match record {
            Record::Report(report) => {
                self.recording.remove(&report.lease);
                self.ended.insert(report.lease);
                if !self.trust.is_excluded(&report.worker, number) {
                    self.trust.note_report(number, report);
                    self.fold(report, node);
                }
            }
            Record::Split { moves } => self.split(moves),
            Record::Confirmed { worker, through } => {
                self.trust.confirm(worker, *through);
                self.settle_snapshots();
            }
            Record::Quarantined { worker, after } => {
                let believed = self.trust.of(worker).last_report > *after;
                self.trust.quarantine(worker, *after);
                self.dismiss(worker, self.heard);
                if believed {
                    self.rebuilding = true;
                    self.actions.push(Action::Rebuild);
                }
            }
        }
        // A fold gives its node back by itself, with one update of the tree for both.
        if let Some(node) = node {
            self.put_back(node);
        }
    }

    /// `node` is where it is known to belong, if that is known.
    fn fold(&mut self, report: &Report, node: Option<NodeRef>) {
        self.note_work(report.findings.nodes, report.elapsed);
        if report.moves.len() == self.settings.moves.len() {
            self.reported_best = report.findings.best_move;
        }
        let known = node.filter(|&node| self.tree.is_open(node));
        let Some(node) = known.or_else(|| self.tree.locate(&report.moves)) else { return };
        self.losses.clear(node);
        // A late report spares whoever has the job now the rest of the work.
        if self.tree.is_open(node) {
            self.release(node);
        }
        if !self.tree.fold(node, &report.moves, report.question, &report.findings) {
            self.without_room += 1;
        }
    }

    /// Expands a frontier node without knowing more about it.
    fn split(&mut self, moves: &[Move]) {
        let Some(node) = self.tree.locate(moves) else { return };
        let question = self.tree.question();
        let nothing = Findings {
            efforts: vec![jlpns_search::EffortPair::UNIT; question.thresholds().1],
            children: Vec::new(),
            nodes: 0,
            best_move: None,
        };
        self.tree.fold(node, moves, question, &nothing);
        let children = self.tree.child_keys(node);
        self.losses.mark_split(node, children);
    }

    /// What a worker found when it searched again what another one claims.
    fn rechecked(&mut self, number: u64, lease: LeaseId, name: &str, found: &Findings) {
        self.trust.give_back(number, lease);
        match self.trust.decide(number, name, found) {
            Finding::Open => {}
            Finding::Confirmed(claim) => {
                self.record(
                    Record::Confirmed { worker: claim.worker, through: number },
                    None,
                    None,
                );
            }
            Finding::Disputed { claim, against } => {
                let moves = self.move_names(&claim.moves);
                self.notify(Notice::Disputed { worker: claim.worker, against, moves });
            }
            Finding::Liar { worker, confirmed } => {
                if let Some(claim) = confirmed {
                    let record = Record::Confirmed { worker: claim.worker, through: number };
                    self.record(record, None, None);
                }
                self.found_out(worker, true);
            }
        }
    }

    /// A worker reports what is not true.
    fn found_out(&mut self, worker: String, contradicted: bool) {
        // Several of its claims may be decided before the verdict on the first is durable.
        let verdict = |waiting: &Unrecorded| matches!(&*waiting.record, Record::Quarantined { worker: of, .. } if *of == worker);
        if self.trust.is_quarantined(&worker) || self.unrecorded.iter().any(verdict) {
            return;
        }
        // Without rechecks nothing is ever confirmed: what was accepted stays.
        let after = if self.trust.rechecks() {
            self.trust.of(&worker).confirmed_through
        } else {
            self.written
        };
        self.notify(Notice::Quarantined { worker: worker.clone(), contradicted });
        self.record(Record::Quarantined { worker, after }, None, None);
    }
}

/// What became of a report that was not refused.
enum Taken {
    /// Its record is being written; it is acknowledged when that is durable.
    ToBeRecorded,
    /// Nothing is left to do.
    Done,
}
