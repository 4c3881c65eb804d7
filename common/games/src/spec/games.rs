//! The list of games that specs can name. All else (how specs are read, what messages and help texts
//! say, what the tests of every game go through) takes names, notations and examples from here.

use super::{AnyGame, GameSpec, SpecError, connect4_spec, excerpt, woodpush_spec};

/// What follows the size or start of a game in whose outcomes it counts on which move they come.
pub(super) const BY_DISTANCE: &str = "distance";

/// A game of which a spec names one size or start: what stands before the colon, and how to read
/// what follows it.
#[derive(Clone, Copy, Debug)]
pub struct GameFamily {
    /// The name before the colon, in small letters.
    pub name: &'static str,
    /// What follows the colon, in the words of a help text; at least one way to write it.
    pub notations: &'static [&'static str],
    /// Whole specs in their standard form, one for each notation at the least.
    pub examples: &'static [&'static str],
    /// Moves from the start of the first example, in the names of the game.
    pub moves: &'static str,
    /// Reads what follows the colon: its standard form, and the game.
    pub read: fn(&str) -> Result<(String, AnyGame), SpecError>,
}

/// The games of this crate.
pub const BUILT_IN: [GameFamily; 2] = [
    GameFamily {
        name: "connect4",
        notations: &["COLUMNSxROWS"],
        examples: &["connect4:7x6"],
        moves: "44435",
        read: connect4_spec,
    },
    GameFamily {
        name: "woodpush",
        notations: &["CELLS", "BOARD"],
        examples: &["woodpush:10", "woodpush:L.L...R.R"],
        moves: "s0s9",
        read: woodpush_spec,
    },
];

/// The games that a program knows: those of this crate, and those that it brings itself.
#[derive(Clone, Debug)]
pub struct Games(Vec<GameFamily>);

impl Games {
    /// The games of this crate.
    pub fn built_in() -> Games {
        Games(BUILT_IN.to_vec())
    }

    /// These games and one more; it takes the place of one with the same name.
    #[must_use]
    pub fn with(mut self, family: GameFamily) -> Games {
        self.0.retain(|other| other.name != family.name);
        self.0.push(family);
        self
    }

    /// All of them.
    pub fn families(&self) -> &[GameFamily] {
        &self.0
    }

    /// The game that a spec names.
    pub fn spec(&self, text: &str) -> Result<GameSpec, SpecError> {
        let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let family = self.0.iter().find(|family| family.name.eq_ignore_ascii_case(name));
        let unknown = || SpecError::UnknownGame(excerpt(name), self.notations());
        let family = family.ok_or_else(unknown)?;
        let by_distance = rest.rsplit_once(':');
        let by_distance = by_distance.filter(|(_, score)| score.eq_ignore_ascii_case(BY_DISTANCE));
        let (rest, game) = (family.read)(by_distance.map_or(rest, |(rest, _)| rest))?;
        let spec = GameSpec { text: format!("{}:{rest}", family.name), game };
        if by_distance.is_some() { spec.by_distance() } else { Ok(spec) }
    }

    /// How specs are written, for messages and help texts.
    pub fn notations(&self) -> String {
        let of = |family: &GameFamily| {
            let name = family.name;
            family.notations.iter().map(move |notation| format!("{name}:{notation}"))
        };
        alternatives(self.0.iter().flat_map(of))
    }

    /// Examples of specs.
    pub fn examples(&self) -> String {
        alternatives(self.0.iter().flat_map(|family| family.examples).map(|&text| text.to_owned()))
    }

    /// Examples of moves.
    pub fn moves(&self) -> String {
        alternatives(self.0.iter().map(|family| family.moves.to_owned()))
    }
}

/// `a, b or c`.
fn alternatives(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.collect();
    let last = texts.pop().unwrap_or_default();
    if texts.is_empty() { last } else { format!("{} or {last}", texts.join(", ")) }
}
