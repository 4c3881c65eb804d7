//! Taking a solve up where it was: a snapshot, the records after it, and the same fold as ever.

use jlpns_games::spec::MoveError;

use crate::belief::{Belief, Machines};
use crate::ledger::{About, Ledger};
use crate::sharing::Sharing;
use crate::tally::Tally;
use crate::top_level::{RestoreError, restored};
use crate::{Record, Snapshot, Solve, SolveSettings};

/// Why a solve cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The moves to the root are not legal.
    #[error(transparent)]
    Moves(#[from] MoveError),
    /// There is no usable snapshot, and the records do not begin at the beginning.
    #[error(
        "no snapshot can be used ({}), and {}",
        reason.as_ref().map_or_else(|| "there is none".to_owned(), ToString::to_string),
        first.map_or_else(
            || "there are no records".to_owned(),
            |first| format!("the records begin with number {first}, not 1"),
        )
    )]
    NoBeginning {
        /// What is wrong with the newest snapshot, if there is one.
        reason: Option<RestoreError>,
        /// The number of the first record, if there is one.
        first: Option<u64>,
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
        let first = records.peek().map(|&(number, _)| number);
        solve.take_up(snapshots, first)?;
        for (number, record) in records {
            if number > solve.ledger.applied() {
                solve.apply(number, &record, About::default());
            }
        }
        solve.leave_memory_to_claims();
        solve.actions.clear();
        solve.begin();
        solve.apply_durable(usize::MAX);
        solve.dispatch.call_off_moot(&mut *solve.tree, &mut solve.actions);
        solve.announce_end();
        solve.tell_of_positions_anew();
        solve.tally.begin_a_life();
        Ok(solve)
    }

    /// Takes up the newest snapshot that can be read; the empty tree if there is none and the records
    /// begin at the beginning.
    fn take_up(&mut self, snapshots: Vec<Snapshot>, first: Option<u64>) -> Result<(), ResumeError> {
        let (question, graph) = (self.problem.question, self.problem.settings.graph());
        let mut reason = None;
        for snapshot in snapshots {
            if first.is_some_and(|first| first > snapshot.through + 1) {
                continue;
            }
            let settings = &self.problem.settings;
            if settings.positions.is_some() {
                // Whoever asks keeps the positions; what is known of them is in the claims.
                self.take_over(snapshot);
                return Ok(());
            }
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
        // Without records there is nothing but what a snapshot has.
        if first.map_or(reason.is_some(), |first| first > 1) {
            return Err(ResumeError::NoBeginning { reason, first });
        }
        Ok(())
    }

    fn take_over(&mut self, snapshot: Snapshot) {
        let settings = &self.problem.settings;
        self.tally = Tally::of(&snapshot);
        self.ledger = Ledger::after(settings.journal, snapshot.through, snapshot.ended);
        self.dispatch.seals.secret = snapshot.secret;
        if snapshot.has_ended_sharing {
            self.sharing = Sharing::ended();
        }
        let mut machines = Machines::default();
        for machine in snapshot.machines {
            machines.add(machine);
        }
        self.belief = Belief::restore(settings.belief, machines, snapshot.claims);
    }
}
