//! Makes certificates of what a solve has found out, from what its searches know.
//!
//! A certificate shows by the rules alone what a position is worth (`docs/certificate.md`). The searches say
//! which move keeps what is claimed ([`StrategyFinder`]); the checker's own rules (`jlpns_verify`) play it, come
//! to the next positions, and write the file. So nothing that a search says is taken on trust: what it
//! gets wrong fails here, as it would fail when the file is checked.
//!
//! ```
//! use std::io::Cursor;
//!
//! use jlpns_certificate::{Size, certify};
//! use jlpns_games::Threshold;
//! use jlpns_search::TranspositionTable;
//! use jlpns_search::strategy::Claim;
//!
//! let draw = [(Threshold(1), true), (Threshold(2), false)]
//!     .map(|(threshold, holds)| Claim { threshold, holds });
//! let table = TranspositionTable::with_bytes(1 << 20)?;
//! let mut file = Cursor::new(Vec::new());
//! let spec = "connect4:4x4".parse()?;
//! let (settings, never) = (jlpns_verify::Settings::default(), || false);
//! let size = Size::default();
//! certify(&spec, &[], &draw, size, &table, &never, &mut file, &settings, &mut ())?;
//!
//! file.set_position(0);
//! let proved = jlpns_verify::check(&mut file, &settings, &mut ())?;
//! assert_eq!(proved.header.statement(), "connect4:4x4 is a draw (>=draw and <=draw)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compact;
mod known_moves;
mod make;
mod piece;

use std::io::{Read, Seek, Write};

use compact::{SmallStrategies, SmallStrategy};
use jlpns_games::connect4::{Bitboard, Connect4};
use jlpns_games::spec::{AnyGame, GameSpec, format_moves};
use jlpns_games::{Game, Move, with_game};
use jlpns_search::TranspositionTable;
use jlpns_search::strategy::Claim;
#[cfg(doc)]
use jlpns_search::strategy::StrategyFinder;
use jlpns_verify::{Failure, Proved, Settings};
use known_moves::{Certified, KnownMoves};
pub use make::Progress;
use make::{Statement, Strategy, make};
pub use piece::{FoundByJob, check_piece, learn_piece, run_job};

/// Which certificate of a claim is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The one that takes the least work.
    #[default]
    Quick,
    /// Of moves that hold, the one that adds the fewest positions is taken.
    Minimized,
    /// Of the compact kind, for Connect Four: small, and it ends in plans.
    Compact,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertifyError {
    /// There are none for this game.
    #[error("there are no certificates for {0} yet; there are for Connect Four and Woodpush")]
    NotForThisGame(String),
    /// There are none of this kind for this game.
    #[error("there are no compact certificates of {0}; there are of Connect Four")]
    NotCompact(String),
    /// It was stopped.
    #[error("the certificate was not finished, because it was stopped")]
    Stopped,
    /// What is claimed does not hold, or the file could not be written.
    #[error("the certificate cannot be made: {0}")]
    Failed(#[from] Failure),
}

/// Whether there are certificates for a game.
pub fn is_certifiable(spec: &GameSpec) -> bool {
    !matches!(spec.game(), AnyGame::Dyn(_)) && !spec.is_by_distance()
}

/// Whether there are certificates of the compact kind for a game.
pub fn is_compactible(spec: &GameSpec) -> bool {
    matches!(spec.game(), AnyGame::Connect4(_) | AnyGame::WideConnect4(_)) && is_certifiable(spec)
}

/// Writes the certificate of `claims` about the position after `moves`: one claim, or two of which the first is
/// Max's. Their thresholds lie above the worst outcome and not above the best.
///
/// What the table holds of the game is used, and what has to be searched goes into it. `is_stopped` is
/// asked while that goes on.
#[expect(clippy::too_many_arguments, reason = "all but the first four are of the machine")]
pub fn certify(
    spec: &GameSpec,
    moves: &[Move],
    claims: &[Claim],
    size: Size,
    table: &TranspositionTable,
    is_stopped: &(dyn Fn() -> bool + Sync),
    output: &mut (impl Read + Write + Seek),
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Proved, CertifyError> {
    let scale = with_game!(spec.game(), game => game.scale());
    let texts: Vec<String> =
        claims.iter().map(|claim| claim.goal().display(scale).to_string()).collect();
    let played = with_game!(spec.game(), game => format_moves(game, moves));
    let asked = Asked { moves, claims, size, table, is_stopped, memory: settings.memory };
    let strategy: Box<dyn Strategy + '_> = match spec.game() {
        AnyGame::Connect4(game) => asked.of_connect4(game, progress)?,
        AnyGame::WideConnect4(game) => asked.of_connect4(game, progress)?,
        _ if size == Size::Compact => return Err(CertifyError::NotCompact(spec.to_string())),
        AnyGame::Woodpush(game) => Box::new(asked.known_moves(game)),
        AnyGame::Dyn(_) => return Err(CertifyError::NotForThisGame(spec.to_string())),
    };
    let compact = size == Size::Compact;
    let statement = Statement { spec: spec.as_str(), moves: &played, claims: &texts, compact };
    let made = make(&statement, &*strategy, output, settings, progress);
    match made {
        Err(_) if is_stopped() => Err(CertifyError::Stopped),
        made => Ok(made?),
    }
}

/// What a strategy is asked for.
struct Asked<'a> {
    moves: &'a [Move],
    claims: &'a [Claim],
    size: Size,
    table: &'a TranspositionTable,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    memory: usize,
}

impl<'a> Asked<'a> {
    fn known_moves<G: Certified>(&self, game: &'a G) -> KnownMoves<'a, G> {
        let &Asked { claims, size, table, is_stopped, .. } = self;
        KnownMoves::new(game, claims, table, is_stopped, size == Size::Minimized)
    }

    fn of_connect4<B: Bitboard>(
        &self,
        game: &'a Connect4<B>,
        progress: &mut dyn Progress,
    ) -> Result<Box<dyn Strategy + 'a>, CertifyError> {
        if self.size != Size::Compact {
            return Ok(Box::new(self.known_moves(game)));
        }
        let small = self.claims.iter().map(|&claim| {
            let &Asked { moves, table, is_stopped, memory, .. } = self;
            SmallStrategy::find(game, moves, table, claim, memory, is_stopped, progress)
        });
        let small: Option<Vec<SmallStrategy<B>>> = small.collect();
        Ok(Box::new(SmallStrategies(small.ok_or(CertifyError::Stopped)?)))
    }
}
