//! What the next message to each worker will hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use jlpns_proto::MAX_BATCH;
use jlpns_proto::convert::packed_parts;
use jlpns_proto::prost::bytes::Bytes;
use jlpns_proto::v1::CoordinatorBatch;
use jlpns_search::SolvedPosition;
use jlpns_solve::{LeaseId, WorkerId};

/// Messages that are being put together, and acknowledgements that wait for one to go with: they are
/// in no hurry, and a message of their own for each would double the messages.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    batches: BTreeMap<WorkerId, CoordinatorBatch>,
    acknowledged: BTreeMap<WorkerId, Vec<u64>>,
    /// The workers of those that came since the last messages.
    just_acknowledged: Vec<WorkerId>,
    /// What was told last, and how it goes on the wire: most is told to all workers.
    packed: Option<(Arc<[SolvedPosition]>, Vec<Bytes>)>,
}

impl Outbox {
    /// The next message to a worker.
    pub fn of(&mut self, worker: WorkerId) -> &mut CoordinatorBatch {
        self.batches.entry(worker).or_default()
    }

    /// Tells a worker what others have solved.
    pub fn tell(&mut self, worker: WorkerId, solved: Arc<[SolvedPosition]>) {
        let packed = match self.packed.take() {
            Some((last, packed)) if Arc::ptr_eq(&last, &solved) => packed,
            _ => packed_parts(&solved),
        };
        self.of(worker).solved.extend_from_slice(&packed);
        self.packed = Some((solved, packed));
    }

    /// Acknowledges a report, with the next message that there is for its worker.
    pub fn acknowledge(&mut self, worker: WorkerId, LeaseId(lease): LeaseId) {
        let leases = self.acknowledged.entry(worker).or_default();
        leases.push(lease);
        if leases.len() < MAX_BATCH {
            self.just_acknowledged.push(worker);
        } else {
            self.release(worker);
        }
    }

    /// Lets the acknowledgements that there are for a worker when the messages are taken go with them.
    pub fn release(&mut self, worker: WorkerId) {
        // They go with any message, and there is one now; without them it is empty and not sent.
        self.of(worker);
    }

    /// Does that for all workers.
    pub fn release_all(&mut self) {
        let workers: Vec<WorkerId> = self.acknowledged.keys().copied().collect();
        workers.into_iter().for_each(|worker| self.release(worker));
    }

    /// Drops what there is for a worker.
    pub fn forget(&mut self, worker: WorkerId) {
        self.batches.remove(&worker);
        self.acknowledged.remove(&worker);
    }

    /// Takes the messages. Acknowledgements go with what else there is for their worker, and alone to
    /// a worker that holds no leases then: nothing else may ever come for it.
    pub fn take(
        &mut self,
        works: impl Fn(WorkerId) -> bool,
    ) -> BTreeMap<WorkerId, CoordinatorBatch> {
        for worker in std::mem::take(&mut self.just_acknowledged) {
            if !works(worker) {
                self.release(worker);
            }
        }
        let mut batches = std::mem::take(&mut self.batches);
        if !self.acknowledged.is_empty() {
            for (worker, batch) in &mut batches {
                batch.acknowledged.extend(self.acknowledged.remove(worker).unwrap_or_default());
            }
        }
        batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: WorkerId = WorkerId(1);
    const SECOND: WorkerId = WorkerId(2);

    /// An outbox with an acknowledgement for each of two workers.
    fn outbox() -> Outbox {
        let mut outbox = Outbox::default();
        outbox.acknowledge(FIRST, LeaseId(10));
        outbox.acknowledge(SECOND, LeaseId(20));
        outbox
    }

    fn acknowledged(batches: &BTreeMap<WorkerId, CoordinatorBatch>) -> Vec<(WorkerId, &[u64])> {
        batches.iter().map(|(&worker, batch)| (worker, &*batch.acknowledged)).collect()
    }

    #[test]
    fn acknowledgements_wait_for_another_message_while_their_worker_works() {
        let mut outbox = outbox();
        assert!(outbox.take(|_| true).is_empty());
        outbox.of(SECOND).cancels.push(21);
        outbox.acknowledge(SECOND, LeaseId(22));
        assert_eq!(acknowledged(&outbox.take(|_| true)), [(SECOND, &[20, 22][..])]);
        outbox.acknowledge(FIRST, LeaseId(11));
        assert_eq!(acknowledged(&outbox.take(|worker| worker != FIRST)), [(FIRST, &[10, 11][..])]);
        assert!(outbox.take(|_| false).is_empty(), "each goes once");
    }

    #[test]
    fn acknowledgements_that_were_released_go_alone() {
        let mut outbox = outbox();
        outbox.release(FIRST);
        assert_eq!(acknowledged(&outbox.take(|_| true)), [(FIRST, &[10][..])]);
        outbox.forget(SECOND);
        assert!(outbox.take(|_| false).is_empty());
    }
}
