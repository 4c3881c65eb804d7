//! One run: from the start of the clock to the answer.

use std::cell::RefCell;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jlpns_search::searcher::{Searcher, Searching};
use jlpns_search::{Findings, Job, SolvedPosition};
use jlpns_solve::{SolveEnd, SolveSettings, SolveStatus};

use super::draws::Draws;
use super::progress::{SimulationError, SoFar};
use super::search::{PausedSearch, Search};
use super::searched_first::{CountedSearch, Visits};
use super::world::{Behaviour, CoordinatorCost, Lease, Waits, Worker, World};

/// How long a lease lasts. Nothing fails, so workers need no heartbeats.
const LEASE_LENGTH: Duration = Duration::from_secs(1 << 32);

/// What is simulated, for any number of workers.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// What is solved, and how. The number of workers to await and the length of a lease are the
    /// simulator's own.
    pub settings: SolveSettings,
    /// The bytes that each worker has for its table and its searches.
    pub worker_memory: u64,
    /// The nodes that a search creates in a second.
    pub rate: NonZero<u64>,
    /// How long a message takes from the coordinator to a worker or back.
    pub latency: Duration,
    /// By which share, from 0 to 1, each message and each search may take less or more time.
    pub jitter: f64,
    /// What the jitter is drawn from.
    pub seed: u64,
    /// The coordinator's time for each report.
    pub coordinator_cost: CoordinatorCost,
    /// The virtual time after which a run is given up.
    pub max_time: Option<Duration>,
}

/// The workers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// How many there are.
    pub workers: u32,
    /// How many searches each runs at a time.
    pub slots_per_worker: u32,
}

impl Cluster {
    /// All slots together.
    pub fn slots(self) -> u64 {
        u64::from(self.workers) * u64::from(self.slots_per_worker)
    }
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The workers.
    pub cluster: Cluster,
    /// The answer; `None` if the limit of virtual time came first.
    pub end: Option<SolveEnd>,
    /// The state of the solve at its end.
    pub status: SolveStatus,
    /// The virtual time that it took.
    pub time: Duration,
    /// The virtual time of all slots in searches, those that were stopped included.
    pub searching: Duration,
    /// The virtual time of the coordinator on reports.
    pub coordinating: Duration,
    /// The nodes of all searches, those that were stopped up to then included.
    pub nodes: u64,
    /// The virtual time of all slots without a search.
    pub waits: Waits,
    /// The share of searched positions that another worker had searched before, from 0 to 1, counted visit by
    /// visit of a sample of positions; `None` for searches that use no table.
    pub elsewhere_first: Option<f64>,
}

/// What the time of all slots went to, as shares of it that are 1 together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// As much as one slot needs.
    pub needed: f64,
    /// Searches of what another worker had searched before.
    pub elsewhere_first: f64,
    /// Searches that one slot would not have needed; less than 0 if it needed more.
    pub in_vain: f64,
    /// Waits for messages.
    pub way: f64,
    /// Waits for jobs.
    pub idle: f64,
    /// Waits at the end.
    pub tail: f64,
}

impl Run {
    /// The share of the slots' time that was spent in searches, from 0 to 1.
    pub fn utilisation(&self) -> f64 {
        share(self.searching.as_secs_f64(), self.time.as_secs_f64() * self.cluster.slots() as f64)
    }

    /// The share of the coordinator's time that was spent on reports, from 0 to 1.
    pub fn coordinator_load(&self) -> f64 {
        share(self.coordinating.as_secs_f64(), self.time.as_secs_f64())
    }

    /// How many times faster this run was than `single`, a run on one slot. `None` if one of the
    /// two has no answer.
    pub fn speed_up(&self, single: &Run) -> Option<f64> {
        self.end.as_ref().and(single.end.as_ref())?;
        let (time, single_time) = (self.time.as_secs_f64(), single.time.as_secs_f64());
        Some(if time > 0.0 { single_time / time } else { 1.0 })
    }

    /// What its slots' time went to. `None` if this run or `single`, a run on one slot, has no answer, or if visits
    /// are not counted.
    pub fn split(&self, single: &Run) -> Option<Split> {
        self.end.as_ref().and(single.end.as_ref())?;
        let whole = self.time.as_secs_f64() * self.cluster.slots() as f64;
        let of_whole = |time: Duration| if whole > 0.0 { time.as_secs_f64() / whole } else { 0.0 };
        let searching = of_whole(self.searching);
        let needed = of_whole(single.searching);
        let elsewhere_first = searching * self.elsewhere_first?;
        Some(Split {
            needed,
            elsewhere_first,
            in_vain: searching - needed - elsewhere_first,
            way: of_whole(self.waits.way),
            idle: of_whole(self.waits.idle),
            tail: of_whole(self.waits.tail),
        })
    }

    /// The share of nodes that this run created beyond those of `single`, a run on one slot; below
    /// 0 if it needed less. `None` if one of the two has no answer.
    pub fn search_overhead(&self, single: &Run) -> Option<f64> {
        self.end.as_ref().and(single.end.as_ref())?;
        Some(if single.nodes > 0 { self.nodes as f64 / single.nodes as f64 - 1.0 } else { 0.0 })
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
}

/// Watches a run from outside.
pub trait Spectator {
    /// Called often. `Break` stops the run.
    fn look(&mut self, so_far: SoFar) -> ControlFlow<()>;
}

/// A spectator that never stops a run.
impl Spectator for () {
    fn look(&mut self, _so_far: SoFar) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Simulates a solve on the workers of `cluster`.
pub fn simulate(
    simulation: &Simulation,
    cluster: Cluster,
    searching: &dyn Searching,
    spectator: &mut dyn Spectator,
) -> Result<Run, SimulationError> {
    let Simulation { latency, rate, jitter, seed, coordinator_cost, worker_memory, .. } =
        *simulation;
    let settings = SolveSettings {
        await_workers: cluster.workers as usize,
        lease_length: LEASE_LENGTH,
        stall_after: LEASE_LENGTH,
        journal: false,
        ..simulation.settings.clone()
    };
    let slots = cluster.slots_per_worker;
    let searches = RealSearches::new(&settings, cluster, worker_memory, searching);
    let searches = searches.map_err(SimulationError::Search)?;
    let worker = |number| Worker::new(format!("virtual {number}"), slots, worker_memory);
    let workers = (1..=cluster.workers).map(worker).collect();
    let draws = Draws::new(latency, rate, jitter, seed);
    let mut world = World::new(settings, coordinator_cost, draws, None, workers, searches)?;
    let end = run(&mut world, simulation.max_time.unwrap_or(Duration::MAX), spectator)?;
    let used = world.used(end);
    let solve = world.solve().ok_or(SimulationError::Standstill(end))?;
    Ok(Run {
        cluster,
        end: solve.end(),
        status: solve.status(end),
        time: end,
        searching: used.time,
        coordinating: world.coordinating().1,
        nodes: used.nodes,
        waits: world.waits(end),
        elsewhere_first: world.behaviour.visits.borrow().elsewhere_first(),
    })
}

/// Runs until there is an answer or the time is up; returns when that was.
fn run(
    world: &mut World<RealSearches<'_>>,
    limit: Duration,
    spectator: &mut dyn Spectator,
) -> Result<Duration, SimulationError> {
    while !world.is_over() {
        let so_far = world.so_far();
        let Some(now) = world.next_at() else {
            return Err(SimulationError::Standstill(so_far.time));
        };
        if now > limit {
            return Ok(limit);
        }
        if spectator.look(SoFar { time: now, ..so_far }).is_break() {
            return Err(SimulationError::Stopped);
        }
        world.step()?;
    }
    Ok(world.coordinating().0)
}

/// Runs the searches of all workers side by side, each worker's with a table of its own.
struct RealSearches<'a> {
    searching: &'a dyn Searching,
    settings: SolveSettings,
    memory: u64,
    searchers: Vec<Arc<dyn Searcher>>,
    /// That of the coordinator itself, once it has searched something.
    own: Option<Arc<dyn Searcher>>,
    visits: Rc<RefCell<Visits>>,
}

impl<'a> RealSearches<'a> {
    fn new(
        settings: &SolveSettings,
        cluster: Cluster,
        memory: u64,
        searching: &'a dyn Searching,
    ) -> Result<RealSearches<'a>, String> {
        let searcher = |_| {
            let searcher = searching.searcher(&settings.spec, memory, cluster.slots_per_worker)?;
            searcher.note_searched();
            Ok(searcher)
        };
        let searchers = (0..cluster.workers).map(searcher).collect::<Result<_, String>>()?;
        let (settings, own, visits) = (settings.clone(), None, Rc::default());
        Ok(RealSearches { searching, settings, memory, searchers, own, visits })
    }
}

impl Behaviour for RealSearches<'_> {
    fn begin(&mut self, worker: usize, lease: &Lease) -> Result<Box<dyn Search>, String> {
        let searcher = self.searchers[worker].clone();
        let search = PausedSearch::new(searcher.clone(), lease.job.clone())?;
        let visits = self.visits.clone();
        let job = lease.job.clone();
        Ok(Box::new(CountedSearch { search, searcher, job, worker, visits }))
    }

    fn search_here(&mut self, job: &Job) -> Result<Findings, String> {
        let own = match &self.own {
            Some(own) => own,
            None => {
                self.own.insert(self.searching.searcher(&self.settings.spec, self.memory, 1)?)
            }
        };
        own.search(job, &mut ())
    }

    fn keep_solved_from(&mut self, worker: usize, work: u32) {
        self.searchers[worker].keep_solved_from(work);
    }

    fn learn(&mut self, worker: usize, solved: &[SolvedPosition]) {
        self.searchers[worker].learn(solved);
    }

    fn take_solved(&mut self, worker: usize) -> Vec<SolvedPosition> {
        self.searchers[worker].take_solved()
    }
}
