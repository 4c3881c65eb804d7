//! Which jobs a worker takes.

use std::time::Duration;

use jlpns_games::spec::GameSpec;

/// Which jobs a worker takes; without more said, all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobsTaken {
    /// The names of the games that it takes jobs of, as specs in their standard form begin with them; empty:
    /// of all.
    pub games: Vec<String>,
    /// How long a job of a queue should take at most: with any time none of entries whose proofs may take long; `None`: as
    /// long as it takes.
    pub longest: Option<Duration>,
}

impl JobsTaken {
    /// Whether jobs of this game are taken.
    pub fn is_of_these(&self, spec: &GameSpec) -> bool {
        self.games.is_empty() || self.games.iter().any(|game| game == name(spec))
    }

    /// Why the jobs of this game are declined; `None` if they are taken.
    pub(super) fn refusal(&self, spec: &GameSpec) -> Option<String> {
        let sentence = || {
            let (game, games) = (name(spec), self.games.join(" and "));
            format!("the worker takes no jobs of {game}; it takes those of {games}")
        };
        (!self.is_of_these(spec)).then(sentence)
    }

    /// `Hello.longest_job_ms`, where 0 stands for no limit.
    pub(super) fn longest_ms(&self) -> u64 {
        let in_ms = |longest: Duration| u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        self.longest.map_or(0, |longest| in_ms(longest).max(1))
    }
}

/// What stands before the colon.
fn name(spec: &GameSpec) -> &str {
    let text = spec.as_str();
    text.split_once(':').map_or(text, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_told_apart_by_their_whole_names() {
        let spec: GameSpec = "Connect4:4x4".parse().expect("a spec");
        let taken = |games: &[&str]| {
            let games = games.iter().map(|&game| game.to_owned()).collect();
            JobsTaken { games, longest: None }.refusal(&spec)
        };
        assert_eq!(taken(&[]), None);
        assert_eq!(taken(&["woodpush", "connect4"]), None);
        let sentence =
            "the worker takes no jobs of connect4; it takes those of woodpush and connect";
        assert_eq!(taken(&["woodpush", "connect"]).as_deref(), Some(sentence));
    }

    #[test]
    fn no_limit_is_never_mixed_up_with_a_short_one() {
        let ms = |longest| JobsTaken { games: Vec::new(), longest }.longest_ms();
        assert_eq!(ms(None), 0);
        assert_eq!(ms(Some(Duration::from_nanos(1))), 1);
        assert_eq!(ms(Some(Duration::from_secs(90))), 90_000);
        assert_eq!(ms(Some(Duration::MAX)), u64::MAX);
    }
}
