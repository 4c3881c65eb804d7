//! `jlpns moves`, and `--every-move`: what each legal move of a position is worth.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use bytesize::ByteSize;
use jlpns_games::spec::{GameSpec, Games, format_moves, position_after};
use jlpns_games::{Bounds, Game, Move, MoveList, Outcome, Player, with_game};
use jlpns_search::search::SearchSettings;
use jlpns_search::{Algorithm, Initialisation, Question, TranspositionTable};
use serde::Serialize;

use super::interrupt::Interrupt;
use super::output::{self, Output, grouped, pace, rate};
use super::progress::Progress;
use super::slots::SlotFlags;
use super::spec::SpecFlags;
use super::{CommandError, End, values};
use crate::many::ManyPositions;

/// What `jlpns moves` is given.
#[derive(Debug, clap::Args)]
pub struct MovesFlags {
    #[command(flatten)]
    spec: SpecFlags,

    /// Moves to play from SPEC before the position
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    #[arg(env = "JLPNS_MOVES")]
    moves: String,

    #[command(flatten)]
    slots: SlotFlags,

    /// How much memory the tables may take
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true)]
    #[arg(value_parser = values::memory, env = "JLPNS_MEMORY")]
    memory: u64,

    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// A legal move, and the value of the position after it from Max's view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveValue {
    /// Its name.
    #[serde(rename = "move")]
    pub mv: String,
    /// The value; null if the search for it was stopped.
    pub value: Option<String>,
    /// The move on which the game ends, if the outcomes tell these apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_move: Option<u32>,
}

/// What is known of each move.
#[derive(Debug)]
pub struct EveryMove {
    /// The legal moves in the game's order.
    pub moves: Vec<MoveValue>,
    /// The value of the position, if that of each move is known.
    pub value: Option<String>,
    /// The move on which the game ends, if the outcomes tell these apart.
    pub last_move: Option<u32>,
    /// The first move of this value.
    pub best_move: Option<String>,
}

/// The result of `jlpns moves`, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct MovesResult {
    spec: String,
    position: String,
    moves: Vec<MoveValue>,
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_move: Option<u32>,
    best_move: Option<String>,
    nodes: u64,
    seconds: f64,
}

/// Finds the value of every legal move and prints them.
pub fn run(flags: &MovesFlags, games: &Games) -> Result<End, CommandError> {
    let spec = flags.spec.read(games)?.with_memory(flags.memory / 8);
    let moves = with_game!(spec.game(), game => values::moves(game, &flags.moves))?;
    let memory = flags.memory.saturating_sub(spec.memory());
    let table = TranspositionTable::with_bytes(memory).map_err(|error| {
        CommandError::BadInput(format!("{} for '--memory': {error}", ByteSize(flags.memory)))
    })?;
    let interrupt = Interrupt::listen(None)?;
    let progress = Progress::start();
    let nodes = AtomicU64::new(0);
    let slots = flags.slots.count();
    let searched = Searched { interrupt: &interrupt, progress: &progress, nodes: &nodes };
    let every = every_move(&spec, &moves, &table, slots, &searched)?;
    progress.finish();
    let (nodes, seconds) = (nodes.load(Ordering::Relaxed), progress.elapsed().as_secs_f64());
    let end = if every.value.is_some() { End::Solved } else { End::Unsolved };
    let position = with_game!(spec.game(), game => format_moves(game, &moves));
    match flags.output {
        Output::Json => {
            let EveryMove { moves, value, last_move, best_move } = every;
            let spec = spec.to_string();
            let result =
                MovesResult { spec, position, moves, value, last_move, best_move, nodes, seconds };
            output::print_json(&result)?;
        }
        Output::Text => output::print_text(&format!(
            "{spec}{}{}\n{}\n{} nodes, {seconds:.3} s, {}",
            if position.is_empty() { "" } else { " after " },
            position,
            every.table(),
            grouped(nodes),
            rate(nodes, seconds),
        ))?,
    }
    Ok(end)
}

/// How a search of moves is watched.
pub struct Searched<'a> {
    /// What the user asks for.
    pub interrupt: &'a Interrupt,
    /// Where its progress is shown.
    pub progress: &'a Progress,
    /// The nodes created so far.
    pub nodes: &'a AtomicU64,
}

/// The value of each legal move after `moves`; of moves to positions with the same key, one is searched. The table
/// holds what is known, and takes what is found.
pub fn every_move(
    spec: &GameSpec,
    moves: &[Move],
    table: &TranspositionTable,
    slots: u32,
    searched: &Searched<'_>,
) -> Result<EveryMove, CommandError> {
    let (legal, names, player) = with_game!(spec.game(), game => children(game, moves))?;
    let scale = with_game!(spec.game(), game => game.scale());
    let mut distinct: Vec<u128> = Vec::new();
    let mut positions = Vec::new();
    for &(mv, key) in &legal {
        if !distinct.contains(&key) {
            distinct.push(key);
            positions.push([moves, &[mv][..]].concat());
        }
    }
    let settings = SearchSettings {
        algorithm: Algorithm::AlphaBeta,
        initialisation: Initialisation::Mobility,
        ..SearchSettings::default()
    };
    let mut progress = searched.progress.clone();
    let many = ManyPositions {
        spec,
        question: Question::Value(scale.bounds()),
        settings: &settings,
        table,
        threads: slots as usize,
        is_stopped: &|| searched.interrupt.is_asked(),
        nodes: searched.nodes,
    };
    let mut bounds: Vec<Bounds> = Vec::new();
    let total = positions.len();
    many.search(positions.into_iter(), |found| {
        bounds.push(found.bounds);
        progress.show_when_due(searched.nodes.load(Ordering::Relaxed), |_, a_second| {
            format!("{} of {total} moves, {}", bounds.len(), pace(a_second, "nodes"))
        });
        ControlFlow::Continue(())
    })?;
    let value_of = |key: u128| -> Option<Outcome> {
        let place = distinct.iter().position(|&other| other == key)?;
        bounds.get(place)?.value()
    };
    let values: Vec<Option<Outcome>> = legal.iter().map(|&(_, key)| value_of(key)).collect();
    let all: Option<Vec<Outcome>> = values.iter().copied().collect();
    let best = all.and_then(|all| match player {
        Player::Max => all.into_iter().max(),
        Player::Min => all.into_iter().min(),
    });
    let value_of = |outcome: Outcome| scale.value(outcome).to_owned();
    let last_move_of = |outcome: Outcome| scale.last_move(outcome);
    let best_move = best.and_then(|best| values.iter().position(|&value| value == Some(best)));
    let moves = names.iter().cloned().zip(&values);
    Ok(EveryMove {
        value: best.map(value_of),
        last_move: best.and_then(last_move_of),
        best_move: best_move.map(|place| names[place].clone()),
        moves: moves
            .map(|(mv, outcome)| MoveValue {
                mv,
                value: outcome.map(value_of),
                last_move: outcome.and_then(last_move_of),
            })
            .collect(),
    })
}

/// The legal moves of a position with the keys of what they lead to, their names, and who is to move.
type Children = (Vec<(Move, u128)>, Vec<String>, Player);

fn children<G: Game>(game: &G, moves: &[Move]) -> Result<Children, CommandError> {
    let mut position = position_after(game, moves)?;
    let mut legal = MoveList::new();
    if game.outcome(&position).is_none() {
        game.moves(&position, &mut legal);
    }
    if legal.is_empty() {
        let after = format_moves(game, moves);
        let sentence =
            format!("the game is over after '{after}', so there are no moves to look at");
        return Err(CommandError::BadInput(sentence));
    }
    let names = legal.iter().map(|&mv| game.move_name(&position, mv)).collect();
    let player = game.to_move(&position);
    let key = |&mv: &Move| {
        game.play(&mut position, mv);
        let key: u128 = game.key(&position).into();
        game.undo(&mut position, mv);
        (mv, key)
    };
    Ok((legal.iter().map(key).collect(), names, player))
}

impl EveryMove {
    /// A table for people.
    pub fn table(&self) -> String {
        let width = self.moves.iter().map(|known| known.mv.len()).max().unwrap_or(0).max(4);
        let of_distance = self.moves.iter().any(|known| known.last_move.is_some());
        let of_distance = if of_distance { "  last move" } else { "" };
        let mut lines = vec![format!("{:width$}  value{of_distance}", "move")];
        lines.extend(self.moves.iter().map(|known| {
            let is_best = self.value.is_some()
                && (&known.value, known.last_move) == (&self.value, self.last_move);
            let best = if is_best { "  best" } else { "" };
            let value = known.value.as_deref().unwrap_or("open");
            match known.last_move {
                Some(last_move) => format!("{:width$}  {value:5}  {last_move:9}{best}", known.mv),
                None => format!("{:width$}  {value}{best}", known.mv),
            }
        }));
        lines.join("\n")
    }
}
