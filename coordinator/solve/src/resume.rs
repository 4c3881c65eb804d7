//! Taking a solve up where it was: a snapshot, the records after it, and the same fold as ever.

use std::collections::BTreeMap;
use std::time::Duration;

use jlpns_games::spec::MoveError;

use super::top_level::{RestoreError, restored, top_level};
use super::{Action, Notice, Record, Snapshot, Solve, SolveSettings, Trust};

/// A snapshot is due after records for this share of the tree's nodes, as a divisor: reading the
/// records takes less time than reading the tree.
const TREE_SHARE: u64 = 16;

/// Why a solve cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The moves to the root are not legal.
    #[error(transparent)]
    Moves(#[from] MoveError),
    /// There is no usable snapshot, and the records do not begin at the beginning.
    #[error(
        "no snapshot can be used ({}), and the records begin with number {first}, not 1",
        reason.as_ref().map_or_else(|| "there is none".to_owned(), ToString::to_string)
    )]
    NoBeginning {
        /// What is wrong with the newest snapshot, if there is one.
        reason: Option<RestoreError>,
        /// The number of the first record that there is.
        first: u64,
    },
}

impl Solve {
    /// Takes a solve up from its snapshots, the newest first, and its records, in order. The numbers
    /// of leases begin at `first_lease`, which must be above all that were given before.
    pub fn resume(
        settings: SolveSettings,
        first_lease: u64,
        snapshots: Vec<Snapshot>,
        records: impl IntoIterator<Item = (u64, Record)>,
    ) -> Result<Solve, ResumeError> {
        let mut solve = Solve::with_leases_from(settings, first_lease)?;
        solve.replay(snapshots, records.into_iter().collect())?;
        solve.actions.clear();
        solve.call_off_moot();
        solve.announce_end();
        (solve.earlier_nodes, solve.earlier_search_time) = (solve.nodes, solve.search_time);
        Ok(solve)
    }

    /// Builds the tree anew from the snapshots and records that are durable now, without what
    /// does not count any more: the answer to [`Action::Rebuild`].
    pub fn rebuild(
        &mut self,
        snapshots: Vec<Snapshot>,
        records: Vec<(u64, Record)>,
        now: Duration,
    ) -> Result<(), ResumeError> {
        self.call_off_everything();
        let durable = records.last().map_or(self.applied, |&(number, _)| number);
        self.replay(snapshots, records)?;
        self.rebuilding = false;
        // What is durable has been taken up; the rest is still to come, into the new tree.
        for waiting in &mut self.unrecorded {
            waiting.node = None;
            if waiting.number <= durable
                && let Some((worker, lease)) = waiting.from.take()
            {
                self.actions.push(Action::Acknowledge { worker, lease });
            }
        }
        self.unrecorded.retain(|waiting| waiting.number > durable);
        self.applied = self.applied.max(durable);
        if !self.settings.journal {
            self.recorded(self.written);
        }
        self.notify(Notice::Rebuilt { jobs: self.jobs });
        self.settle(now);
        Ok(())
    }

    /// Replaces the tree and the counters by what snapshots and records say.
    fn replay(
        &mut self,
        snapshots: Vec<Snapshot>,
        records: Vec<(u64, Record)>,
    ) -> Result<(), ResumeError> {
        let mut liars: BTreeMap<String, u64> = BTreeMap::new();
        for (name, standing) in self.trust.standings() {
            liars.extend(standing.quarantined.map(|after| (name.clone(), after)));
        }
        for (_, record) in &records {
            if let Record::Quarantined { worker, after } = record {
                liars.insert(worker.clone(), *after);
            }
        }
        let first = records.first().map_or(1, |&(number, _)| number);
        self.take_up(snapshots, &liars, first)?;
        for (worker, &after) in &liars {
            self.trust.quarantine(worker, after);
        }
        for (number, record) in records {
            if number > self.applied {
                self.apply(number, &record, None);
            }
        }
        self.rebuilding = false;
        // Whoever has reported may come back, and contradict.
        let until = self.heard + 2 * self.settings.lease_length;
        let known = self.trust.standings().filter(|(_, standing)| standing.quarantined.is_none());
        self.missed.extend(known.map(|(name, _)| (name.clone(), until)));
        self.actions.retain(|action| !matches!(action, Action::Rebuild));
        self.written = self.written.max(self.applied);
        Ok(())
    }

    /// Takes up the newest snapshot that can be read and has nothing of liars in it; the empty tree
    /// if there is none and the records begin at the beginning.
    fn take_up(
        &mut self,
        snapshots: Vec<Snapshot>,
        liars: &BTreeMap<String, u64>,
        first: u64,
    ) -> Result<(), ResumeError> {
        let question = self.settings.question(&self.scale);
        let graph = self.settings.graph();
        let mut reason = None;
        for snapshot in snapshots {
            // A liar is in it with nothing but what was confirmed, or is known there as a liar.
            let clean = liars.iter().all(|(name, &after)| {
                let standing = snapshot.standings.iter().find(|(other, _)| other == name);
                standing.is_none_or(|(_, s)| s.quarantined.is_some() || s.last_claim <= after)
            });
            if !clean || first > snapshot.through + 1 {
                continue;
            }
            let (spec, moves) = (&self.settings.spec, &self.settings.moves);
            match restored(spec, moves, question, graph, &snapshot.tree) {
                Ok(tree) => {
                    self.tree = tree;
                    self.take_over(snapshot);
                    return Ok(());
                }
                Err(error) => {
                    reason.get_or_insert(error);
                }
            }
        }
        if first > 1 {
            return Err(ResumeError::NoBeginning { reason, first });
        }
        self.tree = top_level(&self.settings.spec, &self.settings.moves, question, graph)?;
        self.take_over(Snapshot::default());
        Ok(())
    }

    fn take_over(&mut self, snapshot: Snapshot) {
        self.applied = snapshot.through;
        self.snapshot = snapshot.through;
        self.unsettled.clear();
        (self.jobs, self.nodes) = (snapshot.jobs, snapshot.nodes);
        (self.refused, self.search_time) = (snapshot.refused, snapshot.search_time);
        (self.without_room, self.reported_best) = (snapshot.without_room, snapshot.reported_best);
        self.trust = Trust::new(self.settings.recheck);
        for (worker, standing) in snapshot.standings {
            self.trust.restore(worker, standing);
        }
        // Without rechecks nobody would take them up.
        if self.trust.rechecks() {
            snapshot.claims.into_iter().for_each(|claim| self.trust.restore_claim(claim));
        }
        // What has ended in this life of the solve has ended.
        for (first, last) in snapshot.ended {
            self.ended.insert_range(first, last);
        }
    }

    /// Whether a snapshot would hold nothing that is about to be taken down.
    pub fn is_sound(&self) -> bool {
        !self.rebuilding
    }

    /// The solve as it is now, as far as it counts.
    pub fn snapshot(&self) -> Snapshot {
        let mut tree = Vec::new();
        self.tree.dump(&mut tree);
        Snapshot {
            through: self.applied,
            jobs: self.jobs,
            nodes: self.nodes,
            refused: self.refused,
            search_time: self.search_time,
            without_room: self.without_room,
            reported_best: self.reported_best,
            standings: self.trust.standings().map(|(n, s)| (n.clone(), s.clone())).collect(),
            claims: self.trust.claims().cloned().collect(),
            ended: self.ended.ranges().collect(),
            tree,
        }
    }

    /// Has a snapshot kept when enough has happened since the last one.
    pub(super) fn make_snapshot_when_due(&mut self) {
        let least = self.settings.snapshot_records.max(self.tree.size().live as u64 / TREE_SHARE);
        if !self.settings.journal || self.rebuilding || self.applied - self.snapshot < least.max(1)
        {
            return;
        }
        self.snapshot = self.applied;
        self.actions.push(Action::Snapshot(Box::new(self.snapshot())));
        let waited = self.trust.settle();
        self.unsettled.push_back((self.applied, waited));
        self.settle_snapshots();
    }

    /// Says which snapshots hold nothing but what is confirmed.
    pub(super) fn settle_snapshots(&mut self) {
        for (_, waited) in &mut self.unsettled {
            waited.retain(|name, number| {
                let standing = self.trust.of(name);
                standing.quarantined.is_none() && standing.confirmed_through < *number
            });
        }
        let newest = self.unsettled.iter().rposition(|(_, waited)| waited.is_empty());
        if let Some(newest) = newest
            && let Some((through, _)) = self.unsettled.drain(..=newest).next_back()
        {
            self.actions.push(Action::Settled { through });
        }
    }
}
