//! From a report to its fold: a report is checked, recorded, and counts once its record is durable.

use std::time::Duration;

use jlpns_games::Move;
use jlpns_search::{Algorithm, EffortPair, Findings, Question};

use crate::belief::{Judgement, Keys, MachineId, NoResult, Rechecker, ThresholdAt, Word};
use crate::examine::Sound;
use crate::ledger::{About, Unrecorded};
use crate::out::Out;
use crate::scheduler::Purpose;
use crate::top_level::NodeRef;
use crate::{
    Action, Examined, FindingsError, LeaseId, Notice, Record, Refusal, Report, Solve, Subject,
    Tidings, WorkerId, findings,
};

impl Solve {
    /// The report that ends a lease. Refused or not it has arrived, and need not come again.
    pub(super) fn reported(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        arrived: Arrived,
    ) -> Result<(), Refusal> {
        let outcome = self.take_in(worker, id, arrived);
        // While the report of a lease waits to be durable, nobody is told that it arrived.
        if !matches!(outcome, Ok(Taken::ToBeRecorded) | Err(Refusal::UnknownWorker(_)))
            && !self.ledger.is_recording(id)
        {
            self.actions.push(Action::Acknowledge { worker, lease: id });
        }
        outcome.map(|_| ())
    }

    /// Whether a report by this worker would be looked into: its lease was granted to the worker's machine, in this
    /// life of the solve or in an earlier one, and no report about it has come before.
    pub fn awaits_report(&self, worker: WorkerId, id: LeaseId, subject: &Subject) -> bool {
        let Some(connected) = self.dispatch.scheduler.worker(worker) else { return false };
        if self.ledger.has_ended(id) || self.ledger.is_recording(id) {
            return false;
        }
        match self.dispatch.scheduler.find(worker, id) {
            Ok(_) => true,
            Err(Refusal::UnknownLease(_)) => self.is_sealed(id, connected.machine, subject),
            Err(_) => false,
        }
    }

    /// Whether a lease was granted to a machine in an earlier life of this solve, for what its report says that it
    /// is about: the seal shows it.
    fn is_sealed(&self, id: LeaseId, machine: MachineId, subject: &Subject) -> bool {
        let Subject { moves, question, budget, seal } = subject;
        let seals = &self.dispatch.seals;
        seals.is_of_an_earlier_life(id)
            && *seal == seals.seal(id, machine, moves, *question, *budget)
    }

    fn take_in(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        arrived: Arrived,
    ) -> Result<Taken, Refusal> {
        let Arrived { subject, examined, findings: found, elapsed, hearsay } = arrived;
        let connected =
            self.dispatch.scheduler.worker(worker).ok_or(Refusal::UnknownWorker(worker))?;
        let machine = connected.machine;
        if self.ledger.has_ended(id) {
            return Err(Refusal::Duplicate(id));
        }
        if self.ledger.is_recording(id) {
            // The worker that sent it last is told when it is durable, if it is on the same machine.
            if !self.ledger.answer_to(id, worker, machine) {
                return Err(Refusal::NotTheHolder(worker, id));
            }
            self.tally.duplicates += 1;
            return Ok(Taken::ToBeRecorded);
        }
        let told = match self.dispatch.scheduler.find(worker, id) {
            Ok((lease, held)) => Told {
                purpose: Some(lease.purpose),
                moves: lease.job.moves.clone(),
                question: lease.job.question,
                budget: lease.job.budget,
                prove: lease.job.prove,
                alone: lease.job.alone,
                sub_search: Some(lease.job.sub_search),
                held,
            },
            // Leased by this solve before it was started anew.
            Err(Refusal::UnknownLease(_))
                if subject.as_ref().is_some_and(|about| self.is_sealed(id, machine, about)) =>
            {
                let Subject { moves, question, budget, .. } = subject.expect("it is some");
                if !self.problem.covers(question) || !self.tree.is_way(&moves) {
                    return Err(Refusal::ForeignSubject(id));
                }
                Told {
                    purpose: None,
                    moves,
                    question,
                    budget,
                    prove: false,
                    alone: false,
                    sub_search: None,
                    held: false,
                }
            }
            Err(refusal) => return Err(refusal),
        };
        let Told { purpose, moves, question, budget, prove, alone, sub_search, held } = told;
        let examined = examined.filter(|examined| examined.is_about(&moves, question));
        let solved = found.efforts.iter().any(|pair| pair.is_solved());
        let checked = self.check(&moves, question, budget, &found, examined);
        let checked = checked.and_then(|sound| match sound.proof {
            None if prove && solved => Err(FindingsError::NoCertificate),
            None if alone && hearsay => Err(FindingsError::Hearsay),
            _ => Ok(sound),
        });
        let Sound { keys, proof } = match checked {
            Ok(sound) => sound,
            Err(error) => {
                if held {
                    self.end_with_a_bad_report(id);
                }
                return Err(self.note_refused(worker, Refusal::BadFindings(id, error)));
            }
        };
        self.dispatch.scheduler.end(worker, id, found.nodes, elapsed, self.heard);
        if let (Some(sub_search), Some(Purpose::Frontier(_))) = (sub_search, purpose) {
            let has_settled = question.is_answered(&found.efforts);
            self.portfolio.note_done((worker, id), sub_search, found.nodes, has_settled);
        }
        let node = match purpose {
            Some(Purpose::Recheck(number)) if !solved => {
                self.ledger.end(id);
                self.tally.note_work(found.nodes, elapsed);
                self.recheck_ended(number, Rechecker::Lease(id), NoResult::UsedUp);
                return Ok(Taken::Done);
            }
            Some(Purpose::Recheck(_)) => None,
            Some(Purpose::Frontier(node)) if held => Some(node),
            _ if proof.is_none() && !self.is_news(&moves) => {
                self.ledger.end(id);
                self.tally.note_work(found.nodes, elapsed);
                return Ok(Taken::Done);
            }
            _ => None,
        };
        let dispatch = &mut self.dispatch;
        if let Some(node) = node {
            dispatch.await_record(id, node, &mut self.actions);
        }
        // One worker alone has searched everything.
        if dispatch.scheduler.workers().nth(1).is_some() {
            dispatch.affinity.note(&moves, worker);
        }
        let at = self.tally.earlier_time + self.heard;
        let (lease, findings) = (id, found);
        let report =
            Report { machine, lease, moves, question, findings, hearsay, elapsed, at, proof };
        let about = About { node, keys: Some(keys) };
        let report = Record::Report(report);
        self.ledger.add(report, Some((worker, id)), about, &mut self.actions);
        Ok(Taken::ToBeRecorded)
    }

    /// Ends a lease whose report cannot be what was found: its job goes out again.
    fn end_with_a_bad_report(&mut self, id: LeaseId) {
        match self.dispatch.scheduler.drop_lease(id).map(|lease| lease.purpose) {
            Some(Purpose::Frontier(node)) => {
                self.dispatch.end_without_report(id, node, &mut *self.tree);
            }
            Some(Purpose::Recheck(number)) => self.recheck_lost(number, id),
            None => {}
        }
    }

    /// Whether a late report about the position after `moves` can still tell something.
    fn is_news(&self, moves: &[Move]) -> bool {
        self.tree.locate(moves).is_some_and(|node| {
            self.tree.is_open(node) && self.dispatch.out.waits_for(node) != Some(Out::Recording)
        })
    }

    /// Checks that a report, or a partial one, has the form of effort numbers for its question;
    /// gives what it is about. What was examined for the same job need not be again.
    pub(super) fn check(
        &self,
        moves: &[Move],
        question: Question,
        budget: u64,
        found: &Findings,
        examined: Option<Examined>,
    ) -> Result<Sound, FindingsError> {
        findings::check_count(found.nodes, budget)?;
        examined
            .or_else(|| self.problem.examiner.examine(moves, question, found))
            .expect("leases are on positions that the tree has reached by legal moves")
            .sound()
    }

    /// Numbers a record, and has it written if there is a journal; it counts once it is durable.
    pub(super) fn record(&mut self, record: Record) {
        self.ledger.add(record, None, About::default(), &mut self.actions);
    }

    /// The same of a record about a node, which is locked until then.
    pub(super) fn record_about(&mut self, node: NodeRef, record: Record) {
        let about = About { node: Some(node), keys: None };
        self.ledger.add(record, None, about, &mut self.actions);
    }

    /// Whether there are records that are not durable yet.
    pub fn waits_for_records(&self) -> bool {
        self.ledger.waits()
    }

    /// Lets records count that are durable by now, `most` at the most, unless a snapshot is being
    /// made.
    pub(super) fn apply_durable(&mut self, most: usize) {
        let mut left = most;
        while left > 0
            && !self.snapshots.is_making_one()
            && let Some(durable) = self.ledger.take_durable()
        {
            left -= 1;
            let Unrecorded { number, record, from, about } = durable;
            self.apply(number, &record, about);
            if let Some((worker, lease)) = from {
                self.actions.push(Action::Acknowledge { worker, lease });
            }
        }
    }

    /// Lets a record count: the one way into the tree, for reports of now and of long ago.
    pub(super) fn apply(&mut self, number: u64, record: &Record, about: About) {
        let About { node, keys } = about;
        self.ledger.note_applied(number);
        match record {
            Record::Report(report) => {
                self.ledger.end(report.lease);
                // A record about a position that no legal moves lead to is of other rules, and does
                // not count.
                let keys = keys.or_else(|| self.problem.examiner.keys(&report.moves));
                if let Some(keys) = keys.filter(|_| !self.belief.is_quarantined(report.machine)) {
                    self.believe(number, report, node, keys);
                }
                self.belief.recheck_reported(report.lease);
            }
            Record::Split { moves } => self.split(moves),
            Record::Machine { identity, name } => {
                self.belief.machines_mut().find_or_add(identity, name);
            }
            Record::Secret(secret) => self.dispatch.seals.secret = *secret,
            Record::TakenBack { at, moves } => self.take_back(*at, moves),
            Record::PutOut { machine } => {
                if self.belief.put_out(*machine) {
                    self.withdraw(&[*machine]);
                }
            }
            Record::Reinstated { machine } => self.belief.reinstate(*machine),
        }
        self.leave_memory_to_claims();
        // A fold gives its node back by itself, with one update of the tree for both.
        if let Some(node) = node {
            self.dispatch.put_back(node, &mut *self.tree);
        }
    }

    /// Keeps the tree to the memory that claims and expanded positions leave. Twice what they take is
    /// left to them: they go on growing when the tree is full, and a full tree cannot shrink.
    pub(crate) fn leave_memory_to_claims(&mut self) {
        self.tree.note_held_beside(2 * self.belief.claims().bytes());
    }

    /// Takes the claims of a report in, and folds it into the tree unless its machine is found out
    /// by them.
    fn believe(&mut self, number: u64, report: &Report, node: Option<NodeRef>, keys: Keys) {
        self.tally.time = self.tally.time.max(report.at);
        let about = (&keys, &report.moves[..]);
        let first = report.question.thresholds().0;
        let by = match report.proof {
            // A certificate needs nobody's word.
            Some(_) => Word::Proof,
            None if report.hearsay => Word::Hearsay(report.machine),
            None => Word::Of(report.machine),
        };
        let found = self.belief.take_in(number, by, about, first, &report.findings);
        self.belief.note_confirmed(&keys);
        let (mut found_out, mut taken_back, mut misled) = (Vec::new(), false, false);
        for finding in found {
            match finding {
                Judgement::Disputed { claimant, against, moves } => {
                    let (worker, against) =
                        (self.machine_name(claimant), self.machine_name(against));
                    let moves = self.problem.move_names(&moves);
                    self.notify(Notice::Disputed { worker, against, moves });
                }
                Judgement::FoundOut(machine) => found_out.push(machine),
                Judgement::TakenBack => taken_back = true,
                Judgement::Misled => misled = true,
            }
        }
        if let Some(positions) = self.tree.positions() {
            positions.note_searched(keys.position, &report.findings, report.elapsed);
        }
        let has_withdrawn = !found_out.is_empty() || taken_back;
        if !found_out.is_empty() {
            self.withdraw(&found_out);
        } else if taken_back {
            self.regrow();
        }
        if misled {
            self.end_sharing();
        }
        // What contradicts a claim and is nobody's word must not come into the tree either: its job goes out again.
        let is_dropped = misled && matches!(by, Word::Hearsay(_));
        if is_dropped || self.belief.is_quarantined(report.machine) {
            return self.tally.note_work(report.findings.nodes, report.elapsed);
        }
        // What was withdrawn has taken the node with it.
        self.fold(report, node.filter(|_| !has_withdrawn));
        self.look_at_position(keys.position);
        keys.children.iter().for_each(|&(_, key)| self.look_at_position(key));
    }

    /// What machines have claimed does not count any more: the tree is grown anew without it, and
    /// they are let go.
    fn withdraw(&mut self, machines: &[MachineId]) {
        for &machine in machines {
            self.notify(Notice::Quarantined { worker: self.machine_name(machine) });
            let (identity, name) =
                (self.belief.machines().of(machine).identity.clone(), self.machine_name(machine));
            self.actions.push(Action::Tidings(Tidings::FoundOut { identity, name }));
            self.dismiss(machine, self.heard);
        }
        // They may have told others what is not true.
        self.end_sharing();
        self.regrow();
        self.notify(Notice::Regrown { claims: self.belief.claims().all().count() as u64 });
    }

    /// Grows the tree anew from the claims that count.
    fn regrow(&mut self) {
        self.dispatch.call_off_everything(&mut *self.tree, &mut self.actions);
        self.ledger.forget_nodes();
        self.tree.regrow(self.belief.claims());
        self.belief.forget_answer();
        self.look_at_all_positions();
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
        self.tally.note_work(report.findings.nodes, report.elapsed);
        if report.moves.len() == self.problem.settings.moves.len() {
            self.tally.reported_most_proving = report.findings.most_proving_move;
        }
        let known = node.filter(|&node| self.tree.is_open(node));
        let Some(node) = known.or_else(|| self.tree.locate(&report.moves)) else { return };
        self.dispatch.losses.clear(node);
        // A late report makes the search of the worker that has the job now superfluous.
        if self.tree.is_open(node) {
            self.dispatch.release(node, &mut *self.tree, &mut self.actions);
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
            self.tally.without_room += 1;
        }
    }

    /// Expands a frontier node without knowing more about it.
    fn split(&mut self, moves: &[Move]) {
        let Some(node) = self.tree.locate(moves) else { return };
        let question = self.problem.question;
        let nothing = Findings {
            efforts: vec![EffortPair::UNIT; question.thresholds().1],
            children: Vec::new(),
            nodes: 0,
            most_proving_move: None,
        };
        self.tree.fold(node, moves, question, &nothing);
        self.belief.note_expanded(node.key);
        self.look_at_position(node.key);
        let children = self.tree.child_keys(node);
        self.dispatch.losses.mark_split(node, children);
    }

    /// The name of a machine, for people.
    fn machine_name(&self, machine: MachineId) -> String {
        self.belief.machines().of(machine).name.clone()
    }
}

/// A report as it comes in.
pub(super) struct Arrived {
    pub subject: Option<Subject>,
    pub examined: Option<Examined>,
    pub findings: Findings,
    pub elapsed: Duration,
    pub hearsay: bool,
}

/// What a report is about.
struct Told {
    purpose: Option<Purpose>,
    moves: Vec<Move>,
    question: Question,
    budget: u64,
    /// Whether a certificate is wanted.
    prove: bool,
    /// Whether it was to be searched alone.
    alone: bool,
    /// What its job ran, if that is known.
    sub_search: Option<Algorithm>,
    held: bool,
}

/// What became of a report that was not refused.
enum Taken {
    /// Its record is being written; it is acknowledged when that is durable.
    ToBeRecorded,
    /// Nothing is left to do.
    Done,
}
