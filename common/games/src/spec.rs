//! Game specs and move strings as text: `connect4:7x6`, `woodpush:10`, `44435`, `s0s9p4`.

mod games;

use std::fmt;
use std::str::FromStr;

use games::BY_DISTANCE;
pub use games::{BUILT_IN, GameFamily, Games};

use crate::by_distance::ByDistance;
use crate::connect4::{self, Connect4};
use crate::dyn_game::DynGame;
use crate::outcome::{NoWinner, ScaleError};
use crate::woodpush::{self, Woodpush};
use crate::{Game, Move, MoveList};

/// A game together with the text that names it.
///
/// ```
/// use jlpns_games::spec::{GameSpec, parse_moves};
/// use jlpns_games::{Game, with_game};
///
/// let spec: GameSpec = "Connect4:7X6".parse()?;
/// assert_eq!(spec.as_str(), "connect4:7x6");
/// let moves = with_game!(spec.game(), game => parse_moves(game, "44435"))?;
/// assert_eq!(moves.len(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GameSpec {
    text: String,
    game: AnyGame,
}

/// The games that a spec can name. [`with_game!`](crate::with_game) leads from here to code that
/// is compiled for each of them.
#[derive(Clone, Debug)]
pub enum AnyGame {
    /// Connect Four on a board that fits 64 bits.
    Connect4(Connect4<u64>),
    /// Connect Four on a larger board.
    WideConnect4(Connect4<u128>),
    /// Woodpush.
    Woodpush(Woodpush),
    /// A game from outside this crate.
    Dyn(DynGame),
}

/// Runs an expression with the concrete game inside an [`AnyGame`](crate::spec::AnyGame):
/// `with_game!(any, game => solve(game))`.
#[macro_export]
macro_rules! with_game {
    ($any:expr, $game:ident => $body:expr) => {
        match $any {
            $crate::spec::AnyGame::Connect4($game) => $body,
            $crate::spec::AnyGame::WideConnect4($game) => $body,
            $crate::spec::AnyGame::Woodpush($game) => $body,
            $crate::spec::AnyGame::Dyn($game) => $body,
        }
    };
}

/// Why a spec is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such game, among those that are written like this.
    #[error("unknown game '{0}'; write {1}")]
    UnknownGame(String, String),
    /// A size that is no size.
    #[error("'{0}' is no Connect Four size; write COLUMNSxROWS, for example connect4:7x6")]
    Connect4Size(String),
    /// A size out of range.
    #[error(transparent)]
    Connect4(#[from] connect4::SizeError),
    /// A Woodpush start that is neither a length nor a board.
    #[error("'{0}' is no Woodpush start; write a number of cells or a board such as L.L...R.R")]
    WoodpushStart(String),
    /// A bad length or board.
    #[error(transparent)]
    Woodpush(#[from] woodpush::BoardError),
    /// More outcomes than a game can have, or fewer.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// A game whose outcomes do not say who wins.
    #[error(transparent)]
    NoWinner(#[from] NoWinner),
    /// Why a game from outside this crate refuses its spec, in a sentence of its own.
    #[error("{0}")]
    Refused(String),
}

impl GameSpec {
    /// The spec as text, in its standard form.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same game, which may take up to so many bytes for tables of its own
    /// ([`Game::with_memory`]).
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> GameSpec {
        let game = match self.game {
            AnyGame::Connect4(game) => AnyGame::Connect4(game.with_memory(bytes)),
            AnyGame::WideConnect4(game) => AnyGame::WideConnect4(game.with_memory(bytes)),
            AnyGame::Woodpush(game) => AnyGame::Woodpush(game.with_memory(bytes)),
            AnyGame::Dyn(game) => AnyGame::Dyn(game.with_memory(bytes)),
        };
        GameSpec { game, ..self }
    }

    /// How many bytes such tables hold once they are made ([`Game::memory`]).
    pub fn memory(&self) -> u64 {
        with_game!(self.game(), game => game.memory())
    }

    /// The same game, in whose outcomes it counts on which move they come: a win is better the sooner, and a loss the
    /// later. Errors if its outcomes do not say who wins.
    pub fn by_distance(self) -> Result<GameSpec, SpecError> {
        if self.is_by_distance() {
            return Ok(self);
        }
        let game = match self.game {
            AnyGame::Connect4(game) => AnyGame::Connect4(game.with_last_moves()),
            AnyGame::WideConnect4(game) => AnyGame::WideConnect4(game.with_last_moves()),
            AnyGame::Woodpush(game) => AnyGame::Dyn(DynGame::new(ByDistance::new(game)?)),
            AnyGame::Dyn(game) => AnyGame::Dyn(DynGame::new(ByDistance::new(game)?)),
        };
        Ok(GameSpec { text: format!("{}:{BY_DISTANCE}", self.text), game })
    }

    /// Whether it counts on which move an outcome comes.
    pub fn is_by_distance(&self) -> bool {
        let scale = with_game!(self.game(), game => game.scale());
        scale.ending(scale.worst()).is_some()
    }

    /// Whether the game tells good moves from bad ones, well enough to search depth first.
    pub fn orders_moves(&self) -> bool {
        with_game!(self.game(), game => game.orders_moves())
    }

    /// The game that the spec names.
    pub fn game(&self) -> &AnyGame {
        &self.game
    }
}

impl fmt::Display for GameSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Reads a spec of one of the games of this crate; [`Games::spec`] knows others as well.
impl FromStr for GameSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<GameSpec, SpecError> {
        Games::built_in().spec(text)
    }
}

fn connect4_spec(size: &str) -> Result<(String, AnyGame), SpecError> {
    let malformed = || SpecError::Connect4Size(excerpt(size));
    let (columns, rows) = size.split_once(['x', 'X']).ok_or_else(malformed)?;
    let (width, height) =
        (number(columns).ok_or_else(malformed)?, number(rows).ok_or_else(malformed)?);
    let game = if u64::from(width) * (u64::from(height) + 1) <= 64 {
        AnyGame::Connect4(Connect4::new(width, height)?)
    } else {
        AnyGame::WideConnect4(Connect4::new(width, height)?)
    };
    Ok((format!("{width}x{height}"), game))
}

fn woodpush_spec(start: &str) -> Result<(String, AnyGame), SpecError> {
    if let Some(cells) = number(start) {
        let game = AnyGame::Woodpush(Woodpush::standard(cells as usize)?);
        return Ok((cells.to_string(), game));
    }
    if start.is_empty() || start.chars().any(|c| c.is_ascii_digit()) {
        return Err(SpecError::WoodpushStart(excerpt(start)));
    }
    let game = AnyGame::Woodpush(Woodpush::from_text(start)?);
    Ok((start.to_ascii_uppercase(), game))
}

/// A number in digits only; those too large for `u32` become `u32::MAX`, which no game accepts.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// The beginning of a text that may be of any length, for messages.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Why a move string is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// A move that is not legal.
    #[error("move {number}, '{text}', is not legal{reason}; legal here: {legal}")]
    Illegal {
        /// Which move of the string, from 1.
        number: usize,
        /// What was found there.
        text: String,
        /// What the game says of it, in brackets, or nothing.
        reason: String,
        /// The legal moves.
        legal: String,
    },
    /// A move after the game was over.
    #[error(
        "move {number}, '{text}', comes after the end: the game was over ({outcome}) after {end}"
    )]
    GameOver {
        /// Which move of the string, from 1.
        number: usize,
        /// What was found there.
        text: String,
        /// The outcome of the game.
        outcome: String,
        /// The moves before it, as text.
        end: String,
    },
    /// A move code, from a message, that is not legal.
    #[error("move {number} has code {code}, which is no legal move there")]
    IllegalCode {
        /// Which move of the list, from 1.
        number: usize,
        /// The code.
        code: u32,
    },
}

/// Reads moves, by their names, from the start of `game`. Names may follow each other directly or
/// with spaces and commas between them; where the names of several legal moves fit what comes next,
/// the longest is read.
pub fn parse_moves<G: Game>(game: &G, text: &str) -> Result<Vec<Move>, MoveError> {
    let mut position = game.start();
    let mut played: Vec<Move> = Vec::new();
    for token in text.split(|c: char| c.is_whitespace() || c == ',').filter(|t| !t.is_empty()) {
        let mut rest = token;
        while !rest.is_empty() {
            let number = played.len() + 1;
            if let Some(outcome) = game.outcome(&position) {
                return Err(MoveError::GameOver {
                    number,
                    text: excerpt(rest),
                    outcome: game.scale().name(outcome).to_owned(),
                    end: format_moves(game, &played),
                });
            }
            let mut legal = MoveList::new();
            game.moves(&position, &mut legal);
            let names: Vec<String> =
                legal.iter().map(|&mv| game.move_name(&position, mv)).collect();
            let found = (0..names.len())
                .filter(|&i| rest.starts_with(&names[i]))
                .max_by_key(|&i| names[i].len());
            let Some(found) = found else {
                let reason = game.why_illegal(&position, rest);
                return Err(MoveError::Illegal {
                    number,
                    text: excerpt(rest),
                    reason: reason.map_or(String::new(), |r| format!(" ({r})")),
                    legal: names.join(" "),
                });
            };
            game.play(&mut position, legal[found]);
            played.push(legal[found]);
            rest = &rest[names[found].len()..];
        }
    }
    Ok(played)
}

/// The names of moves from the start of `game`, one after the other, for [`parse_moves`] to read. There
/// is a comma after a name only where the name of another legal move would be read with what follows
/// (columns 1 and 12, and the moves 1 and 2).
pub fn format_moves<G: Game>(game: &G, moves: &[Move]) -> String {
    let mut position = game.start();
    let mut steps: Vec<(String, Vec<String>)> = Vec::with_capacity(moves.len());
    for &mv in moves {
        let name = game.move_name(&position, mv);
        let mut legal = MoveList::new();
        game.moves(&position, &mut legal);
        let mut longer: Vec<String> =
            legal.iter().map(|&other| game.move_name(&position, other)).collect();
        longer.retain(|other| other.len() > name.len() && other.starts_with(&name));
        steps.push((name, longer));
        game.play(&mut position, mv);
    }
    // From the end, as it depends on what follows whether a comma is needed.
    let reach = steps.iter().flat_map(|(_, longer)| longer).map(String::len).max().unwrap_or(0);
    let mut parts: Vec<String> = Vec::with_capacity(moves.len());
    // What follows without a comma, as far as a name can reach into it.
    let mut following = String::new();
    for (name, longer) in steps.into_iter().rev() {
        let joined = format!("{name}{following}");
        if longer.iter().any(|other| joined.starts_with(other.as_str())) {
            following.clone_from(&name);
            parts.push(format!("{name},"));
        } else {
            following = joined.chars().take(reach).collect();
            parts.push(name);
        }
    }
    parts.reverse();
    parts.concat()
}

/// The position after `moves`, each of which is checked.
pub fn position_after<G: Game>(game: &G, moves: &[Move]) -> Result<G::Position, MoveError> {
    let mut position = game.start();
    let mut legal = MoveList::new();
    for (index, &mv) in moves.iter().enumerate() {
        legal.clear();
        if game.outcome(&position).is_none() {
            game.moves(&position, &mut legal);
        }
        if !legal.contains(&mv) {
            return Err(MoveError::IllegalCode { number: index + 1, code: u32::from(mv.0) });
        }
        game.play(&mut position, mv);
    }
    Ok(position)
}

#[cfg(test)]
mod tests;
