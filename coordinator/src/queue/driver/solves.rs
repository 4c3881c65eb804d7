//! The solves of a queue, from their opening to their end.

use std::sync::Arc;
use std::time::Duration;

use jlpns_queue::Sweep;
use jlpns_queue::entry::EndKind;
use jlpns_solve::SolveStatus;
use tracing::warn;

use super::place::{OpenedDriver, PlaceEnd};
use super::{QueueCommand, QueueDriver, now_ms};
use crate::queue::opening::Uncertified;

/// After how long a solve is opened again that could not be, or broke down.
const TRY_AGAIN: Duration = Duration::from_secs(10);
/// A certificate that could not be made so often never will be: each try may take hours, and the next one comes after four
/// times as long.
const MOST_TRIES: u32 = 5;

impl QueueDriver {
    /// How far a solve is. That of an entry's own is stopped at its limit.
    pub(super) fn note_status(&mut self, number: u64, status: Option<SolveStatus>) {
        let told = status.clone();
        let is_own = self.places.note_status(number, status, &self.shares, self.workers.slots());
        let Some((status, entry)) = told.filter(|_| is_own).zip(self.queue.entry(number)) else {
            return;
        };
        let seconds = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let (nodes, jobs) = (status.nodes, status.jobs);
        let found = entry.with_work(nodes, jobs, seconds(status.search_seconds));
        let (nodes, worked) = (found.nodes, seconds(status.seconds) + entry.swept.1);
        self.queue.note_found(number, found);
        if let Some(reason) = self.queue.note_progress(number, nodes, worked, now_ms()) {
            self.places.stop_at_limit(number, reason);
        }
    }

    /// A solve has been opened: all workers are told of it.
    pub(super) fn opened(&mut self, number: u64, opened: anyhow::Result<OpenedDriver>) {
        match opened {
            Ok(driver) => {
                let begun =
                    self.places.begin(number, driver, &self.opening, &self.handle, &self.queue);
                if begun {
                    for (id, worker) in self.workers.all() {
                        let stopping = self.is_stopping.clone();
                        self.places.attach(number, id, worker, &self.handle, stopping);
                    }
                    self.divide();
                }
            }
            Err(error) => {
                warn!("a solve of the queue cannot be opened, and is tried again: {error:#}");
                let sweep = self.places.forget(number);
                self.try_again(number, sweep, TRY_AGAIN);
            }
        }
    }

    /// Opens a solve again after a while: what is wrong with the machine says nothing of an entry.
    fn try_again(&self, number: u64, sweep: Option<Arc<Sweep>>, after: Duration) {
        let queue = self.handle.clone();
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            queue.send(QueueCommand::Again { number, sweep });
        });
    }

    pub(super) fn open_again(&mut self, number: u64, sweep: Option<Arc<Sweep>>) {
        match sweep {
            Some(sweep) => self.queue.ask_again(&sweep),
            None => match self.queue.entry(number).filter(|entry| !entry.has_ended()) {
                Some(entry) => {
                    let asked = entry.asked.clone();
                    self.places.open(&self.opening, &self.handle, number, asked);
                }
                // It was cancelled meanwhile.
                None => self.queue.forget_open(number),
            },
        }
    }

    /// The driver of a solve has ended.
    pub(super) fn ended(&mut self, number: u64, end: PlaceEnd) {
        let Some(place) = self.places.remove(number) else { return };
        self.workers.forget_route(number);
        match end {
            PlaceEnd::Solve { kind, reason, found } => {
                self.queue.solve_ended(number, kind, reason, found, now_ms());
            }
            PlaceEnd::Uncertified(uncertified) => {
                let Uncertified { reason, found } = *uncertified;
                let tries = self.uncertified.entry(number).or_default();
                *tries += 1;
                if *tries < MOST_TRIES {
                    warn!("entry {number} is answered, but {reason}; it is tried again");
                    let after = TRY_AGAIN * 4_u32.pow(*tries - 1);
                    self.try_again(number, None, after);
                } else {
                    self.uncertified.remove(&number);
                    self.queue.solve_ended(number, EndKind::Failed, reason, found, now_ms());
                }
            }
            PlaceEnd::Sweep => {}
            PlaceEnd::Failed(reason) => {
                warn!("a solve of the queue has broken down, and is opened again: {reason}");
                self.try_again(number, place.sweep().cloned(), TRY_AGAIN);
            }
        }
        if let Some((sweep, of, positions)) = self.places.take_again(&place) {
            self.places.ask(&self.opening, &self.handle, sweep, of, positions);
        }
        self.divide();
    }
}
