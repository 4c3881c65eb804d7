//! `jlpns explore`: a game, or what a solve has left in its folder, looked at move by move.
//!
//! - `place`: one position as people look at it; `knowledge`: what is known of positions.
//! - `model`: what is shown and how keys change it, without a terminal; `keys`: which key does what.
//! - `view`: how it is drawn.
//! - `looking`: the searches of what is looked at; `background`: the thread that they run on.
//! - `screen`: the terminal, with all of these; `once`: the answer where there is none.

mod background;
mod keys;
mod knowledge;
mod looking;
mod model;
mod once;
mod place;
mod screen;
mod view;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use bytesize::ByteSize;
use jlpns_games::spec::{GameSpec, Games, format_moves};
use jlpns_games::{Move, with_game};
use jlpns_search::TranspositionTable;
use jlpns_solve::Solve;
use looking::{Limits, Looker};
use model::Explorer;

use super::interrupt::Interrupt;
use super::keeping::kept_solve;
use super::output::Output;
use super::slots::SlotFlags;
use super::spec::Score;
use super::{CommandError, End, values};

/// What `jlpns explore` is given.
#[derive(Debug, clap::Args)]
pub struct ExploreFlags {
    /// The game, as for `jlpns solve`; or the directory that --data named, of a solve that is not running
    #[arg(value_name = "SPEC|DIR")]
    subject: String,

    /// What counts, as for `jlpns solve`; a solve in DIR says so itself
    #[arg(long, value_enum, default_value_t, env = "JLPNS_SCORE")]
    score: Score,

    /// Moves to play before the position, from SPEC or from the position of the solve in DIR
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    #[arg(env = "JLPNS_MOVES")]
    moves: String,

    /// Without a terminal: stop when so many nodes have been created [default: never]
    #[arg(long, value_name = "N", env = "JLPNS_MAX_NODES", allow_hyphen_values = true)]
    #[arg(value_parser = values::node_count)]
    max_nodes: Option<u64>,

    /// Without a terminal: stop after so long a time [default: never]
    #[arg(long, value_name = "TIME", env = "JLPNS_MAX_TIME", allow_hyphen_values = true)]
    #[arg(value_parser = values::duration)]
    max_time: Option<Duration>,

    #[command(flatten)]
    slots: SlotFlags,

    /// How much memory the tables and the journal's tree may take
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true)]
    #[arg(value_parser = values::memory, env = "JLPNS_MEMORY")]
    memory: u64,

    /// How the result is printed; with json, once and without a screen
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

impl ExploreFlags {
    /// Whether the terminal becomes the board.
    pub fn is_on_screen(&self) -> bool {
        self.output == Output::Text && io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}

/// What is explored.
struct Subject {
    spec: GameSpec,
    moves: Vec<Move>,
    solve: Option<Solve>,
    /// The bytes that a table may take.
    memory: u64,
}

/// Shows the game on the terminal, or answers once.
pub fn run(flags: &ExploreFlags, games: &Games) -> Result<End, CommandError> {
    let on_screen = flags.is_on_screen();
    let Subject { spec, moves, solve, memory } = subject(flags, games)?;
    let table = TranspositionTable::with_bytes(memory).map_err(|error| {
        CommandError::BadInput(format!("{} for '--memory': {error}", ByteSize(flags.memory)))
    })?;
    let slots = flags.slots.count();
    let explorer = Explorer::new(spec.clone(), moves)?;
    let looker = Looker::new(spec, solve, table, slots);
    if on_screen {
        return Ok(screen::run(explorer, looker)?);
    }
    let interrupt = Interrupt::listen(None)?;
    let end = flags.max_time.and_then(|time| Instant::now().checked_add(time));
    let is_stopped = || interrupt.is_asked() || end.is_some_and(|end| Instant::now() >= end);
    let limits = Limits { nodes: flags.max_nodes, is_stopped: &is_stopped };
    once::run(explorer, looker, &limits, flags.output)
}

fn subject(flags: &ExploreFlags, games: &Games) -> Result<Subject, CommandError> {
    let directory = Path::new(&flags.subject);
    if !directory.is_dir() {
        let spec = flags.score.of(values::spec(&flags.subject, games)?)?;
        let spec = spec.with_memory(flags.memory / 8);
        let moves = with_game!(spec.game(), game => values::moves(game, &flags.moves))?;
        let memory = flags.memory.saturating_sub(spec.memory());
        return Ok(Subject { spec, moves, solve: None, memory });
    }
    let (solve, _) = kept_solve(directory, games, flags.memory / 2)?;
    let (spec, root) = (&solve.settings().spec, &solve.settings().moves);
    let moves = with_game!(spec.game(), game => {
        let all = format!("{},{}", format_moves(game, root), flags.moves);
        values::moves(game, &all)
    })?;
    Ok(Subject { spec: spec.clone(), moves, memory: flags.memory / 2, solve: Some(solve) })
}
