//! The best move and the line of what has been solved: found from what searches have left, and searched on where that
//! ends.

use std::ops::ControlFlow;

use jlpns_games::spec::{GameSpec, MoveError, position_after};
use jlpns_games::{Game, Move, with_game};
use jlpns_search::answer::{Proved, line};
use jlpns_search::search::Observer;
use jlpns_search::{Findings, TranspositionTable};
use tracing::warn;

use super::interrupt::Interrupt;
use super::values;

/// The flag of all commands that have a line to show.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LineFlags {
    /// How many moves of the line to show that keeps what is proved; 0 for none
    /// [default: up to the end of the game]
    #[arg(long, value_name = "N", env = "JLPNS_LINE", allow_hyphen_values = true)]
    #[arg(value_parser = values::line_length)]
    line: Option<u32>,
}

impl LineFlags {
    /// How many moves are to be found. The first is found in any case: it is the best move.
    fn most(self) -> usize {
        self.line.map_or(usize::MAX, |line| line.max(1) as usize)
    }

    /// The line after these moves from the start of the game, of which this is proved. Empty if nothing is proved,
    /// if it was stopped, or if it leads nowhere, because what was believed is not true.
    pub fn find(
        self,
        spec: &GameSpec,
        moves: &[Move],
        proved: Proved,
        table: &TranspositionTable,
        interrupt: &Interrupt,
    ) -> Result<BestLine, MoveError> {
        let mut stop = StopWhenAsked(interrupt);
        with_game!(spec.game(), game => {
            let mut position = position_after(game, moves)?;
            let found = line(game, &mut position, proved, self.most(), table, &mut stop);
            let found = found.unwrap_or_else(|no_move| {
                warn!("no best move is shown: {no_move}");
                Vec::new()
            });
            let kept = proved.kept_by(game.to_move(&position), game.scale());
            let begins_with_best = kept.is_some() && !found.is_empty();
            let moves = names(game, position, &found);
            let best = moves.first().filter(|_| begins_with_best).cloned();
            Ok(BestLine { best, moves: if self.line == Some(0) { Vec::new() } else { moves } })
        })
    }
}

/// Moves that keep what is proved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BestLine {
    /// The first one, if it can be called best.
    pub best: Option<String>,
    /// Their names, as many as are to be shown.
    pub moves: Vec<String>,
}

/// The names of moves that follow each other.
fn names<G: Game>(game: &G, mut position: G::Position, moves: &[Move]) -> Vec<String> {
    let name = |&mv: &Move| {
        let name = game.move_name(&position, mv);
        game.play(&mut position, mv);
        name
    };
    moves.iter().map(name).collect()
}

/// Stops a search when the user asks for it.
struct StopWhenAsked<'a>(&'a Interrupt);

impl Observer for StopWhenAsked<'_> {
    fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if self.0.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
