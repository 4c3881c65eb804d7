//! The state of a solve, for people and programs.

use std::time::Duration;

use jlpns_games::{Move, Threshold};
use jlpns_search::Effort;
use serde::{Deserialize, Serialize};

use super::scheduler::Worker;
use super::{LeaseId, Solve, WorkerId, slot_time};

/// The state of a solve at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolveStatus {
    /// The game's spec.
    pub spec: String,
    /// The moves to the root, by their names.
    pub moves: String,
    /// The goal, if one was given.
    pub goal: Option<String>,
    /// The sub-search of the jobs.
    pub sub_search: String,
    /// How frontier nodes are selected.
    pub selection: String,
    /// Whether the goal is proved (true), disproved (false) or open.
    pub proved: Option<bool>,
    /// The value, once it is known.
    pub value: Option<String>,
    /// The move on which the game ends, once it is known, if the outcomes tell these apart.
    pub last_move: Option<u32>,
    /// The worst outcome that is still possible.
    pub lower: String,
    /// The best outcome that is still possible.
    pub upper: String,
    /// A move that is proved to keep the value, or to fulfil the goal, once there is an answer.
    pub best_move: Option<String>,
    /// As long as there is no such move, the one that is most proving.
    pub most_proving_move: Option<String>,
    /// The root's effort numbers, one entry for each threshold asked.
    pub efforts: Vec<RootEffort>,
    /// Nodes of the top-level tree in memory.
    pub tree_nodes: u64,
    /// The most nodes of the top-level tree that were in memory at one time.
    pub peak_tree_nodes: u64,
    /// The bytes that the top-level tree takes.
    pub tree_bytes: u64,
    /// The bytes that the claims of machines and the keys of expanded positions take.
    pub claim_bytes: u64,
    /// Nodes that the top-level tree gave up because its memory was full; they are found again
    /// when they matter.
    pub shed_nodes: u64,
    /// Solved positions that were told to other workers.
    pub shared_positions: u64,
    /// Nodes that sub-searches created.
    pub nodes: u64,
    /// How many of them were created before this process took the solve up.
    pub earlier_nodes: u64,
    /// How many of the jobs were reported before that.
    pub earlier_jobs: u64,
    /// Jobs reported.
    pub jobs: u64,
    /// Jobs that are out.
    pub leased: u64,
    /// Jobs that became moot while they were out.
    pub cancelled: u64,
    /// Leases taken back because their worker was gone, silent or would not; what a draining worker
    /// gives back does not count.
    pub leases_expired: u64,
    /// Leases taken back because their searches got no further.
    pub leases_stalled: u64,
    /// Jobs that an idle slot got as well because their first holder took too long.
    pub leases_copied: u64,
    /// Reports refused.
    pub refused: u64,
    /// Reports that came again.
    pub duplicates: u64,
    /// Records made of what must not be forgotten.
    pub records: u64,
    /// How many of them are durable; `None` without a journal.
    pub durable_records: Option<u64>,
    /// Why records cannot be written at present, and no leases are given.
    pub halted: Option<String>,
    /// Jobs that are kept back because they kill their workers.
    pub parked_jobs: Vec<ParkedJob>,
    /// Claims of machines that another machine has confirmed.
    pub confirmed: u64,
    /// Claims that are to be searched again.
    pub unconfirmed: u64,
    /// Claims that another machine has contradicted.
    pub disputes: u64,
    /// The machines that claimed what is not true or were put out, by the names of their workers.
    pub quarantined: Vec<String>,
    /// How many claims the answer rests on, once there is one.
    pub answer_claims: Option<u64>,
    /// How many of them more than one machine stands behind.
    pub answer_confirmed: Option<u64>,
    /// The most workers that were connected at one time.
    pub most_workers: u64,
    /// The workers that are connected.
    pub workers: Vec<WorkerStatus>,
    /// Seconds that the solve took so far, over all processes.
    pub seconds: f64,
    /// Seconds spent in sub-searches of this process, over all slots.
    pub search_seconds: f64,
    /// Seconds that slots were connected to this process, over all slots.
    pub slot_seconds: f64,
}

/// A value as a sentence has it: `the value is win, on move 41`.
pub fn value_in_words(value: &str, last_move: Option<u32>) -> String {
    match last_move {
        Some(last_move) => format!("the value is {value}, on move {last_move}"),
        None => format!("the value is {value}"),
    }
}

impl SolveStatus {
    /// The root's effort numbers; if there are more than so many, only those of thresholds that are still open.
    pub fn open_efforts(&self, many: usize) -> impl Iterator<Item = &RootEffort> {
        let is_open = |effort: &RootEffort| effort.at_least != Some(0) && effort.less != Some(0);
        let few = self.efforts.len() <= many;
        self.efforts.iter().filter(move |effort| few || is_open(effort))
    }

    /// The share of the slots' time that was not spent in sub-searches, from 0 to 1.
    pub fn overhead(&self) -> f64 {
        if self.slot_seconds > 0.0 {
            (1.0 - self.search_seconds / self.slot_seconds).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// The root's two effort numbers for one threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RootEffort {
    /// The outcome of the threshold.
    pub outcome: String,
    /// Effort to prove at least that outcome; `None` is infinity.
    pub at_least: Option<u32>,
    /// Effort to prove less than that outcome; `None` is infinity.
    pub less: Option<u32>,
}

/// A job that is kept back because it kills its workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedJob {
    /// The moves to its position, by their names.
    pub moves: String,
    /// How often its lease was lost.
    pub losses: u32,
}

/// A worker that is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its name.
    pub name: String,
    /// Its slots.
    pub slots: u32,
    /// The jobs that it works on.
    pub running: u32,
    /// The jobs that it has reported.
    pub jobs: u64,
    /// The nodes that its sub-searches created.
    pub nodes: u64,
    /// Whether it takes no more jobs.
    pub draining: bool,
    /// Whether it takes no jobs for now.
    #[serde(default)]
    pub paused: bool,
    /// Why it takes none; empty if it does, or does not say.
    #[serde(default)]
    pub idle_reason: String,
    /// Its slots that hold a search that gets no further.
    pub stuck: u32,
    /// Seconds since it joined.
    pub seconds: f64,
    /// Its machine.
    pub machine: String,
    /// Its build; empty if it does not say.
    pub build: String,
    /// How many of its reports were refused.
    pub refused: u32,
    /// Seconds since something was last heard of it.
    pub silent_seconds: f64,
    /// How many of the claims of its machine another one has confirmed.
    pub confirmed: u64,
}

impl Solve {
    /// The state of the solve.
    pub fn status(&self, now: Duration) -> SolveStatus {
        let efforts = self.tree.root_efforts();
        let question = self.problem.question;
        let bounds = self.bounds();
        let size = self.tree.size();
        let answer = self.belief.answer_claims();
        let best_move = self.best_move();
        let most_proving_move = match best_move {
            Some(_) => None,
            None => self.tree.most_proving_move().or(self.tally.reported_most_proving),
        };
        let name = |mv| self.problem.root_move_name(mv);
        let running: Duration = self
            .dispatch
            .scheduler
            .leases()
            .map(|(_, lease)| now.saturating_sub(lease.granted))
            .sum();
        let finite = |effort: Effort| (!effort.is_infinite()).then(|| effort.to_bits());
        let threshold = |index: usize| Threshold(question.thresholds().0.0 + index as u8);
        SolveStatus {
            spec: self.problem.settings.spec.to_string(),
            moves: self.problem.moves_text.clone(),
            goal: self
                .problem
                .settings
                .goal
                .map(|goal| goal.display(&self.problem.scale).to_string()),
            sub_search: self.problem.settings.names_of_sub_searches(),
            selection: self.problem.settings.selection.name().to_owned(),
            proved: self.end().and_then(|end| end.proved),
            value: bounds.value().map(|value| self.problem.scale.value(value).to_owned()),
            last_move: bounds.value().and_then(|value| self.problem.scale.last_move(value)),
            lower: self.problem.scale.name(bounds.lower).to_owned(),
            upper: self.problem.scale.name(bounds.upper).to_owned(),
            best_move: best_move.map(name),
            most_proving_move: most_proving_move.map(name),
            efforts: efforts
                .iter()
                .enumerate()
                .map(|(index, pair)| RootEffort {
                    outcome: self.problem.threshold_name(threshold(index)),
                    at_least: finite(pair.proof),
                    less: finite(pair.disproof),
                })
                .collect(),
            tree_nodes: size.live as u64,
            peak_tree_nodes: size.peak as u64,
            tree_bytes: size.bytes,
            claim_bytes: self.belief.claims().bytes(),
            shed_nodes: size.shed.nodes,
            shared_positions: self.sharing.told(),
            nodes: self.tally.nodes,
            earlier_nodes: self.tally.earlier_nodes,
            earlier_jobs: self.tally.earlier_jobs,
            jobs: self.tally.jobs,
            leased: self.dispatch.scheduler.held(),
            cancelled: self.dispatch.scheduler.cancelled(),
            leases_expired: self.dispatch.scheduler.lost(),
            leases_stalled: self.dispatch.scheduler.stalled(),
            leases_copied: self.dispatch.scheduler.copied(),
            refused: self.tally.refused,
            duplicates: self.tally.duplicates,
            records: self.ledger.written(),
            durable_records: self.ledger.durable_records(),
            halted: self.ledger.why_halted().map(str::to_owned),
            parked_jobs: self
                .dispatch
                .losses
                .parked()
                .map(|job| ParkedJob {
                    moves: self.problem.move_names(&job.moves),
                    losses: job.losses,
                })
                .collect(),
            confirmed: self.belief.confirmed(),
            unconfirmed: self.belief.rechecks().len() as u64,
            disputes: self.belief.disputes(),
            quarantined: self
                .belief
                .machines()
                .others()
                .filter(|(_, machine)| machine.quarantined)
                .map(|(_, machine)| machine.name.clone())
                .collect(),
            answer_claims: answer.map(|(claims, _)| claims),
            answer_confirmed: answer.map(|(claims, open)| claims.saturating_sub(open)),
            most_workers: self.dispatch.scheduler.most_workers() as u64,
            workers: self
                .dispatch
                .scheduler
                .workers()
                .map(|(_, w)| self.worker_status(w, now))
                .collect(),
            seconds: (self.tally.earlier_time + now).as_secs_f64(),
            search_seconds: (self.tally.search_time + running)
                .saturating_sub(self.tally.earlier_search_time)
                .as_secs_f64(),
            slot_seconds: self.tally.past_slot_time
                + self.dispatch.scheduler.workers().map(|(_, w)| slot_time(w, now)).sum::<f64>(),
        }
    }

    /// A move that is proved to keep the value, or to fulfil the goal, once there is an answer and as far as the tree
    /// knows one.
    pub fn best_move(&self) -> Option<Move> {
        self.over.then(|| self.tree.best_move(self.proved())).flatten()
    }

    /// The time spent in sub-searches, over all slots and all lives of the solve.
    pub fn search_time(&self) -> Duration {
        self.tally.search_time
    }

    /// Whether a worker is connected, holds leases, and takes more of them.
    pub fn is_working(&self, worker: WorkerId) -> bool {
        self.dispatch
            .scheduler
            .worker(worker)
            .is_some_and(|worker| worker.running > 0 && worker.readiness.is_ready())
    }

    /// Whether a worker is to work on a lease: it holds it, and neither drains nor pauses.
    pub fn is_to_work_on(&self, worker: WorkerId, lease: LeaseId) -> bool {
        let scheduler = &self.dispatch.scheduler;
        scheduler.worker(worker).is_some_and(|worker| worker.readiness.is_ready())
            && scheduler.find(worker, lease).is_ok_and(|(_, held)| held)
    }

    /// How long a search of a job takes on average; no time before the first report.
    pub fn mean_search(&self) -> Duration {
        self.tally.mean_search()
    }

    fn worker_status(&self, worker: &Worker, now: Duration) -> WorkerStatus {
        let machine = self.belief.machines().of(worker.machine);
        WorkerStatus {
            name: worker.info.name.clone(),
            slots: worker.info.slots,
            running: worker.busy_slots(),
            jobs: worker.jobs,
            nodes: worker.nodes,
            draining: worker.readiness.is_draining(),
            paused: worker.readiness.is_paused(),
            idle_reason: worker.readiness.reason().to_owned(),
            stuck: worker.stuck,
            seconds: now.saturating_sub(worker.joined).as_secs_f64(),
            machine: machine.identity.to_string(),
            build: worker.info.build.clone(),
            refused: worker.refused,
            silent_seconds: now.saturating_sub(worker.heard).as_secs_f64(),
            confirmed: machine.confirmed,
        }
    }
}
