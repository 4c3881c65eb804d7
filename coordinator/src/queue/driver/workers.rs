//! The workers of a queue.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jlpns_proto::v1;
use jlpns_queue::shares::Giver;
use jlpns_solve::{Readiness, WorkerId, WorkerInfo};
use tokio::time::Instant;

use super::handle::NewStream;
use super::places::Places;
use crate::driver::{DriverHandle, stopped};
use crate::service::Newcomer;

/// A worker that is connected.
pub(super) struct Worker {
    /// What it says of itself.
    pub info: WorkerInfo,
    games: Vec<String>,
    wants_short_jobs: bool,
    stream: NewStream,
    readiness: Readiness,
    joined: Instant,
}

impl Worker {
    /// Where messages to it go.
    pub fn stream(&self) -> &NewStream {
        &self.stream
    }

    /// Whether it takes leases.
    pub fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// From now on what it says of a solve goes there.
    pub fn route(&self, solve: u64, driver: DriverHandle, id: WorkerId) {
        self.stream.routes.send_modify(|routes| {
            Arc::make_mut(routes).insert(solve, (driver, id));
        });
    }
}

/// All workers that are connected.
#[derive(Default)]
pub(super) struct Workers {
    all: BTreeMap<WorkerId, Worker>,
    /// Slot time while there was work, and when it was last counted.
    slot_time: Duration,
    counted: Option<Instant>,
}

impl Workers {
    /// Adds a worker.
    pub fn add(&mut self, newcomer: Newcomer, stream: NewStream) -> WorkerId {
        let Newcomer { info, games, wants_short_jobs } = newcomer;
        let (id, readiness, joined) = (stream.id, Readiness::Ready, Instant::now());
        self.all.insert(id, Worker { info, games, wants_short_jobs, stream, readiness, joined });
        id
    }

    /// Removes one; dropping it ends its stream.
    pub fn remove(&mut self, id: WorkerId) -> Option<Worker> {
        self.all.remove(&id)
    }

    /// One that is connected.
    pub fn get(&self, id: WorkerId) -> Option<&Worker> {
        self.all.get(&id)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.all.iter().map(|(&id, worker)| (id, worker))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The connection of the same process.
    pub fn connection_of(&self, info: &WorkerInfo) -> Option<WorkerId> {
        let same = |(_, worker): &(&WorkerId, &Worker)| {
            info.instance != 0
                && worker.info.instance == info.instance
                && worker.info.name == info.name
        };
        self.all.iter().find(same).map(|(&id, _)| id)
    }

    /// Those of a name.
    pub fn of_name(&self, name: &str) -> Vec<WorkerId> {
        let named = self.all.iter().filter(|(_, worker)| worker.info.name == name);
        named.map(|(&id, _)| id).collect()
    }

    /// A worker takes leases from now on, or takes none. Who drains does not come back to work.
    pub fn note_readiness(&mut self, id: WorkerId, readiness: Readiness) {
        if let Some(worker) = self.all.get_mut(&id).filter(|w| !w.readiness.is_draining()) {
            worker.readiness = readiness;
        }
    }

    /// All slots of those that take leases.
    pub fn slots(&self) -> u32 {
        let ready = self.all.values().filter(|worker| worker.readiness.is_ready());
        ready.map(|worker| worker.info.slots).sum()
    }

    /// Those that take leases, with what they take.
    pub fn givers(&self) -> Vec<Giver> {
        let ready = self.all.iter().filter(|(_, worker)| worker.readiness.is_ready());
        let giver = |(&id, worker): (&WorkerId, &Worker)| Giver {
            id,
            slots: worker.info.slots,
            games: worker.games.clone(),
            wants_short_jobs: worker.wants_short_jobs,
        };
        ready.map(giver).collect()
    }

    /// A solve has ended: nobody hears of it any more.
    pub fn forget_route(&self, solve: u64) {
        for worker in self.all.values() {
            worker.stream.routes.send_modify(|routes| {
                Arc::make_mut(routes).remove(&solve);
            });
        }
    }

    /// Counts the time of all slots since the last call, if there was work.
    pub fn note_time(&mut self, was_work: bool) {
        let now = Instant::now();
        let since = self.counted.replace(now).map_or(Duration::ZERO, |then| now - then);
        if was_work {
            self.slot_time += since * self.slots();
        }
    }

    /// Seconds that slots were connected while there was work, over all slots.
    pub fn slot_seconds(&self) -> f64 {
        self.slot_time.as_secs_f64()
    }

    /// All are told that the coordinator is stopped, and wait.
    pub fn say_stopped(&self) {
        for worker in self.all.values() {
            // One that does not read it waits all the same.
            let _ = worker.stream.outbound.try_send(Ok(stopped().into()));
        }
    }

    /// What is told of them; what they do is summed over all solves.
    pub fn status(&self, places: &Places) -> Vec<v1::WorkerStatus> {
        let told = |worker: &Worker| {
            let mut told = v1::WorkerStatus {
                name: worker.info.name.clone(),
                slots: worker.info.slots,
                draining: worker.readiness.is_draining(),
                paused: worker.readiness.is_paused(),
                idle_reason: worker.readiness.reason().to_owned(),
                seconds: worker.joined.elapsed().as_secs_f64(),
                machine: worker.info.identity.to_string(),
                build: worker.info.build.clone(),
                silent_seconds: f64::INFINITY,
                ..v1::WorkerStatus::default()
            };
            for of_solve in places.statuses().flat_map(|status| &status.workers) {
                if of_solve.name == worker.info.name {
                    told.running += of_solve.running;
                    told.jobs += of_solve.jobs;
                    told.nodes = told.nodes.saturating_add(of_solve.nodes);
                    told.stuck += of_solve.stuck;
                    told.refused += of_solve.refused;
                    told.confirmed += of_solve.confirmed;
                    told.silent_seconds = told.silent_seconds.min(of_solve.silent_seconds);
                }
            }
            if told.silent_seconds.is_infinite() {
                told.silent_seconds = 0.0;
            }
            told
        };
        self.all.values().map(told).collect()
    }
}
