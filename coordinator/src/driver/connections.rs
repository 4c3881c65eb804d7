//! Workers' connections: who joins, who leaves, and what comes in from them.

use jlpns_proto::v1::coordinator_message::Kind;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_solve::{Event, LeaseId, WorkerId, WorkerInfo};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::messages::{denied, post};
use super::{Driver, WorkerStream};

impl Driver {
    pub(super) fn join(&mut self, worker: WorkerId, info: WorkerInfo, connection: WorkerStream) {
        let heartbeat = self.config.heartbeat_interval.as_millis();
        let welcome = v1::Welcome {
            protocol_version: PROTOCOL_VERSION,
            solve_id: self.config.solve_id.clone(),
            spec: self.config.spec.clone(),
            heartbeat_interval_ms: u32::try_from(heartbeat).unwrap_or(u32::MAX),
            build: jlpns_proto::BUILD.to_owned(),
            solved_from: self.solve.solved_from(),
            kept: self.recorder.is_some(),
            ..Default::default()
        };
        // The solve may not want it, and says so before there is a welcome.
        if let Err(refusal) =
            self.solve.handle(Event::Joined { worker, info: info.clone() }, self.began.elapsed())
        {
            warn!("{refusal}");
            // A worker that does not read it has gone already.
            let _ = connection.outbound.try_send(Err(denied(&refusal)));
            return;
        }
        if !post(&connection, Kind::Welcome(welcome)) {
            self.tell(Event::Left { worker });
            return;
        }
        let others = self.connections.values().map(|(other, _)| other);
        if self.names.is_news(&info, others) {
            warn!(
                "two workers have the name '{name}': what is ordered for one of them goes to both, and \
                 the log cannot tell them apart; start each with a --name of its own",
                name = info.name
            );
        }
        self.connections.insert(worker, (info.clone(), connection));
        let slots: u64 = self.connections.values().map(|(info, _)| u64::from(info.slots)).sum();
        let workers = self.connections.len();
        // A worker of a queue gets its slots from there, and has been told of there.
        if info.slots > 0 {
            let (name, own) = (&info.name, info.slots);
            info!(
                "{worker} ({name}) joined with {own} slots; now {workers} workers with {slots} slots"
            );
        }
    }

    pub(super) fn leave(&mut self, worker: WorkerId, why: &str) {
        let Some((info, _)) = self.connections.remove(&worker) else { return };
        self.outbox.forget(worker);
        if info.slots > 0 {
            info!("{worker} ({}) left: {why}; {} workers stay", info.name, self.connections.len());
        }
        self.tell(Event::Left { worker });
        if self.connections.is_empty() {
            self.idle_notice = Instant::now();
        }
    }

    pub(super) fn batch(
        &mut self,
        worker: WorkerId,
        events: Vec<Event>,
        declines: Vec<(LeaseId, String)>,
    ) {
        let Some((info, _)) = self.connections.get(&worker) else { return };
        let is_report = |event: &Event| matches!(event, Event::Reported { .. });
        let only_reports = declines.is_empty() && events.iter().all(is_report);
        for (lease, reason) in declines {
            // What was called back or is handed back is nobody's trouble.
            let is_trouble = self.solve.is_to_work_on(worker, lease);
            if is_trouble && self.declines.is_news(&info.name, &reason) {
                info!(
                    "{worker} ({}) declined {lease}: {reason}; further ones for the same reason are not told",
                    info.name
                );
            } else {
                debug!("{worker} ({}) declined {lease}: {reason}", info.name);
            }
            let event = Event::Declined { worker, lease };
            // The solve refuses no decline.
            let _ = self.solve.handle(event, self.began.elapsed());
        }
        events.into_iter().for_each(|event| self.tell(event));
        // The acknowledgements of a worker that only reports go with its next leases, or with the
        // answer to its next heartbeat if it gets none; a worker without leases sends no heartbeats.
        if !only_reports || !self.solve.is_working(worker) {
            self.outbox.release(worker);
        }
    }
}
