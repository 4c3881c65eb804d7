//! One run: from the start of the clock to the answer.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::time::Duration;

use jlpns_games::spec::MoveError;
use jlpns_search::searcher::Searching;
use jlpns_solve::{LeaseId, SOLVED_FROM, SolveEnd, SolveSettings, SolveStatus, WorkerId};

use super::coordinator::{CoordinatorCost, Order, Report, VirtualCoordinator};
use super::delays::Delays;
use super::queue::TimeQueue;
use super::worker::{Begun, Next, Used, VirtualWorker};

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

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The moves to the root are not legal.
    #[error(transparent)]
    Moves(#[from] MoveError),
    /// A job could not be done.
    #[error("a sub-search cannot be run: {0}")]
    Search(String),
    /// Nothing is left to happen, and there is no answer: a mistake in the scheduler.
    #[error("the solve came to a standstill after {0:?} of virtual time")]
    Standstill(Duration),
    /// The spectator stopped it.
    #[error("the simulation was stopped")]
    Stopped,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar {
    /// The virtual time.
    pub time: Duration,
    /// The nodes that searches have really created.
    pub nodes: u64,
    /// The jobs that were begun.
    pub jobs: u64,
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
    let mut world = World::new(simulation, cluster, searching, spectator)?;
    let end = world.run()?;
    Ok(world.into_run(end))
}

/// What can happen.
enum Happening {
    /// A report reaches the coordinator.
    Reported(Report),
    /// An order reaches a worker.
    Ordered(WorkerId, Order),
    /// A part of a search comes to its end, unless it was stopped before.
    Searched(WorkerId, LeaseId),
}

/// A worker and the two directions of its stream.
struct Post {
    worker: VirtualWorker,
    /// When the last message to the worker arrives: the next one arrives no earlier.
    down: Duration,
    /// The same for messages to the coordinator.
    up: Duration,
}

struct World<'a> {
    simulation: &'a Simulation,
    cluster: Cluster,
    spectator: &'a mut dyn Spectator,
    coordinator: VirtualCoordinator,
    posts: Vec<Post>,
    delays: Delays,
    queue: TimeQueue<Happening>,
    used: Used,
    so_far: SoFar,
}

impl<'a> World<'a> {
    fn new(
        simulation: &'a Simulation,
        cluster: Cluster,
        searching: &dyn Searching,
        spectator: &'a mut dyn Spectator,
    ) -> Result<World<'a>, SimulationError> {
        let Simulation { settings, latency, rate, jitter, seed, coordinator_cost, .. } = simulation;
        let coordinator = VirtualCoordinator::new(settings, cluster.workers, *coordinator_cost)?;
        let (memory, slots) = (simulation.worker_memory, cluster.slots_per_worker);
        let post = |_| {
            let searcher = searching.searcher(&settings.spec, memory, slots)?;
            if settings.share {
                searcher.keep_solved_from(SOLVED_FROM);
            }
            let worker = VirtualWorker::new(searcher, slots);
            Ok(Post { worker, down: Duration::ZERO, up: Duration::ZERO })
        };
        let posts = (0..cluster.workers).map(post).collect::<Result<_, String>>();
        Ok(World {
            simulation,
            cluster,
            spectator,
            coordinator,
            posts: posts.map_err(SimulationError::Search)?,
            delays: Delays::new(*latency, *rate, *jitter, *seed),
            queue: TimeQueue::new(),
            used: Used::default(),
            so_far: SoFar::default(),
        })
    }

    /// Runs until there is an answer or the time is up; returns when that was.
    fn run(&mut self) -> Result<Duration, SimulationError> {
        let limit = self.simulation.max_time.unwrap_or(Duration::MAX);
        let orders = self.coordinator.join(self.cluster, self.simulation.worker_memory);
        if self.coordinator.end().is_some() {
            return Ok(Duration::ZERO);
        }
        self.send(orders, Duration::ZERO);
        while let Some((now, happening)) = self.queue.next() {
            if now > limit {
                return Ok(limit);
            }
            self.so_far.time = now;
            if self.spectator.look(self.so_far).is_break() {
                return Err(SimulationError::Stopped);
            }
            match happening {
                Happening::Reported(report) => {
                    let (done, orders) = self.coordinator.take(report, now);
                    if self.coordinator.end().is_some() {
                        return Ok(done);
                    }
                    self.send(orders, done);
                }
                Happening::Ordered(id, Order::Run(lease, job)) => {
                    self.post(id).worker.put(lease, job);
                    self.begin_searches(id, now)?;
                }
                Happening::Ordered(id, Order::Stop(lease)) => {
                    let used = self.post(id).worker.stop(lease, now);
                    self.used += used;
                    self.begin_searches(id, now)?;
                }
                Happening::Ordered(id, Order::Learn(solved)) => self.post(id).worker.learn(&solved),
                Happening::Searched(id, lease) => {
                    self.go_on(id, lease, now)?;
                    self.begin_searches(id, now)?;
                }
            }
        }
        Err(SimulationError::Standstill(self.so_far.time))
    }

    fn into_run(self, end: Duration) -> Run {
        let mut used = self.used;
        self.posts.iter().for_each(|post| used += post.worker.in_use(end));
        Run {
            cluster: self.cluster,
            end: self.coordinator.end(),
            status: self.coordinator.status(end),
            time: end,
            searching: used.time,
            coordinating: self.coordinator.busy(),
            nodes: used.nodes,
        }
    }

    fn post(&mut self, id: WorkerId) -> &mut Post {
        &mut self.posts[index(id)]
    }

    fn send(&mut self, orders: Vec<(WorkerId, Order)>, now: Duration) {
        for (id, order) in orders {
            let arrives = now.saturating_add(self.delays.message());
            let post = self.post(id);
            post.down = post.down.max(arrives);
            let at = post.down;
            self.queue.put(at, Happening::Ordered(id, order));
        }
    }

    /// Goes on with a search after a part of it, or reports what it found.
    fn go_on(
        &mut self,
        id: WorkerId,
        lease: LeaseId,
        now: Duration,
    ) -> Result<(), SimulationError> {
        let next = self.post(id).worker.go_on(lease).map_err(SimulationError::Search)?;
        let (findings, solved, used) = match next {
            None => return Ok(()),
            Some(Next::Part(begun)) => {
                self.await_end(id, begun);
                return Ok(());
            }
            Some(Next::End(findings, solved, used)) => (findings, solved, used),
        };
        self.used += used;
        let arrives = now.saturating_add(self.delays.message());
        let post = self.post(id);
        post.up = post.up.max(arrives);
        let at = post.up;
        let report = Report { worker: id, lease, findings, elapsed: used.time, solved };
        self.queue.put(at, Happening::Reported(report));
        Ok(())
    }

    /// Begins searches on the free slots of a worker.
    fn begin_searches(&mut self, id: WorkerId, now: Duration) -> Result<(), SimulationError> {
        let worker = |world: &mut Self| world.posts[index(id)].worker.begin(now, &mut world.delays);
        while let Some(begun) = worker(self).map_err(SimulationError::Search)? {
            self.so_far.jobs += 1;
            self.await_end(id, begun);
        }
        Ok(())
    }

    fn await_end(&mut self, id: WorkerId, begun: Begun) {
        self.so_far.nodes += begun.nodes;
        self.queue.put(begun.ends, Happening::Searched(id, begun.lease));
    }
}

/// Where in the list of workers a worker is: they are numbered from 1.
fn index(id: WorkerId) -> usize {
    id.0 as usize - 1
}
