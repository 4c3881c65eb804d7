//! Workers that come and go, and what is ordered of them.

use jlpns_proto::v1::coordinator_message::Kind;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_solve::{Order, Readiness, Refusal, WorkerId};
use tracing::{info, warn};

use super::{NewStream, QueueDriver};
use crate::driver::denied;
use crate::service::Newcomer;

impl QueueDriver {
    /// A worker has come; the same process has only lost touch, and its former connection is ended.
    pub(super) fn join(&mut self, newcomer: Newcomer, stream: NewStream) {
        let info = newcomer.info.clone();
        if self.queue.is_put_out(&info.identity) {
            let (worker, identity) = (info.name, info.identity);
            let refusal = Refusal::Quarantined { worker, identity };
            warn!("{refusal}");
            // A worker that does not read it has gone already.
            let _ = stream.outbound.try_send(Err(denied(&refusal)));
            return;
        }
        if let Some(former) = self.workers.connection_of(&info) {
            self.leave(former, "it has connected anew");
        }
        let heartbeat = self.heartbeat.as_millis();
        let sweeps = self.queue.sweeps().map(|(sweep, ..)| self.opening.id_of_sweep(sweep));
        let solves = self.queue.of_their_own().map(|number| self.opening.id_of_solve(number));
        let welcome = v1::Welcome {
            protocol_version: PROTOCOL_VERSION,
            heartbeat_interval_ms: u32::try_from(heartbeat).unwrap_or(u32::MAX),
            build: jlpns_proto::BUILD.to_owned(),
            kept: true,
            queue: true,
            open_solves: sweeps.chain(solves).collect(),
            ..v1::Welcome::default()
        };
        if stream.outbound.try_send(Ok(Kind::Welcome(welcome).into())).is_err() {
            return;
        }
        let id = self.workers.add(newcomer, stream);
        info!(
            "{id} ({}) joined with {} slots; now {} workers with {} slots",
            info.name,
            info.slots,
            self.workers.len(),
            self.workers.slots()
        );
        if let Some(worker) = self.workers.get(id) {
            for number in self.places.numbers() {
                let stopping = self.is_stopping.clone();
                self.places.attach(number, id, worker, &self.handle, stopping);
            }
        }
        self.divide();
    }

    pub(super) fn leave(&mut self, id: WorkerId, why: &str) {
        let Some(worker) = self.workers.remove(id) else { return };
        self.places.detach(id);
        info!("{id} ({}) left: {why}; {} workers stay", worker.info.name, self.workers.len());
        self.divide();
    }

    pub(super) fn order(&mut self, name: &str, order: Order) -> usize {
        match order {
            Order::Reinstate => {
                let machines = self.queue.reinstate(name);
                for (identity, _) in self.queue.judged().filter(|(_, is_out)| !is_out) {
                    self.places.judge(identity, false);
                }
                machines
            }
            Order::Drain => {
                let workers = self.workers.of_name(name);
                for &worker in &workers {
                    let readiness = Readiness::Draining("ordered".to_owned());
                    self.workers.note_readiness(worker, readiness.clone());
                    self.places.tell_readiness(worker, &readiness);
                }
                self.divide();
                workers.len()
            }
            Order::Kick => {
                let workers = self.workers.of_name(name);
                for &worker in &workers {
                    if let Some(worker) = self.workers.get(worker) {
                        let identity = worker.info.identity.clone();
                        // Each solve withdraws what only that machine has claimed of it.
                        self.places.judge(&identity, true);
                        self.queue.put_out(identity, name.to_owned());
                    }
                }
                // Whatever their names are: a solve that is opened later knows nothing of their machine.
                let of_machines =
                    self.workers.all().filter(|(_, w)| self.queue.is_put_out(&w.info.identity));
                let let_go: Vec<WorkerId> = of_machines.map(|(id, _)| id).collect();
                for worker in let_go {
                    self.leave(worker, "its machine was put out by hand");
                }
                workers.len()
            }
        }
    }
}
