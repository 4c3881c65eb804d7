//! Snapshots: the solve as it is after one of its records.
//!
//! The snapshot of a large tree is made in slices, so that workers need not wait for all of it: between
//! two slices they are heard and idle slots get jobs, but no record is applied. Records that become
//! durable meanwhile count when the snapshot is made.

use std::time::Duration;

use jlpns_search::graph::PartialDump;

use crate::{Action, Snapshot, Solve};

/// A snapshot is due after records for this share of the tree's nodes, as a divisor: reading the
/// records takes less time than reading the tree.
const TREE_SHARE: u64 = 16;

/// How long the next slice is put off: longer than one takes.
const PAUSE: Duration = Duration::from_millis(10);
/// There are about so many slices at the most, in each of the two rounds.
const MOST_SLICES: usize = 512;

/// The snapshot that is being made, if one is.
#[derive(Debug, Default)]
pub struct Snapshots(Option<(PartialDump, Duration)>);

impl Snapshots {
    /// Whether one is being made: then no record is applied.
    pub fn is_making_one(&self) -> bool {
        self.0.is_some()
    }

    /// When the next slice is due.
    pub fn next_slice(&self) -> Option<Duration> {
        self.0.as_ref().map(|&(_, due)| due)
    }
}

impl Solve {
    /// The solve as it is now, as far as it counts.
    pub fn snapshot(&self) -> Snapshot {
        let mut dump = self.tree.begin_dump();
        while !self.tree.dump_slice(&mut dump, usize::MAX) {}
        self.snapshot_of(dump)
    }

    fn snapshot_of(&self, dump: PartialDump) -> Snapshot {
        Snapshot {
            through: self.ledger.applied(),
            secret: self.dispatch.seals.secret,
            jobs: self.tally.jobs,
            nodes: self.tally.nodes,
            refused: self.tally.refused,
            search_time: self.tally.search_time,
            time: self.tally.time,
            without_room: self.tally.without_room,
            reported_most_proving: self.tally.reported_most_proving,
            has_ended_sharing: self.sharing.has_ended(),
            machines: self.belief.machines().others().map(|(_, machine)| machine.clone()).collect(),
            claims: self.belief.claims().clone(),
            ended: self.ledger.ended().collect(),
            tree: dump.into_bytes(),
        }
    }

    /// Begins a snapshot when enough has happened since the last one.
    pub(super) fn begin_snapshot_when_due(&mut self, now: Duration) {
        // It takes the longer the more places there are, also of nodes that were freed.
        let of_tree = self.tree.size().peak as u64 / TREE_SHARE;
        let least = self.problem.settings.snapshot_records.max(of_tree);
        if !self.snapshots.is_making_one() && self.ledger.is_snapshot_due(least) {
            self.ledger.note_snapshot();
            self.snapshots.0 = Some((self.tree.begin_dump(), now));
            self.make_slice_when_due(now);
        }
    }

    /// Goes on with the snapshot that is being made; has it kept when that was the last slice.
    pub(super) fn make_slice_when_due(&mut self, now: Duration) {
        let Some((mut dump, due)) = self.snapshots.0.take() else { return };
        let least = self.tree.size().peak / MOST_SLICES;
        let places = self.problem.settings.snapshot_slice.max(least);
        let made = now >= due && self.tree.dump_slice(&mut dump, places);
        if made {
            self.actions.push(Action::Snapshot(Box::new(self.snapshot_of(dump))));
        } else {
            let due = if now >= due { now + PAUSE } else { due };
            self.snapshots.0 = Some((dump, due));
        }
    }

    /// Drops the snapshot that is being made, and lets the records count that wait for it.
    pub fn abandon_snapshot(&mut self) {
        self.snapshots.0 = None;
        self.apply_durable(usize::MAX);
        self.announce_end();
    }
}
