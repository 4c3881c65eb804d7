//! Clients that wait for entries to end.

use std::collections::BTreeSet;

use jlpns_proto::v1;
use tokio::sync::mpsc::UnboundedSender;

/// Where the entries go that a client waits for.
pub(super) type Told = UnboundedSender<v1::QueueEntry>;

/// Clients, with the numbers that each still waits for.
#[derive(Debug, Default)]
pub(super) struct Followers(Vec<(BTreeSet<u64>, Told)>);

impl Followers {
    /// A client waits for these; it is let go when all have ended.
    pub fn add(&mut self, numbers: BTreeSet<u64>, told: Told) {
        if !numbers.is_empty() {
            self.0.push((numbers, told));
        }
    }

    /// Whether somebody waits for an entry.
    pub fn wait_for(&self, number: u64) -> bool {
        self.0.iter().any(|(numbers, _)| numbers.contains(&number))
    }

    /// An entry has ended.
    pub fn tell(&mut self, number: u64, entry: &v1::QueueEntry) {
        self.0.retain_mut(|(numbers, told)| {
            if !numbers.remove(&number) {
                return !told.is_closed();
            }
            told.send(entry.clone()).is_ok() && !numbers.is_empty()
        });
    }
}
