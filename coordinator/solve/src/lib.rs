//! The pure core of a solve: events in, actions out, without clocks, threads or I/O.
//!
//! Every report travels the same way: [`Solve::handle`] checks it against its lease (`scheduler`)
//! and against the properties of effort numbers (`findings`) and makes a record of it (`record`);
//! once that is durable it is folded into the top-level tree (`top_level`), the jobs that became
//! moot by it are taken back, and idle slots get new leases (`grants`).
//!
//! - `reports`: from a report to its fold, and what is durable in between.
//! - `losses`: jobs that kill their workers.
//! - `ahead`: how many leases wait at a worker, so that none of its slots does.
//! - `affinity`: who searched what, and goes on with it.
//! - `sharing`: solved positions that travel from worker to worker.
//! - `recent`: what is remembered for a while.
//! - `trust`: searching again what workers claim, those claims in `open_claims`.
//! - `resume`: taking up snapshots and records.
//! - `settings`, `status`: what is asked, and how far it is.
//!
//! Time is the time since this process took up the solve, and comes in with each call.

mod affinity;
mod ahead;
mod event;
mod findings;
mod grants;
mod losses;
mod notice;
mod open_claims;
mod recent;
mod record;
mod reports;
mod resume;
mod scheduler;
mod settings;
mod sharing;
mod status;
mod top_level;
mod trust;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use affinity::Affinity;
pub use event::{Action, Event, LeaseId, Refusal, Subject, WorkerId, WorkerInfo};
pub use findings::{FindingsError, Place};
use jlpns_games::spec::{MoveError, format_moves, position_after};
use jlpns_games::{Bounds, Game, Move, Outcome, OutcomeScale, with_game};
use jlpns_search::graph::NodeId;
use losses::{Losses, Verdict};
pub use notice::Notice;
pub use record::{Record, Report, Snapshot};
use reports::{Ended, Unrecorded};
pub use resume::ResumeError;
use scheduler::{Lease, LeaseTerms, Purpose, Scheduler, TakenBack};
pub use settings::SolveSettings;
pub use sharing::SOLVED_FROM;
use sharing::Sharing;
pub use status::{ParkedJob, RootEffort, SolveStatus, WorkerStatus};
use top_level::{NodeRef, TopLevel, top_level};
use trust::Trust;
pub use trust::{Claim, Standing};

/// How a solve has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveEnd {
    /// What is known of the value.
    pub bounds: Bounds,
    /// Whether the goal is proved; `None` without a goal.
    pub proved: Option<bool>,
}

/// What a node that is not to be selected waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    /// The report of a job.
    Leased(LeaseId),
    /// That a record about it is durable.
    Recording,
    /// That there is nothing else to do: its job kills workers.
    Parked,
}

/// A solve.
pub struct Solve {
    settings: SolveSettings,
    scale: OutcomeScale,
    moves_text: String,
    /// The outcome, if the game is over before the solve begins.
    outcome: Option<Outcome>,
    tree: Box<dyn TopLevel>,
    scheduler: Scheduler,
    /// The nodes that are not to be selected, by their places, with their keys.
    out: HashMap<NodeId, (u128, Out)>,
    losses: Losses,
    trust: Trust,
    sharing: Sharing,
    affinity: Affinity,
    actions: Vec<Action>,
    /// The number of the last record made.
    written: u64,
    /// The number of the last record that counts.
    applied: u64,
    /// Records that are not durable yet.
    unrecorded: VecDeque<Unrecorded>,
    /// Leases whose report waits to be durable.
    recording: HashSet<LeaseId>,
    /// Leases that have ended with a report.
    ended: Ended,
    /// The numbers of leases begin here; lower ones are of an earlier life of the solve.
    first_lease: u64,
    /// The number of the last record of the last snapshot.
    snapshot: u64,
    /// Snapshots with claims that were not confirmed when they were made: by which worker, and up
    /// to which number of its reports.
    unsettled: VecDeque<(u64, BTreeMap<String, u64>)>,
    /// Workers that were lost and may come back, by name, and until when their verdict on what others
    /// claim is waited for.
    missed: BTreeMap<String, Duration>,
    /// Why records cannot be written.
    parked: Option<String>,
    /// Whether the tree is to be built anew.
    rebuilding: bool,
    /// When anything was last heard.
    heard: Duration,
    /// How many reports found no room in the tree for the children of their node.
    without_room: u64,
    jobs: u64,
    nodes: u64,
    refused: u64,
    duplicates: u64,
    search_time: Duration,
    /// How many of `nodes` and how much of `search_time` are of earlier lives of the solve.
    earlier_nodes: u64,
    earlier_search_time: Duration,
    /// The best move of the last report about the root: all there is if one job settles it.
    reported_best: Option<Move>,
    /// Slot time of the workers that have left.
    past_slot_time: f64,
    over: bool,
}

impl Solve {
    /// A solve with nothing but its root. Errors if the moves are not legal.
    pub fn new(settings: SolveSettings) -> Result<Solve, MoveError> {
        Solve::with_leases_from(settings, 1)
    }

    /// As [`Solve::new`]; the numbers of leases begin at `first_lease`.
    fn with_leases_from(settings: SolveSettings, first_lease: u64) -> Result<Solve, MoveError> {
        let scale = with_game!(settings.spec.game(), game => game.scale().clone());
        let question = settings.question(&scale);
        let tree = top_level(&settings.spec, &settings.moves, question, settings.graph())?;
        let moves_text =
            with_game!(settings.spec.game(), game => format_moves(game, &settings.moves));
        let outcome = with_game!(settings.spec.game(), game => {
            game.outcome(&position_after(game, &settings.moves)?)
        });
        let terms = LeaseTerms {
            length: settings.lease_length,
            stall_after: settings.stall_after,
            ahead: settings.leases_ahead,
        };
        let mut solve = Solve {
            scale,
            moves_text,
            outcome,
            tree,
            scheduler: Scheduler::new(terms, first_lease),
            trust: Trust::new(settings.recheck),
            settings,
            out: HashMap::new(),
            losses: Losses::default(),
            sharing: Sharing::default(),
            affinity: Affinity::default(),
            actions: Vec::new(),
            written: 0,
            applied: 0,
            unrecorded: VecDeque::new(),
            recording: HashSet::new(),
            ended: Ended::default(),
            first_lease,
            snapshot: 0,
            unsettled: VecDeque::new(),
            missed: BTreeMap::new(),
            parked: None,
            rebuilding: false,
            heard: Duration::ZERO,
            without_room: 0,
            jobs: 0,
            nodes: 0,
            refused: 0,
            duplicates: 0,
            search_time: Duration::ZERO,
            earlier_nodes: 0,
            earlier_search_time: Duration::ZERO,
            reported_best: None,
            past_slot_time: 0.0,
            over: false,
        };
        solve.announce_end();
        Ok(solve)
    }

    /// What is solved, and how.
    pub fn settings(&self) -> &SolveSettings {
        &self.settings
    }

    /// Takes an event in. A refused event changes nothing but the counters, and the job of a
    /// refused report goes out again.
    pub fn handle(&mut self, event: Event, now: Duration) -> Result<(), Refusal> {
        self.hear(now);
        let outcome = match event {
            Event::Joined { worker, info } => self.joined(worker, info, now),
            Event::Left { worker } => self.left(worker, now),
            Event::Draining { worker } => self.scheduler.drain(worker),
            Event::Renewed { worker, leases } => {
                self.scheduler.renew(worker, &leases, now);
                Ok(())
            }
            Event::Progress { worker, lease, findings } => {
                self.progress(worker, lease, &findings, now)
            }
            Event::Reported { worker, lease, subject, findings, elapsed } => {
                self.reported(worker, lease, subject, findings, elapsed)
            }
            Event::Declined { worker, lease } => {
                self.declined(worker, lease, now);
                Ok(())
            }
            Event::Solved { worker, solved } => self.solved_elsewhere(worker, &solved),
            Event::Recorded { through } => {
                self.recorded(through);
                Ok(())
            }
            Event::Parked { reason } => {
                self.parked = reason;
                Ok(())
            }
        };
        match &outcome {
            Err(Refusal::Duplicate(_)) => self.duplicates += 1,
            Err(_) => self.refused += 1,
            Ok(()) => {}
        }
        self.settle(now);
        outcome
    }

    /// Takes back the leases whose deadline has passed.
    pub fn tick(&mut self, now: Duration) {
        self.hear(now);
        for (lease, why) in self.scheduler.overdue(now) {
            self.lose(lease, why, now);
        }
        self.scheduler.recall(now);
        self.settle(now);
    }

    /// When [`Solve::tick`] is next needed.
    pub fn next_deadline(&self) -> Option<Duration> {
        // More often than a lease lasts: a longer silence means that this process stood still.
        let leased = self.scheduler.leases().next().is_some();
        let pulse = leased.then(|| self.heard + self.settings.lease_length / 4);
        let idle = self.scheduler.open_workers().next().is_some();
        let parked = self.losses.next_due().filter(|&due| idle && due > self.heard);
        // Asked for after each event, and many may be missed: only when it matters.
        let missed = self.is_answered().then(|| self.missed.values());
        let back = missed.into_iter().flatten().filter(|&&until| until > self.heard).min().copied();
        let share = self.sharing.next_due();
        [self.scheduler.next_deadline(), pulse, parked, back, share].into_iter().flatten().min()
    }

    /// Notes the time. If nothing was heard for long, not even a tick, this process was stopped,
    /// and the workers are not to blame that their leases were not renewed.
    fn hear(&mut self, now: Duration) {
        let silence = now.saturating_sub(self.heard);
        if silence > self.settings.lease_length / 2 {
            self.scheduler.make_up_for(silence);
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
            proved: self.settings.goal.and_then(|g| efforts[0].verdict().map(|h| g.proved_when(h))),
        })
    }

    fn is_answered(&self) -> bool {
        self.tree.question().is_answered(self.tree.root_efforts())
    }

    /// What is known of the value.
    fn bounds(&self) -> Bounds {
        match self.outcome {
            Some(outcome) => Bounds::exactly(outcome),
            None => self.tree.question().bounds(self.tree.root_efforts(), &self.scale),
        }
    }

    /// How many nodes the top-level tree has given up because its memory was full.
    pub fn shed_nodes(&self) -> u64 {
        self.tree.size().shed.nodes
    }

    fn move_names(&self, moves: &[Move]) -> String {
        with_game!(self.settings.spec.game(), game => format_moves(game, moves))
    }

    /// After any change: calls off what became moot, and gives work to idle slots.
    fn settle(&mut self, now: Duration) {
        if self.over {
            return;
        }
        self.call_off_moot();
        self.make_snapshot_when_due();
        if !self.announce_end() {
            self.grant_leases(now);
            self.share(now);
        }
    }

    /// Ends the solve when its question is answered and nobody can contradict any more.
    fn announce_end(&mut self) -> bool {
        if !self.over && self.is_answered() && !self.is_doubtful() {
            self.over = true;
            if self.trust.pending() > 0 {
                self.notify(Notice::Unconfirmed { claims: self.trust.pending() as u64 });
            }
            self.actions.push(Action::Over);
        }
        self.over
    }

    /// Whether something may still show that an answer is wrong.
    fn is_doubtful(&self) -> bool {
        let verdict = |waiting: &Unrecorded| matches!(*waiting.record, Record::Quarantined { .. });
        let decides = |worker: &scheduler::Worker| !worker.draining && !worker.is_stuck();
        let working = self.scheduler.workers().filter(|(_, worker)| decides(worker));
        let back_soon = self.missed.iter().filter(|(_, until)| **until > self.heard);
        let names: BTreeSet<&str> = working
            .map(|(_, worker)| &*worker.info.name)
            .chain(back_soon.map(|(name, _)| &**name))
            .collect();
        self.rebuilding
            || self.unrecorded.iter().any(verdict)
            || self.trust.has_disputes()
            || self.trust.can_go_on(&names)
    }
}

fn slot_time(worker: &scheduler::Worker, now: Duration) -> f64 {
    now.saturating_sub(worker.joined).as_secs_f64() * f64::from(worker.info.slots)
}
