//! The pure core of a solve: events in, actions out, without clocks, threads or I/O.
//!
//! Every report travels the same way: [`Solve::handle`] checks it against its lease
//! (`scheduler`), against the properties of effort numbers (`findings`), folds it into the
//! top-level tree (`top_level`), takes back the jobs that became moot by it, and grants new
//! leases to idle slots.
//!
//! Time is the time since the solve began, and comes in with each call.

mod event;
mod findings;
mod scheduler;
mod status;
mod top_level;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use jlpns_common::graph::{GraphSettings, NodeId, Selection};
use jlpns_common::spec::{GameSpec, MoveError, format_moves, position_after};
use jlpns_common::{
    Algorithm, Bounds, Effort, Findings, Game, Goal, Initialisation, Job, Move, Outcome,
    OutcomeScale, Question, Threshold, with_game,
};

pub use event::{Action, Event, LeaseId, Refusal, WorkerId, WorkerInfo};
pub use findings::{FindingsError, Place};
use scheduler::{Lease, Scheduler, TakenBack};
pub use status::{RootEffort, SolveStatus, WorkerStatus};
use top_level::{MostProving, TopLevel, top_level};

/// What is to be solved, and how.
#[derive(Clone, Debug)]
pub struct SolveSettings {
    /// The game.
    pub spec: GameSpec,
    /// The moves to the position to solve.
    pub moves: Vec<Move>,
    /// What to prove; without a goal, the value is found.
    pub goal: Option<Goal>,
    /// The sub-search of the jobs.
    pub sub_search: Algorithm,
    /// How new frontier nodes start, in the tree and in the jobs.
    pub initialisation: Initialisation,
    /// Whether the top-level tree merges positions that are reached in several ways.
    pub merge: bool,
    /// How frontier nodes are selected while others are out.
    pub selection: Selection,
    /// The most nodes that a job may create before it reports.
    pub job_nodes: u64,
    /// How many workers must have joined before the first job goes out.
    pub await_workers: usize,
    /// The bytes that the top-level tree may take.
    pub memory: u64,
    /// How long a lease lasts without a heartbeat.
    pub lease_length: Duration,
    /// How often a worker sends a partial report on a long job.
    pub report_interval: Duration,
}

/// The smallest budget of a job, for the beginning of a solve.
const LEAST_JOB_NODES: u64 = 1_000;

/// While a solve is young, all slots together may have work out for a fraction of one in this
/// number of what has been searched: the tree branches before the jobs grow.
const YOUNG_SHARE: u64 = 4;

/// When the tree is full, the budget of jobs doubles with each of this many reports that found no
/// room: what cannot be a node must be searched deeper.
const FULL_TREE_STEP: u64 = 64;

/// It also doubles with each of this many times that the tree shed nodes, an eighth of it each
/// time: by then it has been turned over.
const SHED_STEP: u64 = 8;

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
    settings: SolveSettings,
    scale: OutcomeScale,
    moves_text: String,
    /// The outcome, if the game is over before the solve begins.
    outcome: Option<Outcome>,
    tree: Box<dyn TopLevel>,
    scheduler: Scheduler,
    /// The leases of the nodes that are out.
    out: HashMap<NodeId, LeaseId>,
    actions: Vec<Action>,
    /// How many reports found no room in the tree for the children of their node.
    without_room: u64,
    jobs: u64,
    nodes: u64,
    refused: u64,
    search_time: Duration,
    /// The best move of the last report about the root: all there is if one job settles it.
    reported_best: Option<Move>,
    /// Slot time of the workers that have left.
    past_slot_time: f64,
    over: bool,
}

impl Solve {
    /// A solve with nothing but its root. Errors if the moves are not legal.
    pub fn new(settings: SolveSettings) -> Result<Solve, MoveError> {
        let scale = with_game!(settings.spec.game(), game => game.scale().clone());
        let question = match settings.goal {
            Some(goal) => Question::Threshold(goal.threshold()),
            None => Question::Value(scale.bounds()),
        };
        let graph = GraphSettings {
            initialisation: settings.initialisation,
            merge: settings.merge,
            selection: settings.selection,
            memory: settings.memory,
        };
        let tree = top_level(&settings.spec, &settings.moves, question, graph)?;
        let moves_text =
            with_game!(settings.spec.game(), game => format_moves(game, &settings.moves));
        let outcome = with_game!(settings.spec.game(), game => {
            game.outcome(&position_after(game, &settings.moves)?)
        });
        let mut solve = Solve {
            scale,
            moves_text,
            outcome,
            tree,
            scheduler: Scheduler::new(settings.lease_length),
            settings,
            out: HashMap::new(),
            actions: Vec::new(),
            without_room: 0,
            jobs: 0,
            nodes: 0,
            refused: 0,
            search_time: Duration::ZERO,
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
        let outcome = match event {
            Event::Joined { worker, info } => {
                self.scheduler.join(worker, info, now);
                if self.over {
                    self.actions.push(Action::Over);
                }
                Ok(())
            }
            Event::Left { worker } => self.worker_left(worker, now),
            Event::Draining { worker } => self.scheduler.drain(worker),
            Event::Renewed { worker, leases } => {
                self.scheduler.renew(worker, &leases, now);
                Ok(())
            }
            Event::Progress { worker, lease, findings } => self.progress(worker, lease, &findings),
            Event::Reported { worker, lease, findings, elapsed } => {
                self.reported(worker, lease, &findings, elapsed)
            }
        };
        self.refused += u64::from(outcome.is_err());
        self.settle(now);
        outcome
    }

    /// Takes back the leases whose deadline has passed.
    pub fn tick(&mut self, now: Duration) {
        for lease_id in self.scheduler.overdue(now) {
            if let Some(lease) = self.scheduler.take_back(lease_id, TakenBack::Expired) {
                // The worker may be alive and only cut off: it is told to stop.
                self.actions.push(Action::Cancel { worker: lease.worker, lease: lease_id });
                self.put_back(lease);
            }
        }
        self.settle(now);
    }

    /// When [`Solve::tick`] is next needed.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.scheduler.next_deadline()
    }

    /// What is to be done since the last call, in order.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// The answer, once there is one.
    pub fn end(&self) -> Option<SolveEnd> {
        let efforts = self.tree.root_efforts();
        self.tree.question().is_answered(efforts).then(|| SolveEnd {
            bounds: self.bounds(),
            proved: self.settings.goal.and_then(|g| efforts[0].verdict().map(|h| g.proved_when(h))),
        })
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

    /// The state of the solve.
    pub fn status(&self, now: Duration) -> SolveStatus {
        let efforts = self.tree.root_efforts();
        let question = self.tree.question();
        let bounds = self.bounds();
        let size = self.tree.size();
        let running: Duration =
            self.scheduler.leases().map(|(_, lease)| now.saturating_sub(lease.granted)).sum();
        let finite = |effort: Effort| (!effort.is_infinite()).then(|| effort.to_bits());
        let threshold = |index: usize| Threshold(question.thresholds().0.0 + index as u8);
        SolveStatus {
            spec: self.settings.spec.to_string(),
            moves: self.moves_text.clone(),
            goal: self.settings.goal.map(|goal| goal.display(&self.scale).to_string()),
            sub_search: self.settings.sub_search.to_string(),
            proved: self.end().and_then(|end| end.proved),
            value: bounds.value().map(|value| self.scale.name(value).to_owned()),
            lower: self.scale.name(bounds.lower).to_owned(),
            upper: self.scale.name(bounds.upper).to_owned(),
            best_move: self
                .tree
                .best_move()
                .or(self.reported_best)
                .map(|mv| self.root_move_name(mv)),
            efforts: efforts
                .iter()
                .enumerate()
                .map(|(index, pair)| RootEffort {
                    outcome: self.threshold_name(threshold(index)),
                    at_least: finite(pair.proof),
                    less: finite(pair.disproof),
                })
                .collect(),
            tree_nodes: size.live as u64,
            peak_tree_nodes: size.peak as u64,
            tree_bytes: size.bytes,
            shed_nodes: size.shed.nodes,
            nodes: self.nodes,
            jobs: self.jobs,
            leased: self.out.len() as u64,
            cancelled: self.scheduler.cancelled(),
            leases_expired: self.scheduler.expired(),
            refused: self.refused,
            most_workers: self.scheduler.most_workers() as u64,
            workers: self.scheduler.workers().map(|(_, w)| worker_status(w, now)).collect(),
            seconds: now.as_secs_f64(),
            search_seconds: (self.search_time + running).as_secs_f64(),
            slot_seconds: self.past_slot_time
                + self.scheduler.workers().map(|(_, w)| slot_time(w, now)).sum::<f64>(),
        }
    }

    fn root_move_name(&self, mv: Move) -> String {
        let text = |moves: &[Move]| with_game!(self.settings.spec.game(), game => format_moves(game, moves));
        text(&[&self.settings.moves, &[mv][..]].concat())[self.moves_text.len()..].to_owned()
    }

    fn threshold_name(&self, threshold: Threshold) -> String {
        if usize::from(threshold.0) < self.scale.len() {
            self.scale.name(Outcome(threshold.0)).to_owned()
        } else {
            format!("above {}", self.scale.name(self.scale.best()))
        }
    }

    fn worker_left(&mut self, worker: WorkerId, now: Duration) -> Result<(), Refusal> {
        let (gone, leases) = self.scheduler.leave(worker)?;
        self.past_slot_time += slot_time(&gone, now);
        leases.into_iter().for_each(|lease| self.put_back(lease));
        Ok(())
    }

    fn progress(&mut self, worker: WorkerId, id: LeaseId, found: &Findings) -> Result<(), Refusal> {
        let (lease, held) = self.scheduler.find(worker, id)?;
        self.check(id, lease, found)?;
        if held {
            let (node, question) = (lease.node, lease.job.question);
            self.tree.refresh(node, question, found);
        }
        Ok(())
    }

    fn reported(
        &mut self,
        worker: WorkerId,
        id: LeaseId,
        found: &Findings,
        elapsed: Duration,
    ) -> Result<(), Refusal> {
        let (lease, held) = self.scheduler.find(worker, id)?;
        let lease = lease.clone();
        if let Err(refusal) = self.check(id, &lease, found) {
            if held {
                self.scheduler.end(id, 0);
                self.put_back(lease);
            }
            return Err(refusal);
        }
        self.scheduler.end(id, found.nodes);
        self.search_time += elapsed;
        self.nodes = self.nodes.saturating_add(found.nodes);
        self.jobs += 1;
        if lease.job.moves.len() == self.settings.moves.len() {
            self.reported_best = found.best_move;
        }
        if held {
            self.put_back(lease.clone());
        } else if self.tree.is_open(lease.node)
            && let Some(&other) = self.out.get(&lease.node.id)
        {
            // A late report spares whoever has the job now the rest of the work.
            self.call_off(other);
        }
        if !self.tree.fold(lease.node, &lease.job.moves, lease.job.question, found) {
            self.without_room += 1;
        }
        Ok(())
    }

    fn check(&self, id: LeaseId, lease: &Lease, found: &Findings) -> Result<(), Refusal> {
        let legal = self.tree.legal_moves(&lease.job.moves);
        findings::check(found, lease.job.question, &legal)
            .map_err(|error| Refusal::BadFindings(id, error))
    }

    /// The node of a lease that has ended can be selected again.
    fn put_back(&mut self, lease: Lease) {
        self.out.remove(&lease.node.id);
        self.tree.give_back(lease.node);
    }

    /// Takes a lease back because nobody needs its report any more, and tells its worker.
    fn call_off(&mut self, id: LeaseId) {
        if let Some(lease) = self.scheduler.take_back(id, TakenBack::Moot) {
            self.actions.push(Action::Cancel { worker: lease.worker, lease: id });
            self.put_back(lease);
        }
    }

    /// After any change: calls off what became moot, and gives work to idle slots.
    fn settle(&mut self, now: Duration) {
        if self.over {
            return;
        }
        while let Some(moot) = Some(self.tree.take_moot()).filter(|moot| !moot.is_empty()) {
            for node in moot {
                if let Some(&lease) = self.out.get(&node) {
                    self.call_off(lease);
                }
            }
        }
        if !self.announce_end() {
            self.grant_leases(now);
        }
    }

    fn announce_end(&mut self) -> bool {
        if !self.over && self.end().is_some() {
            self.over = true;
            self.actions.push(Action::Over);
        }
        self.over
    }

    fn grant_leases(&mut self, now: Duration) {
        if self.scheduler.most_workers() < self.settings.await_workers {
            return;
        }
        while let Some(worker) = self.scheduler.idle_worker() {
            let Some(selected) = self.tree.select() else { return };
            let node = selected.node;
            self.tree.lease(node);
            let job = self.job(selected);
            let lease = self.scheduler.grant(worker, node, job.clone(), now);
            self.out.insert(node.id, lease);
            self.actions.push(Action::Lease {
                worker,
                lease,
                job,
                deadline: self.scheduler.lease_length(),
                report_interval: self.settings.report_interval,
            });
        }
    }

    fn job(&self, selected: MostProving) -> Job {
        let question = match self.tree.question() {
            Question::Value(bounds) if !self.settings.sub_search.is_binary() => {
                Question::Value(self.open_bounds(bounds))
            }
            _ => Question::Threshold(selected.threshold),
        };
        let young = self.nodes / (YOUNG_SHARE * self.scheduler.slots().max(1));
        let least = LEAST_JOB_NODES.min(self.settings.job_nodes);
        let budget = young.clamp(least, self.settings.job_nodes);
        let doublings =
            self.without_room / FULL_TREE_STEP + self.tree.size().shed.times / SHED_STEP;
        Job {
            moves: selected.moves,
            question,
            sub_search: self.settings.sub_search,
            initialisation: self.settings.initialisation,
            budget: budget.saturating_mul(1 << doublings.min(40)),
        }
    }

    /// The relevancy bounds of the root: what is asked of a job that can answer for several
    /// outcomes at once.
    fn open_bounds(&self, asked: Bounds) -> Bounds {
        let known = self.tree.question().bounds(self.tree.root_efforts(), &self.scale);
        known.intersection(asked).unwrap_or(asked)
    }
}

fn slot_time(worker: &scheduler::Worker, now: Duration) -> f64 {
    now.saturating_sub(worker.joined).as_secs_f64() * f64::from(worker.info.slots)
}

fn worker_status(worker: &scheduler::Worker, now: Duration) -> WorkerStatus {
    WorkerStatus {
        name: worker.info.name.clone(),
        slots: worker.info.slots,
        running: worker.running,
        jobs: worker.jobs,
        nodes: worker.nodes,
        draining: worker.draining,
        seconds: now.saturating_sub(worker.joined).as_secs_f64(),
    }
}
