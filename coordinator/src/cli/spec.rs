//! The game on the command line, and how its outcomes are told apart.

use jlpns_games::spec::{GameSpec, Games};

use super::{CommandError, values};

/// How the outcomes of a game are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Score {
    /// As the game does.
    #[default]
    Value,
    /// By who wins and on which move: a win is better the sooner it comes, a loss the later.
    Distance,
}

/// The flags of all commands that are about a game.
#[derive(Clone, Debug, clap::Args)]
pub struct SpecFlags {
    /// The game
    #[arg(required = true)]
    spec: Option<String>,

    /// What counts: the game's own values, or who wins and on which move; a win is better the sooner it
    /// comes, a loss the later. 'distance' is the same as ':distance' at the end of SPEC
    #[arg(long, value_enum, default_value_t, env = "JLPNS_SCORE")]
    score: Score,
}

impl SpecFlags {
    /// Whether a game is named.
    pub fn is_given(&self) -> bool {
        self.spec.is_some()
    }

    /// The game that is asked for.
    pub fn read(&self, games: &Games) -> Result<GameSpec, CommandError> {
        let spec = self.spec.as_deref().unwrap_or_default();
        self.score.of(values::spec(spec, games)?)
    }
}

impl Score {
    /// The same game with outcomes that are told apart like this, or as its spec says already.
    pub fn of(self, spec: GameSpec) -> Result<GameSpec, CommandError> {
        match self {
            Score::Value => Ok(spec),
            Score::Distance => spec
                .by_distance()
                .map_err(|error| CommandError::bad_value("--score", "distance", error)),
        }
    }
}
