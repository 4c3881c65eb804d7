//! What clients ask of a queue: its entries, their ends, how it stands.

use std::collections::BTreeSet;

use jlpns_proto::v1;
use jlpns_queue::entry::Entry;

use super::{Follower, QueueDriver};
use crate::queue::words::{entry_to_wire, state_to_wire};

impl QueueDriver {
    pub(super) fn list(
        &self,
        numbers: &[u64],
        states: &[v1::EntryState],
    ) -> Result<Vec<v1::QueueEntry>, u64> {
        let told = |(number, entry): (u64, &Entry)| {
            let slots = self.shares.slots_of(number);
            // Nobody hears of an end that is not durable.
            let unended;
            let entry = if entry.has_ended() && !self.queue.has_ended_for_good(number) {
                unended = entry.before_its_end();
                &unended
            } else {
                entry
            };
            let is_asked = states.is_empty() || states.contains(&state_to_wire(entry.state));
            is_asked.then(|| entry_to_wire(number, entry, slots))
        };
        if numbers.is_empty() {
            return Ok(self.queue.entries().filter_map(told).collect());
        }
        let numbers: BTreeSet<u64> = numbers.iter().copied().collect();
        let mut entries = Vec::with_capacity(numbers.len());
        for number in numbers {
            let entry = self.queue.entry(number).ok_or(number)?;
            entries.extend(told((number, entry)));
        }
        Ok(entries)
    }

    pub(super) fn follow(&mut self, numbers: &[u64], follower: Follower) {
        let Follower { told, missing } = follower;
        let all: BTreeSet<u64> = if numbers.is_empty() {
            self.queue.entries().map(|(number, _)| number).collect()
        } else {
            numbers.iter().copied().collect()
        };
        let unknown = all.iter().find(|&&number| self.queue.entry(number).is_none());
        // The client may have gone.
        let _ = missing.send(unknown.copied());
        if unknown.is_some() {
            return;
        }
        let mut waited_for = BTreeSet::new();
        for number in all {
            match self.queue.entry(number).filter(|_| self.queue.has_ended_for_good(number)) {
                Some(entry) => drop(told.send(entry_to_wire(number, entry, 0))),
                None => drop(waited_for.insert(number)),
            }
        }
        self.followers.add(waited_for, told);
    }

    pub(super) fn status(&self) -> v1::QueueStatus {
        let counts = self
            .queue
            .counts()
            .map(|(state, entries)| v1::EntryCount { state: state_to_wire(state).into(), entries });
        v1::QueueStatus {
            counts: counts.collect(),
            workers: self.workers.status(&self.places),
            seconds: self.began.elapsed().as_secs_f64(),
            search_seconds: self.places.search_seconds(),
            slot_seconds: self.workers.slot_seconds(),
            halted: self.halted.clone(),
            quarantined: self.queue.names_put_out().map(str::to_owned).collect(),
        }
    }
}
