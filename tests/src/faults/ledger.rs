//! What passes between workers and a coordinator, as far as promises hang on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::worker_message::Kind as FromWorker;

/// What relays have seen, over all workers and all lives of a coordinator.
#[derive(Debug, Default)]
pub struct Ledger {
    book: Mutex<Book>,
}

/// The entries of a [`Ledger`].
#[derive(Clone, Debug, Default)]
pub struct Book {
    streams: u64,
    /// On which stream each lease was granted.
    granted: BTreeMap<u64, u64>,
    /// Leases that are not their worker's any more: called back, or declined.
    withdrawn: BTreeSet<u64>,
    /// Leases whose report was acknowledged.
    acknowledged: BTreeSet<u64>,
    /// Those of them whose report has to be in the journal.
    promised: BTreeSet<u64>,
}

impl Ledger {
    /// A number for a new stream.
    pub fn stream(&self) -> u64 {
        let mut book = self.book();
        book.streams += 1;
        book.streams
    }

    /// Notes what a coordinator says, before anything happens to it.
    pub fn hear(&self, stream: u64, message: &v1::CoordinatorMessage) {
        let Some(FromCoordinator::Batch(batch)) = &message.kind else { return };
        let mut book = self.book();
        book.withdrawn.extend(&batch.cancels);
        for &lease in &batch.acknowledged {
            book.acknowledged.insert(lease);
            // A report that ends a lease which its worker holds all the time always tells something;
            // one that comes late, or on another stream, may tell nothing any more.
            if book.granted.get(&lease) == Some(&stream) && !book.withdrawn.contains(&lease) {
                book.promised.insert(lease);
            }
        }
        book.granted.extend(batch.leases.iter().map(|lease| (lease.lease_id, stream)));
    }

    /// Notes what a coordinator is told.
    pub fn tell(&self, message: &v1::WorkerMessage) {
        let Some(FromWorker::Batch(batch)) = &message.kind else { return };
        self.book().withdrawn.extend(batch.declines.iter().map(|decline| decline.lease_id));
    }

    /// How many leases had their report acknowledged so far.
    pub fn acknowledged(&self) -> usize {
        self.book().acknowledged.len()
    }

    /// The entries so far.
    pub fn read(&self) -> Book {
        self.book().clone()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nobody panics with the book")
    }
}

impl Book {
    /// How many leases were granted.
    pub fn granted(&self) -> usize {
        self.granted.len()
    }

    /// How many leases had their report acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    /// The leases whose report has to be in the journal.
    pub fn promised(&self) -> &BTreeSet<u64> {
        &self.promised
    }

    /// How many leases did not go their way: from the grant to the acknowledgement on one stream.
    pub fn disturbed(&self) -> usize {
        self.granted.len() - self.promised.len()
    }
}
