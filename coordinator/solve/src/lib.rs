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
//! - [`belief`]: what workers say, what of it counts, and when an answer does.
//! - `ledger`: what is written, what counts, and which leases have ended.
//! - `resume`: taking up snapshots and records.
//! - `settings`, `status`: what is asked, and how far it is.
//!
//! Time is the time since this process took up the solve, and comes in with each call.

mod affinity;
mod ahead;
pub mod belief;
mod event;
mod findings;
mod grants;
mod ledger;
mod losses;
mod notice;
mod recent;
mod record;
mod reports;
mod resume;
mod scheduler;
mod settings;
mod sharing;
mod status;
mod top_level;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::time::Duration;

use affinity::Affinity;
use belief::{Basis, Belief, Confirm, MachineId, ThresholdAt, Why};
pub use event::{Action, Event, LeaseId, Refusal, Subject, WorkerId, WorkerInfo};
pub use findings::{FindingsError, Place};
use jlpns_games::spec::{MoveError, format_moves, position_after};
use jlpns_games::{Bounds, Game, Move, Outcome, OutcomeScale, Threshold, with_game};
use jlpns_search::Question;
use jlpns_search::graph::NodeId;
use ledger::Ledger;
use losses::{Losses, Verdict};
pub use notice::Notice;
pub use record::{Record, Report, Snapshot};
pub use resume::ResumeError;
use scheduler::{Lease, LeaseTerms, Purpose, Scheduler, TakenBack};
pub use settings::SolveSettings;
pub use sharing::SOLVED_FROM;
use sharing::Sharing;
use siphasher::sip::SipHasher13;
pub use status::{ParkedJob, RootEffort, SolveStatus, WorkerStatus};
use top_level::{NodeRef, TopLevel, top_level};

/// How often it is told that machines contradict each other.
const DISPUTES_AGAIN: Duration = Duration::from_secs(60);

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
    belief: Belief,
    /// The rechecks that are out or whose report waits to be durable, by their leases.
    rechecking: BTreeMap<LeaseId, u64>,
    /// The rechecks that the coordinator searches itself, by the numbers of the searches.
    own_searches: BTreeMap<u64, u64>,
    next_search: u64,
    /// What the answer rests on that is still to be confirmed.
    awaited: BTreeSet<ThresholdAt>,
    /// What the answer rests on, as it was when that was looked at last.
    basis: Option<Basis>,
    /// Whether it was told that the coordinator alone can confirm the answer.
    alone_told: bool,
    /// When it is told again that machines contradict each other.
    disputes_told: Duration,
    /// What leases are sealed with.
    secret: u128,
    sharing: Sharing,
    affinity: Affinity,
    actions: Vec<Action>,
    ledger: Ledger,
    /// The numbers of leases begin here; lower ones are of an earlier life of the solve.
    first_lease: u64,
    /// Why records cannot be written.
    parked: Option<String>,
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
        let mut solve = Solve::with_leases_from(settings, 1)?;
        solve.begin();
        solve.announce_end();
        Ok(solve)
    }

    /// What has to be there before the first lease: the secret that leases are sealed with.
    fn begin(&mut self) {
        if self.secret == 0 {
            self.secret = self.settings.secret;
            self.record(Record::Secret(self.secret), None, None);
        }
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
        Ok(Solve {
            scale,
            moves_text,
            outcome,
            tree,
            scheduler: Scheduler::new(terms, first_lease),
            belief: Belief::new(settings.belief),
            rechecking: BTreeMap::new(),
            own_searches: BTreeMap::new(),
            next_search: 0,
            awaited: BTreeSet::new(),
            basis: None,
            alone_told: false,
            disputes_told: Duration::ZERO,
            secret: 0,
            settings,
            out: HashMap::new(),
            losses: Losses::default(),
            sharing: Sharing::default(),
            affinity: Affinity::default(),
            actions: Vec::new(),
            ledger: Ledger::default(),
            first_lease,
            parked: None,
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
        })
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
            Event::Searched { number, findings, elapsed } => {
                self.searched(number, findings, elapsed);
                Ok(())
            }
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
        self.tell_of_disputes(now);
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
        let share = self.sharing.next_due();
        let disputed = self.belief.rechecks().count(Why::Dispute) > 0;
        let disputes = disputed.then_some(self.disputes_told);
        [self.scheduler.next_deadline(), pulse, parked, share, disputes].into_iter().flatten().min()
    }

    /// Says now and then that machines contradict each other, as long as nobody has decided.
    fn tell_of_disputes(&mut self, now: Duration) {
        let disputes = self.belief.rechecks().count(Why::Dispute) as u64;
        if disputes > 0 && now >= self.disputes_told {
            self.disputes_told = now + DISPUTES_AGAIN;
            self.notify(Notice::Undecided { disputes });
        }
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

    /// Ends the solve when its question is answered, and the answer counts.
    fn announce_end(&mut self) -> bool {
        if !self.over && self.is_answered() && self.answer_counts() {
            self.over = true;
            let open = self.basis.as_ref().map_or(0, |basis| basis.open.len() as u64);
            if open > 0 && self.belief.confirm() == Confirm::Sample {
                self.notify(Notice::Unconfirmed { claims: open });
            }
            self.actions.push(Action::Over);
        }
        self.over
    }

    /// Whether all that the answer rests on is confirmed, as far as that is asked for; what is not
    /// is searched again.
    fn answer_counts(&mut self) -> bool {
        if !self.awaited.is_empty() {
            return false;
        }
        let basis = self.tree.basis(self.belief.claims(), &self.answer());
        let counts = basis.open.is_empty() || self.belief.confirm() != Confirm::Answer;
        if !counts {
            self.awaited.extend(basis.open.iter().map(|open| open.place));
            self.belief.want_for_answer(&basis.open);
        }
        self.basis = Some(basis);
        counts
    }

    /// The thresholds of the root from which the answer follows, and whether they are reached.
    fn answer(&self) -> Vec<(Threshold, bool)> {
        let first = self.tree.question().thresholds().0.0;
        let efforts = self.tree.root_efforts();
        let threshold = |index: usize| Threshold(first + index as u8);
        let reached = efforts.iter().rposition(|pair| pair.verdict() == Some(true));
        let missed = efforts.iter().position(|pair| pair.verdict() == Some(false));
        let reached = reached.map(|index| (threshold(index), true));
        reached.into_iter().chain(missed.map(|index| (threshold(index), false))).collect()
    }

    /// Shows, after the solve was started anew, that a lease was granted to a machine.
    fn seal(
        &self,
        LeaseId(lease): LeaseId,
        machine: MachineId,
        moves: &[Move],
        question: Question,
        budget: u64,
    ) -> u64 {
        let key = self.secret.to_le_bytes();
        let mut hasher = SipHasher13::new_with_key(&key);
        (lease, machine, moves, question, budget).hash(&mut hasher);
        hasher.finish()
    }
}

fn slot_time(worker: &scheduler::Worker, now: Duration) -> f64 {
    now.saturating_sub(worker.joined).as_secs_f64() * f64::from(worker.info.slots)
}
