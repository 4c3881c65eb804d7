//! Game specs and move strings as text: `connect4:7x6`, `woodpush:10`, `44435`, `s0s9p4`.

use std::fmt;
use std::str::FromStr;

use crate::connect4::{self, Connect4};
use crate::woodpush::{self, Woodpush};
use crate::{Game, Move, MoveList};

/// A game together with the text that names it.
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
        }
    };
}

/// Why a spec is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such game.
    #[error("unknown game '{0}'; write connect4:COLUMNSxROWS, woodpush:CELLS or woodpush:BOARD")]
    UnknownGame(String),
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
}

impl GameSpec {
    /// The spec as text, in its standard form.
    pub fn as_str(&self) -> &str {
        &self.text
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

impl FromStr for GameSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<GameSpec, SpecError> {
        let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        match name.to_ascii_lowercase().as_str() {
            "connect4" => connect4_spec(rest),
            "woodpush" => woodpush_spec(rest),
            _ => Err(SpecError::UnknownGame(excerpt(name))),
        }
    }
}

fn connect4_spec(size: &str) -> Result<GameSpec, SpecError> {
    let malformed = || SpecError::Connect4Size(excerpt(size));
    let (columns, rows) = size.split_once(['x', 'X']).ok_or_else(malformed)?;
    let (width, height) =
        (number(columns).ok_or_else(malformed)?, number(rows).ok_or_else(malformed)?);
    let game = if u64::from(width) * (u64::from(height) + 1) <= 64 {
        AnyGame::Connect4(Connect4::new(width, height)?)
    } else {
        AnyGame::WideConnect4(Connect4::new(width, height)?)
    };
    Ok(GameSpec { text: format!("connect4:{width}x{height}"), game })
}

fn woodpush_spec(start: &str) -> Result<GameSpec, SpecError> {
    if let Some(cells) = number(start) {
        let game = AnyGame::Woodpush(Woodpush::standard(cells as usize)?);
        return Ok(GameSpec { text: format!("woodpush:{cells}"), game });
    }
    if start.is_empty() || start.chars().any(|c| c.is_ascii_digit()) {
        return Err(SpecError::WoodpushStart(excerpt(start)));
    }
    let game = AnyGame::Woodpush(Woodpush::from_text(start)?);
    Ok(GameSpec { text: format!("woodpush:{}", start.to_ascii_uppercase()), game })
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
/// with spaces and commas between them.
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

/// The names of moves from the start of `game`, one after the other: what [`parse_moves`] reads.
pub fn format_moves<G: Game>(game: &G, moves: &[Move]) -> String {
    let mut position = game.start();
    let mut text = String::new();
    for &mv in moves {
        text.push_str(&game.move_name(&position, mv));
        game.play(&mut position, mv);
    }
    text
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
