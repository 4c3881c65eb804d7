//! From a report to its fold: a report is checked, recorded, and counts once its record is durable.

use std::sync::Arc;
use std::time::Duration;

use jlpns_games::{Move, Threshold};
use jlpns_search::{EffortPair, Findings, Question};

use crate::belief::{Claim, Finding, Keys, MachineId, Rechecker, ThresholdAt};
use crate::ledger::Unrecorded;
use crate::{
    Action, LeaseId, NodeRef, Notice, Out, Purpose, Record, Refusal, Report, Solve, Subject,
    WorkerId, findings,
};

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
        let machine = connected.machine;
        if self.ledger.has_ended(id) {
            return Err(Refusal::Duplicate(id));
        }
        if self.ledger.is_recording(id) {
            // Whoever sent it last is told when it is durable.
            self.ledger.answer_to(id, worker);
            self.duplicates += 1;
            return Ok(Taken::ToBeRecorded);
        }
        let told = match self.scheduler.find(worker, id) {
            Ok((lease, held)) => Told {
                purpose: Some(lease.purpose),
                moves: lease.job.moves.clone(),
                question: lease.job.question,
                budget: lease.job.budget,
                held,
            },
            // Leased by this solve before it was started anew: the seal shows that it was, and to
            // whom.
            Err(Refusal::UnknownLease(_)) if id.0 < self.first_lease && subject.is_some() => {
                let Subject { moves, question, budget, seal } = subject.expect("it is some");
                if seal != self.seal(id, machine, &moves, question, budget) {
                    return Err(Refusal::UnknownLease(id));
                }
                if !self.covers(question) || !self.tree.is_way(&moves) {
                    return Err(Refusal::ForeignSubject(id));
                }
                Told { purpose: None, moves, question, budget, held: false }
            }
            Err(refusal) => return Err(refusal),
        };
        let Told { purpose, moves, question, budget, held } = told;
        if let Err(refusal) = self.check(id, &moves, question, budget, &found) {
            if held && let Some(lease) = self.scheduler.drop_lease(id) {
                match lease.purpose {
                    Purpose::Frontier(node) => self.put_back(node),
                    Purpose::Recheck(number) => self.recheck_lost(number, id),
                }
            }
            return Err(self.note_refused(worker, refusal));
        }
        self.scheduler.end(worker, id, found.nodes, elapsed, self.heard);
        let node = match purpose {
            Some(Purpose::Recheck(number))
                if found.efforts.iter().all(|pair| !pair.is_solved()) =>
            {
                self.ledger.end(id);
                self.note_work(found.nodes, elapsed);
                self.recheck_used_up(number, Rechecker::Lease(id));
                return Ok(Taken::Done);
            }
            Some(Purpose::Recheck(number)) => {
                self.rechecking.insert(id, number);
                None
            }
            Some(Purpose::Frontier(node)) if held => Some(node),
            _ if !self.is_news(&moves) => {
                self.ledger.end(id);
                self.note_work(found.nodes, elapsed);
                return Ok(Taken::Done);
            }
            _ => None,
        };
        if let Some(node) = node {
            self.out.insert(node.id, (node.key, Out::Recording));
        }
        // One worker alone has searched everything.
        if self.scheduler.workers().nth(1).is_some() {
            self.affinity.note(&moves, worker);
        }
        let report = Report { machine, lease: id, moves, question, findings: found, elapsed };
        self.record(Record::Report(report), Some((worker, id)), node);
        Ok(Taken::ToBeRecorded)
    }

    /// Counts a report that cannot be what was found against its connection, which is ended when
    /// there are too many. A lease that is not known any more is nobody's fault.
    fn note_refused(&mut self, worker: WorkerId, refusal: Refusal) -> Refusal {
        if self.scheduler.note_refused(worker)
            && let Some(connected) = self.scheduler.worker(worker)
        {
            let name = connected.info.name.clone();
            self.notify(Notice::CutOff { worker: name.clone() });
            if self.left(worker, self.heard).is_ok() {
                let refused = Some(Refusal::TooManyRefused(name));
                self.actions.push(Action::Dismiss { worker, refused });
            }
        }
        refusal
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
        budget: u64,
        found: &Findings,
    ) -> Result<(), Refusal> {
        let legal = self.tree.legal_moves(moves);
        let checked = findings::check_count(found.nodes, budget)
            .and_then(|()| findings::check(found, question, &legal));
        checked.map_err(|error| Refusal::BadFindings(id, error))
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
        let record = Arc::new(record);
        let number = self.ledger.add(record.clone(), from, node);
        if self.settings.journal {
            self.actions.push(Action::Record { number, record });
        } else {
            self.recorded(number);
        }
    }

    /// Whether there are records that are not durable yet.
    pub fn waits_for_records(&self) -> bool {
        self.ledger.waits()
    }

    /// The records up to `through` are durable: they count now.
    pub(super) fn recorded(&mut self, through: u64) {
        while let Some(durable) = self.ledger.take_durable(through) {
            let Unrecorded { number, record, from, node } = durable;
            self.apply(number, &record, node);
            if let Some((worker, lease)) = from {
                self.actions.push(Action::Acknowledge { worker, lease });
            }
        }
    }

    /// Lets a record count: the one way into the tree, for reports of now and of long ago.
    pub(super) fn apply(&mut self, number: u64, record: &Record, node: Option<NodeRef>) {
        self.ledger.note_applied(number);
        match record {
            Record::Report(report) => {
                self.ledger.end(report.lease);
                if !self.belief.is_quarantined(report.machine) {
                    self.believe(number, report, node);
                }
                if let Some(recheck) = self.rechecking.remove(&report.lease) {
                    self.recheck_lost(recheck, report.lease);
                }
            }
            Record::Split { moves } => self.split(moves),
            Record::Machine { identity, name } => {
                self.belief.machines_mut().find_or_add(identity, name);
            }
            Record::Secret(secret) => self.secret = *secret,
            Record::TakenBack { at, moves } => self.take_back(*at, moves),
            Record::PutOut { machine } => {
                if self.belief.put_out(*machine) {
                    self.withdraw(&[*machine]);
                }
            }
            Record::Reinstated { machine } => self.belief.reinstate(*machine),
        }
        // A fold gives its node back by itself, with one update of the tree for both.
        if let Some(node) = node {
            self.put_back(node);
        }
    }

    /// Takes the claims of a report in, and folds it into the tree unless its machine is found out
    /// by them.
    fn believe(&mut self, number: u64, report: &Report, node: Option<NodeRef>) {
        let keys = self.tree.keys(&report.moves);
        let about = (&keys, &report.moves[..]);
        let first = report.question.thresholds().0;
        let found = self.belief.take_in(number, report.machine, about, first, &report.findings);
        self.note_confirmed(&keys);
        let mut put_out = Vec::new();
        for finding in found {
            match finding {
                Finding::Disputed { claimant, against, moves } => {
                    let (worker, against) =
                        (self.machine_name(claimant), self.machine_name(against));
                    let moves = self.move_names(&moves);
                    self.notify(Notice::Disputed { worker, against, moves });
                }
                Finding::FoundOut(machine) => put_out.push(machine),
            }
        }
        if !put_out.is_empty() {
            self.withdraw(&put_out);
        }
        if self.belief.is_quarantined(report.machine) {
            return self.note_work(report.findings.nodes, report.elapsed);
        }
        // What was withdrawn has taken the node with it.
        self.fold(report, node.filter(|_| put_out.is_empty()));
    }

    /// Notes what is confirmed by now of what the answer rests on, of the positions of a report: it
    /// may confirm what is claimed of their children as well.
    fn note_confirmed(&mut self, keys: &Keys) {
        if self.awaited.is_empty() {
            return;
        }
        let children = keys.children.iter().map(|(_, key)| *key);
        for key in children.chain([keys.position]) {
            let awaited: Vec<ThresholdAt> =
                self.awaited.range((key, 0)..=(key, u8::MAX)).copied().collect();
            for at in awaited {
                if self.belief.claims().get(at).is_some_and(Claim::is_confirmed) {
                    self.awaited.remove(&at);
                }
            }
        }
    }

    /// What machines have claimed does not count any more: the tree is grown anew without it, and
    /// they are let go.
    fn withdraw(&mut self, machines: &[MachineId]) {
        for &machine in machines {
            self.notify(Notice::Quarantined { worker: self.machine_name(machine) });
            self.dismiss(machine, self.heard);
        }
        self.regrow();
        self.notify(Notice::Regrown { claims: self.belief.claims().all().count() as u64 });
    }

    /// Grows the tree anew from the claims that count.
    fn regrow(&mut self) {
        self.call_off_everything();
        self.tree.regrow(self.belief.claims());
        self.belief.forget_answer();
        self.awaited.clear();
        self.basis = None;
    }

    /// Takes back a claim that is too large to be searched again at once: its position is expanded,
    /// and goes out in parts.
    fn take_back(&mut self, place: ThresholdAt, moves: &[Move]) {
        self.belief.take_back(place);
        self.regrow();
        if self.tree.locate(moves).is_some_and(|node| self.tree.is_open(node)) {
            self.split(moves);
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
        let (moves, question) = (&report.moves, report.question);
        let completed;
        let findings = if self.belief.has_withdrawn() {
            // What was freed when it was settled may be settled still.
            let claims = self.belief.claims();
            completed = self.tree.completed(claims, moves, question, &report.findings);
            &completed
        } else {
            &report.findings
        };
        if !self.tree.fold(node, moves, question, findings) {
            self.without_room += 1;
        }
    }

    /// Expands a frontier node without knowing more about it.
    fn split(&mut self, moves: &[Move]) {
        let Some(node) = self.tree.locate(moves) else { return };
        let question = self.tree.question();
        let nothing = Findings {
            efforts: vec![EffortPair::UNIT; question.thresholds().1],
            children: Vec::new(),
            nodes: 0,
            best_move: None,
        };
        self.tree.fold(node, moves, question, &nothing);
        self.belief.note_expanded(self.tree.keys(moves).position);
        let children = self.tree.child_keys(node);
        self.losses.mark_split(node, children);
    }

    /// The coordinator's own search has ended.
    pub(super) fn searched(&mut self, number: u64, found: Findings, elapsed: Duration) {
        let Some(recheck) = self.own_searches.remove(&number) else { return };
        let wanted = self.belief.rechecks().get(recheck);
        let Some((place, moves)) = wanted.map(|wanted| (wanted.place, wanted.moves.clone())) else {
            return;
        };
        if !found.efforts.iter().any(|pair| pair.is_solved()) {
            return self.recheck_used_up(recheck, Rechecker::Coordinator);
        }
        let lease = self.scheduler.reserve();
        self.rechecking.insert(lease, recheck);
        let report = Report {
            machine: MachineId::COORDINATOR,
            lease,
            moves,
            question: Question::Threshold(Threshold(place.1)),
            findings: found,
            elapsed,
        };
        self.record(Record::Report(report), None, None);
    }

    /// A recheck has ended without a result of its own, or with one that has been taken in.
    pub(super) fn recheck_lost(&mut self, number: u64, lease: LeaseId) {
        for by in [Rechecker::Lease(lease), Rechecker::Coordinator] {
            self.belief.recheck_given_back(number, by, false);
        }
    }

    /// A recheck has used up its budget without a result.
    fn recheck_used_up(&mut self, number: u64, by: Rechecker) {
        if let Some((at, moves)) = self.belief.recheck_given_back(number, by, true) {
            self.record(Record::TakenBack { at, moves }, None, None);
        }
    }

    /// The name of a machine, for people.
    fn machine_name(&self, machine: MachineId) -> String {
        self.belief.machines().of(machine).name.clone()
    }
}

/// What a report is about.
struct Told {
    purpose: Option<Purpose>,
    moves: Vec<Move>,
    question: Question,
    budget: u64,
    held: bool,
}

/// What became of a report that was not refused.
enum Taken {
    /// Its record is being written; it is acknowledged when that is durable.
    ToBeRecorded,
    /// Nothing is left to do.
    Done,
}
