//! Taking a solve up where it was: a snapshot, the records after it, and the same fold as ever.

use jlpns_games::spec::MoveError;

use crate::belief::{Belief, Machines};
use crate::ledger::Ledger;
use crate::top_level::{RestoreError, restored};
use crate::{Action, Record, Snapshot, Solve, SolveSettings};

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
        let mut records = records.into_iter().peekable();
        let mut solve = Solve::with_leases_from(settings, first_lease)?;
        let first = records.peek().map_or(1, |&(number, _)| number);
        solve.take_up(snapshots, first)?;
        for (number, record) in records {
            if number > solve.ledger.applied() {
                solve.apply(number, &record, None);
            }
        }
        solve.actions.clear();
        solve.begin();
        solve.call_off_moot();
        solve.announce_end();
        (solve.earlier_nodes, solve.earlier_search_time) = (solve.nodes, solve.search_time);
        Ok(solve)
    }

    /// Takes up the newest snapshot that can be read; the empty tree if there is none and the records
    /// begin at the beginning.
    fn take_up(&mut self, snapshots: Vec<Snapshot>, first: u64) -> Result<(), ResumeError> {
        let question = self.settings.question(&self.scale);
        let graph = self.settings.graph();
        let mut reason = None;
        for snapshot in snapshots {
            if first > snapshot.through + 1 {
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
        Ok(())
    }

    fn take_over(&mut self, snapshot: Snapshot) {
        self.ledger = Ledger::after(snapshot.through, snapshot.ended);
        self.secret = snapshot.secret;
        (self.jobs, self.nodes) = (snapshot.jobs, snapshot.nodes);
        (self.refused, self.search_time) = (snapshot.refused, snapshot.search_time);
        (self.without_room, self.reported_best) = (snapshot.without_room, snapshot.reported_best);
        let mut machines = Machines::default();
        for machine in snapshot.machines {
            machines.add(machine);
        }
        self.belief = Belief::restore(self.settings.belief, machines, snapshot.claims);
    }

    /// The solve as it is now, as far as it counts.
    pub fn snapshot(&self) -> Snapshot {
        let mut tree = Vec::new();
        self.tree.dump(&mut tree);
        Snapshot {
            through: self.ledger.applied(),
            secret: self.secret,
            jobs: self.jobs,
            nodes: self.nodes,
            refused: self.refused,
            search_time: self.search_time,
            without_room: self.without_room,
            reported_best: self.reported_best,
            machines: self.belief.machines().others().map(|(_, machine)| machine.clone()).collect(),
            claims: self.belief.claims().clone(),
            ended: self.ledger.ended().collect(),
            tree,
        }
    }

    /// Has a snapshot kept when enough has happened since the last one.
    pub(super) fn make_snapshot_when_due(&mut self) {
        let least = self.settings.snapshot_records.max(self.tree.size().live as u64 / TREE_SHARE);
        if self.settings.journal && self.ledger.since_snapshot() >= least.max(1) {
            self.ledger.note_snapshot();
            self.actions.push(Action::Snapshot(Box::new(self.snapshot())));
        }
    }
}
