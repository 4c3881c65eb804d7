//! The pure core of a solve: events in, actions out, without clocks, threads or I/O.
//!
//! Every report travels the same way: [`Solve::handle`] checks it against its lease (`scheduler`)
//! and against the properties of effort numbers (`findings`) and makes a record of it (`ledger`);
//! once that is durable it is folded into the top-level tree (`top_level`), the jobs that became
//! moot by it are taken back, and idle slots get new leases (`dispatch`).
//!
//! The parts of a [`Solve`] each own their fields; handlers borrow those that they need.
//!
//! - `problem`: what is to be solved, and what follows from that alone.
//! - `top_level`: the tree.
//! - `dispatch`: which worker works on which node: `scheduler` (workers and leases), `out` (nodes that
//!   are not to be selected), `losses` (jobs that kill their workers), `affinity` (workers that go on
//!   below what they have searched), `subtrees` (which of them searches which part depth first), `seals`.
//! - [`belief`]: the claims of machines, which of them count, and when an answer does.
//! - `ledger`: what is written, what counts, and which leases have ended.
//! - `examine`, `findings`: whether a report has the form of effort numbers, on whatever thread.
//! - `sharing`: solved positions that travel from worker to worker.
//! - `portfolio`: which of two sub-searches the next job runs, and whether its node is taken depth first.
//! - `tally`: what it has cost.
//!
//! The handlers of what happens:
//!
//! - `membership`: workers that come and go, leases that are lost.
//! - `dispatch`, `job_size`: what idle slots get.
//! - `reports`: from a report to its record; `folding`: from a durable record to its fold.
//! - `rechecking`: claims that are searched again.
//! - `asking`: positions that are asked for, in a solve of many (`positions`).
//! - `orders`: what people order by hand.
//! - `snapshots`, `resume`: the solve as it is after a record, and taking it up from there.
//!
//! `settings`, `status` say what is asked, and how far it is; `ahead` how many leases wait at a
//! worker, so that none of its slots does; `recent` is what is remembered for a while.
//!
//! Time is the time since this process took up the solve, and comes in with each call.

mod affinity;
mod ahead;
mod asking;
pub mod belief;
mod dispatch;
mod event;
mod examine;
mod findings;
mod folding;
mod ids;
mod job_size;
mod ledger;
mod losses;
mod membership;
mod notice;
mod orders;
mod out;
mod portfolio;
mod positions;
mod problem;
mod recent;
mod rechecking;
mod record;
mod reports;
mod resume;
mod scheduler;
mod seals;
mod settings;
mod sharing;
mod snapshots;
mod status;
mod subtrees;
mod tally;
mod top_level;

#[cfg(test)]
mod tests;

use std::time::Duration;

use ahead::Ahead;
use belief::{Belief, Confirm};
use dispatch::Dispatch;
pub use event::{Action, Event, Refusal, Subject, WorkerInfo};
pub use examine::{Examined, Examiner};
pub use findings::{FindingsError, Place};
pub use ids::{LeaseId, ProofId, WorkerId};
use jlpns_games::spec::MoveError;
use jlpns_games::{Bounds, Move, Threshold};
use jlpns_search::answer::Proved;
use jlpns_search::{EffortPair, Question, SolvedPosition};
use ledger::Ledger;
pub use notice::Notice;
pub use orders::{Order, OrderError};
use portfolio::Portfolio;
use positions::Positions;
pub use positions::{AskedPosition, FoundOfPosition, Tidings};
use problem::Problem;
pub use record::{Record, Report, Snapshot};
use reports::Arrived;
pub use resume::ResumeError;
use scheduler::LeaseTerms;
pub use scheduler::Readiness;
pub use settings::{Beside, SolveSettings};
use sharing::Sharing;
use snapshots::Snapshots;
pub use status::{ParkedJob, RootEffort, SolveStatus, WorkerStatus, value_in_words};
use tally::Tally;
use top_level::{TopLevel, top_level};

/// How a solve has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveEnd {
    /// What is known of the value.
    pub bounds: Bounds,
    /// Whether the goal is proved; `None` without a goal.
    pub proved: Option<bool>,
}

/// A solve.
pub struct Solve {
    problem: Problem,
    tree: Box<dyn TopLevel>,
    dispatch: Dispatch,
    belief: Belief,
    ledger: Ledger,
    sharing: Sharing,
    portfolio: Portfolio,
    tally: Tally,
    snapshots: Snapshots,
    /// What the shell has to do.
    actions: Vec<Action>,
    /// When anything was last heard.
    heard: Duration,
    over: bool,
}

/// How many leases on positions that are asked for may wait at a worker, for each of its slots.
const MOST_POSITIONS_AHEAD: u32 = 256;
/// For how long they should do.
const SUPPLY: Duration = Duration::from_millis(20);

/// How many records are applied at a time: tens of milliseconds of them.
const MOST_AT_ONCE: usize = 1_024;

/// How long further ones wait, when nothing happens: longer than those take.
const APPLY_AFTER: Duration = Duration::from_millis(30);

/// How long the tree may wait for a slice of the freeing that was put off, when nothing happens.
const TIDY_AFTER: Duration = Duration::from_millis(10);

impl Solve {
    /// A solve with nothing but its root. Errors if the moves are not legal.
    pub fn new(settings: SolveSettings) -> Result<Solve, MoveError> {
        let mut solve = Solve::with_leases_from(settings, 1)?;
        solve.begin();
        solve.announce_end();
        solve.look_at_all_positions();
        Ok(solve)
    }

    /// What has to be there before the first lease: the secret that leases are sealed with.
    fn begin(&mut self) {
        let seals = &mut self.dispatch.seals;
        if seals.secret == 0 {
            seals.secret = self.problem.settings.secret;
            self.record(Record::Secret(self.problem.settings.secret));
            self.apply_durable(usize::MAX);
        }
    }

    /// As [`Solve::new`]; the numbers of leases begin at `first_lease`.
    fn with_leases_from(settings: SolveSettings, first_lease: u64) -> Result<Solve, MoveError> {
        let problem = Problem::new(settings)?;
        let settings = &problem.settings;
        let terms = LeaseTerms {
            length: settings.lease_length,
            stall_after: settings.stall_after,
            ahead: match (&settings.positions, settings.leases_ahead) {
                (_, false) => None,
                (None, true) => Some(Ahead::at_most(1)),
                (Some(_), true) => Some(Ahead::supplied(MOST_POSITIONS_AHEAD, SUPPLY)),
            },
        };
        let root = top_level(&settings.spec, &settings.moves, problem.question, settings.graph())?;
        let tree = match &settings.positions {
            None => root,
            Some(asked) => {
                let (spec, goal) = (settings.spec.clone(), settings.goal);
                let mut positions = Positions::new(spec, goal, problem.question, root);
                for asked in asked {
                    positions.ask(asked.clone());
                }
                Box::new(positions)
            }
        };
        Ok(Solve {
            tree,
            dispatch: Dispatch::new(terms, settings.report_interval, first_lease),
            belief: Belief::new(settings.belief),
            ledger: Ledger::new(settings.journal),
            sharing: Sharing::default(),
            portfolio: Portfolio::new(settings),
            tally: Tally::default(),
            snapshots: Snapshots::default(),
            actions: Vec::new(),
            heard: Duration::ZERO,
            over: false,
            problem,
        })
    }

    /// What is solved, and how.
    pub fn settings(&self) -> &SolveSettings {
        &self.problem.settings
    }

    /// The thresholds of the root from which the answer follows, and whether they are reached: at most two,
    /// the one that is reached first. None before the solve has ended with an answer, or where the game
    /// was over before it began.
    pub fn answer(&self) -> Vec<(Threshold, bool)> {
        if self.over { self.problem.answer(self.tree.root_efforts()) } else { Vec::new() }
    }

    /// What is known of the position in question.
    pub fn proved(&self) -> Proved {
        Proved { bounds: self.bounds(), goal: self.problem.settings.goal }
    }

    /// The proof tree of the answer, as far as claims and the tree know it: the positions that do not hold
    /// by the rules. What is below claims is not in it.
    pub fn proof_tree(&self) -> Vec<SolvedPosition> {
        self.tree.proof_tree(self.belief.claims(), &self.answer(), self.belief.confirm())
    }

    /// What the tree knows of the position after `moves`, which are legal: what was asked, and the numbers of
    /// each threshold of that. None if it is not in the tree.
    pub fn efforts_after(&self, moves: &[Move]) -> Option<(Question, &[EffortPair])> {
        Some((self.problem.question, self.tree.efforts_after(moves)?))
    }

    /// What can examine reports before they come to the solve.
    pub fn examiner(&self) -> &Examiner {
        &self.problem.examiner
    }

    /// Takes an event in. A refused event changes nothing but the counters, and the job of a
    /// refused report goes out again.
    pub fn handle(&mut self, event: Event, now: Duration) -> Result<(), Refusal> {
        self.hear(now);
        if let Some(worker) = event.worker() {
            self.dispatch.scheduler.note_heard(worker, now);
        }
        let outcome = match event {
            Event::Joined { worker, info } => self.joined(worker, info, now),
            Event::Left { worker } => self.left(worker, now),
            Event::Readiness { worker, readiness } => {
                self.dispatch.scheduler.set_readiness(worker, readiness)
            }
            Event::Renewed { worker, leases } => {
                self.dispatch.scheduler.renew(worker, &leases, now);
                Ok(())
            }
            Event::Progress { worker, lease, findings } => {
                self.progress(worker, lease, &findings, now)
            }
            Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay } => {
                let arrived = Arrived { subject, examined, findings, elapsed, hearsay };
                self.reported(worker, lease, arrived)
            }
            Event::Declined { worker, lease } => {
                self.declined(worker, lease, now);
                Ok(())
            }
            Event::Allotted { worker, slots } => {
                self.dispatch.scheduler.allot(worker, slots, now);
                Ok(())
            }
            Event::Asked { positions } => {
                self.ask(positions);
                Ok(())
            }
            Event::Dropped { numbers } => {
                if let Some(positions) = self.tree.positions() {
                    numbers.into_iter().for_each(|number| positions.drop_number(number));
                }
                Ok(())
            }
            Event::Judged { identity, is_out } => {
                self.judge_machine(&identity, is_out);
                Ok(())
            }
            Event::Solved { worker, solved } => self.solved_elsewhere(worker, &solved),
            Event::Searched { number, findings, elapsed, proof } => {
                self.searched(number, findings, elapsed, proof);
                Ok(())
            }
            Event::Recorded { through } => {
                self.ledger.note_durable(through);
                Ok(())
            }
            Event::Halted { reason } => {
                self.ledger.halt(reason);
                Ok(())
            }
        };
        if let Err(refusal) = &outcome {
            self.tally.note_refusal(refusal);
        }
        self.settle(now);
        outcome
    }

    /// Takes back the leases whose deadline has passed.
    pub fn tick(&mut self, now: Duration) {
        self.hear(now);
        if let Some(disputes) = self.belief.tell_of_disputes(now) {
            self.notify(Notice::Undecided { disputes });
        }
        for (lease, why) in self.dispatch.scheduler.overdue(now) {
            self.lose(lease, why, now);
        }
        self.dispatch.scheduler.recall(now);
        self.settle(now);
    }

    /// When [`Solve::tick`] is next needed.
    pub fn next_deadline(&self) -> Option<Duration> {
        let scheduler = &self.dispatch.scheduler;
        // More often than a lease lasts: a longer silence means that this process stood still.
        let leased = scheduler.held() > 0;
        let pulse = leased.then(|| self.heard + self.problem.settings.lease_length / 4);
        let idle = scheduler.open_workers().next().is_some();
        let parked = self.dispatch.losses.next_due().filter(|&due| idle && due > self.heard);
        let copy = self.dispatch.next_copy(self.heard).filter(|_| !self.over);
        let share = self.sharing.next_due();
        let disputes = self.belief.next_telling();
        let slice = self.snapshots.next_slice();
        let waiting =
            (slice.is_none() && self.ledger.has_durable()).then(|| self.heard + APPLY_AFTER);
        let untidy = (!self.over && self.tree.is_untidy()).then(|| self.heard + TIDY_AFTER);
        [scheduler.next_deadline(), pulse, parked, copy, share, disputes, slice, waiting, untidy]
            .into_iter()
            .flatten()
            .min()
    }

    /// Notes the time. If nothing was heard for long, not even a tick, this process was stopped,
    /// and the workers are not to blame that their leases were not renewed.
    fn hear(&mut self, now: Duration) {
        let silence = now.saturating_sub(self.heard);
        if silence > self.problem.settings.lease_length / 2 {
            self.dispatch.scheduler.make_up_for(silence);
        }
        self.heard = self.heard.max(now);
    }

    /// What is to be done since the last call, in order.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// The answer, once there is one that can be relied on: what is being rechecked is waited for.
    pub fn end(&self) -> Option<SolveEnd> {
        let efforts = self.tree.root_efforts();
        self.over.then(|| SolveEnd {
            bounds: self.bounds(),
            proved: self
                .problem
                .settings
                .goal
                .and_then(|g| efforts[0].verdict().map(|h| g.proved_when(h))),
        })
    }

    fn is_answered(&self) -> bool {
        self.problem.question.is_answered(self.tree.root_efforts())
    }

    /// What is known of the value.
    fn bounds(&self) -> Bounds {
        self.problem.bounds(self.tree.root_efforts())
    }

    /// How many nodes the top-level tree has given up because its memory was full.
    pub fn shed_nodes(&self) -> u64 {
        self.tree.size().shed.nodes
    }

    /// After any change: calls off what became moot, and gives work to idle slots.
    fn settle(&mut self, now: Duration) {
        self.make_slice_when_due(now);
        self.apply_durable(MOST_AT_ONCE);
        if self.over {
            return;
        }
        if !self.snapshots.is_making_one() {
            self.tree.tidy();
        }
        self.dispatch.call_off_moot(&mut *self.tree, &mut self.actions);
        self.begin_snapshot_when_due(now);
        if !self.announce_end() {
            self.grant_leases(now);
            self.share(now);
        }
    }

    /// Ends the solve when its question is answered, and the answer counts.
    fn announce_end(&mut self) -> bool {
        if !self.over && self.is_answered() && self.answer_counts() {
            self.over = true;
            let open = self.belief.answer_claims().map_or(0, |(_, open)| open);
            if open > 0 && self.belief.confirm() == Confirm::Sample {
                self.notify(Notice::Unconfirmed { claims: open });
            }
            self.actions.push(Action::Over);
        }
        self.over
    }

    fn answer_counts(&mut self) -> bool {
        let answer = self.problem.answer(self.tree.root_efforts());
        let needs = self.belief.confirm();
        self.belief.answer_counts(|claims| self.tree.basis(claims, &answer, needs))
    }

    fn notify(&mut self, notice: Notice) {
        self.actions.push(Action::Notify(notice));
    }
}

fn slot_time(worker: &scheduler::Worker, now: Duration) -> f64 {
    worker.slot_time(now).as_secs_f64()
}
