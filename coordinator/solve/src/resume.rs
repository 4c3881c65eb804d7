//! Taking a solve up where it was: a snapshot, the records after it, and the same fold as ever.

use jlpns_games::spec::MoveError;

use crate::belief::{Belief, Machines};
use crate::ledger::{About, Ledger};
use crate::tally::Tally;
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
                solve.apply(number, &record, About::default());
            }
        }
        solve.actions.clear();
        solve.begin();
        solve.apply_durable();
        solve.dispatch.call_off_moot(&mut *solve.tree, &mut solve.actions);
        solve.announce_end();
        solve.tally.begin_a_life();
        Ok(solve)
    }

    /// Takes up the newest snapshot that can be read; the empty tree if there is none and the records
    /// begin at the beginning.
    fn take_up(&mut self, snapshots: Vec<Snapshot>, first: u64) -> Result<(), ResumeError> {
        let (question, graph) = (self.problem.question, self.problem.settings.graph());
        let mut reason = None;
        for snapshot in snapshots {
            if first > snapshot.through + 1 {
                continue;
            }
            let settings = &self.problem.settings;
            let (spec, moves) = (&settings.spec, &settings.moves);
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
        let settings = &self.problem.settings;
        self.tally = Tally::of(&snapshot);
        self.ledger = Ledger::after(settings.journal, snapshot.through, snapshot.ended);
        self.dispatch.seals.secret = snapshot.secret;
        let mut machines = Machines::default();
        for machine in snapshot.machines {
            machines.add(machine);
        }
        self.belief = Belief::restore(settings.belief, machines, snapshot.claims);
    }

    /// The solve as it is now, as far as it counts.
    pub fn snapshot(&self) -> Snapshot {
        let mut tree = Vec::new();
        self.tree.dump(&mut tree);
        Snapshot {
            through: self.ledger.applied(),
            secret: self.dispatch.seals.secret,
            jobs: self.tally.jobs,
            nodes: self.tally.nodes,
            refused: self.tally.refused,
            search_time: self.tally.search_time,
            without_room: self.tally.without_room,
            reported_best: self.tally.reported_best,
            machines: self.belief.machines().others().map(|(_, machine)| machine.clone()).collect(),
            claims: self.belief.claims().clone(),
            ended: self.ledger.ended().collect(),
            tree,
        }
    }

    /// Has a snapshot kept when enough has happened since the last one.
    pub(super) fn make_snapshot_when_due(&mut self) {
        let of_tree = self.tree.size().live as u64 / TREE_SHARE;
        if self.ledger.is_snapshot_due(self.problem.settings.snapshot_records.max(of_tree)) {
            self.ledger.note_snapshot();
            self.actions.push(Action::Snapshot(Box::new(self.snapshot())));
        }
    }
}
