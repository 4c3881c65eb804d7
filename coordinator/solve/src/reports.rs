//! From a report to its record: a report is checked and recorded. It counts once that is durable (`folding`).

use std::time::Duration;

use jlpns_games::Move;
use jlpns_search::{Algorithm, Findings, Question};

use crate::belief::{MachineId, NoResult, Rechecker};
use crate::examine::Sound;
use crate::ledger::About;
use crate::out::Out;
use crate::scheduler::Purpose;
use crate::top_level::NodeRef;
use crate::{
    Action, Examined, FindingsError, LeaseId, Record, Refusal, Report, Solve, Subject, WorkerId,
    findings,
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

    /// Whether a lease that is not remembered was granted to a machine, for what its report says that it is about: the
    /// seal shows it. It may be of an earlier life of this solve, or one of many that were lost.
    fn is_sealed(&self, id: LeaseId, machine: MachineId, subject: &Subject) -> bool {
        let Subject { moves, question, budget, seal } = subject;
        *seal == self.dispatch.seals.seal(id, machine, moves, *question, *budget)
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
        self.dispatch.scheduler.unstick(id, worker);
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
            // Leased by this solve before it was started anew, or so many leases ago.
            Err(Refusal::UnknownLease(_))
                if subject.as_ref().is_some_and(|about| self.is_sealed(id, machine, about)) =>
            {
                let Subject { moves, question, budget, .. } = subject.expect("it is some");
                if !self.problem.covers(question) || !self.tree.is_way(&moves) {
                    return Err(Refusal::ForeignSubject(id));
                }
                // It is not known any more whether its job was to be searched alone.
                if hearsay && !self.shares() {
                    self.ledger.end(id);
                    return Ok(Taken::Done);
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
        let first = question.thresholds().0;
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
            // What was broken off says nothing of a position that is searched in full by another one meanwhile.
            _ if !solved && self.tree.positions().is_some()
                || proof.is_none()
                    && !self.is_news(&moves)
                    && (hearsay
                        || !self.belief.would_learn(
                            machine,
                            keys.position,
                            first,
                            &found.efforts,
                        )) =>
            {
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
        // Or it could come again under its seal.
        self.ledger.end(id);
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
