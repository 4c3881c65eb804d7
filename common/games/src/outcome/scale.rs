//! The outcomes of a game: their order, their names, and how goals are read by them.

use crate::{Bounds, Goal, Outcome, Player, Threshold};

/// The most outcomes that a game can have: the threshold above the best one still fits its byte.
pub const MAX_OUTCOMES: usize = u8::MAX as usize;

/// The most thresholds that a question can ask: one for each outcome but the worst.
pub const MAX_THRESHOLDS: usize = MAX_OUTCOMES - 1;

/// The outcomes of a game, worst for Max first, with the names that users read and type.
///
/// ```
/// use jlpns_games::{Goal, OutcomeScale};
///
/// let scale = OutcomeScale::scores([-2, -1, 1, 2])?;
/// assert_eq!(scale.name(scale.best()), "2");
/// // There is no score 0: whoever reaches it reaches 1.
/// let one = scale.with_score(1).expect("a score of the scale");
/// assert_eq!(scale.parse_goal(">=0"), Ok(Goal::AtLeast(one)));
/// # Ok::<(), jlpns_games::outcome::ScaleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeScale {
    outcomes: Vec<Named>,
}

/// An outcome with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    name: String,
    score: Option<i32>,
    ending: Option<Ending>,
}

/// An outcome that tells apart when a game ends: who wins, and on which move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This player makes the last move of a game that is won, or is the winner when it is made: so many
    /// moves after the start of the spec.
    WonOn(Player, u32),
    /// This player wins on that move or later.
    WonFrom(Player, u32),
    /// Nobody wins; all such games end on this move, if it is always the same.
    Drawn(Option<u32>),
}

impl Ending {
    /// Who wins, if anybody does.
    pub const fn winner(self) -> Option<Player> {
        match self {
            Ending::WonOn(player, _) | Ending::WonFrom(player, _) => Some(player),
            Ending::Drawn(_) => None,
        }
    }

    /// What it is for Max without the move.
    pub const fn result(self) -> &'static str {
        match self.winner() {
            Some(Player::Max) => "win",
            Some(Player::Min) => "loss",
            None => "draw",
        }
    }

    /// The name that goals take.
    fn name(self) -> String {
        match self {
            Ending::WonOn(_, last_move) => format!("{}-{last_move}", self.result()),
            Ending::WonFrom(_, last_move) => format!("{}-{last_move}+", self.result()),
            Ending::Drawn(_) => self.result().to_owned(),
        }
    }

    /// The move on which the game ends, if that is told.
    pub const fn last_move(self) -> Option<u32> {
        match self {
            Ending::WonOn(_, last_move) => Some(last_move),
            Ending::WonFrom(..) => None,
            Ending::Drawn(last_move) => last_move,
        }
    }
}

/// So many outcomes are no scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a game has 2 to {MAX_OUTCOMES} different outcomes, not {0}")]
pub struct ScaleError(pub usize);

/// A scale that does not say who wins.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "who wins is not told by the outcomes {0}, so wins cannot be told apart by their last moves"
)]
pub struct NoWinner(pub String);

/// Why a goal or an outcome could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// The text does not begin with `>=` or `<=`.
    #[error("goal '{0}' has no comparison; write '>=OUTCOME' or '<=OUTCOME', for example '>={1}'")]
    NoComparison(String, String),
    /// The outcome is not on the game's scale.
    #[error("'{0}' is not an outcome of this game; its outcomes are {1}")]
    UnknownOutcome(String, String),
}

impl Named {
    /// An outcome that is nothing but a name.
    fn only(name: impl Into<String>) -> Named {
        Named { name: name.into(), score: None, ending: None }
    }
}

impl OutcomeScale {
    /// A scale of names that are known when the program is compiled, worst first: the compiler checks
    /// that there are enough of them, and not too many.
    pub fn named<S: Into<String>, const COUNT: usize>(names: [S; COUNT]) -> OutcomeScale {
        const { assert!(COUNT >= 2 && COUNT <= MAX_OUTCOMES, "a scale has 2 to 255 outcomes") };
        OutcomeScale { outcomes: names.into_iter().map(Named::only).collect() }
    }

    /// A scale of names, worst first.
    pub fn from_names<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
    ) -> Result<OutcomeScale, ScaleError> {
        OutcomeScale::new(names.into_iter().map(Named::only).collect())
    }

    /// A scale of scores in any order, each named by its number.
    pub fn scores(scores: impl IntoIterator<Item = i32>) -> Result<OutcomeScale, ScaleError> {
        let mut scores: Vec<_> = scores.into_iter().collect();
        scores.sort_unstable();
        scores.dedup();
        let named = |score: i32| Named { score: Some(score), ..Named::only(score.to_string()) };
        OutcomeScale::new(scores.into_iter().map(named).collect())
    }

    /// A scale on which a win is better the sooner it comes, and a loss the later: from Min's soonest win to Max's.
    pub fn endings(endings: impl IntoIterator<Item = Ending>) -> Result<OutcomeScale, ScaleError> {
        let named = |ending: Ending| Named { ending: Some(ending), ..Named::only(ending.name()) };
        OutcomeScale::new(endings.into_iter().map(named).collect())
    }

    fn new(outcomes: Vec<Named>) -> Result<OutcomeScale, ScaleError> {
        match outcomes.len() {
            2..=MAX_OUTCOMES => Ok(OutcomeScale { outcomes }),
            count => Err(ScaleError(count)),
        }
    }

    /// The number of outcomes.
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Never true: a scale has at least two outcomes.
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// The worst outcome for Max.
    pub fn worst(&self) -> Outcome {
        Outcome(0)
    }

    /// The best outcome for Max.
    pub fn best(&self) -> Outcome {
        Outcome((self.len() - 1) as u8)
    }

    /// From the worst to the best.
    pub fn bounds(&self) -> Bounds {
        Bounds { lower: self.worst(), upper: self.best() }
    }

    /// The name of an outcome of this scale.
    pub fn name(&self, outcome: Outcome) -> &str {
        &self.outcomes[outcome.index()].name
    }

    /// What a threshold is for: the name of its outcome, or of what lies above all.
    pub fn threshold_name(&self, threshold: Threshold) -> String {
        if usize::from(threshold.0) < self.len() {
            self.name(Outcome(threshold.0)).to_owned()
        } else {
            format!("above {}", self.name(self.best()))
        }
    }

    /// What an outcome is worth: its name without the move on which the game ends, if the scale tells these apart.
    pub fn value(&self, outcome: Outcome) -> &str {
        match self.ending(outcome) {
            Some(ending) => ending.result(),
            None => self.name(outcome),
        }
    }

    /// The move on which a game of this outcome ends, if the scale tells these apart.
    pub fn last_move(&self, outcome: Outcome) -> Option<u32> {
        self.ending(outcome).and_then(Ending::last_move)
    }

    /// When a game of this outcome ends, on a scale that tells these apart.
    pub fn ending(&self, outcome: Outcome) -> Option<Ending> {
        self.outcomes[outcome.index()].ending
    }

    /// Who wins with this outcome; nobody if it is a draw. Errors if the scale does not say: its outcomes are neither
    /// scores nor two, nor called win, draw and loss.
    pub fn winner(&self, outcome: Outcome) -> Result<Option<Player>, NoWinner> {
        let Named { name, score, ending } = &self.outcomes[outcome.index()];
        Ok(match (score, ending, name.as_str()) {
            (_, Some(ending), _) => ending.winner(),
            (Some(1..), ..) | (None, None, "win") => Some(Player::Max),
            (Some(..0), ..) | (None, None, "loss") => Some(Player::Min),
            (Some(0), ..) | (None, None, "draw") => None,
            _ if self.len() == 2 && outcome == self.best() => Some(Player::Max),
            _ if self.len() == 2 => Some(Player::Min),
            _ => return Err(NoWinner(self.names())),
        })
    }

    /// The outcome with this score, on a scale of scores.
    pub fn with_score(&self, score: i32) -> Option<Outcome> {
        let found = self.outcomes.iter().position(|outcome| outcome.score == Some(score))?;
        Some(Outcome(found as u8))
    }

    /// All names, worst first, for messages.
    pub fn names(&self) -> String {
        /// More are not read.
        const SHOWN: usize = 20;
        let names: Vec<&str> = self.outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
        let [first @ .., last] = names.as_slice() else { return String::new() };
        if names.len() <= SHOWN {
            return names.join(", ");
        }
        format!("{}, ... and so on to {last}", first[..SHOWN / 2].join(", "))
    }

    /// Reads a goal: `>=draw`, `<=-1`. A score between two outcomes of the scale is taken for the
    /// one that asks the same (Woodpush has no score 0: `>=0` is `>=1`).
    pub fn parse_goal(&self, text: &str) -> Result<Goal, GoalError> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let at_least = if compact.starts_with(">=") {
            true
        } else if compact.starts_with("<=") {
            false
        } else {
            let example = self.name(self.best()).to_owned();
            return Err(GoalError::NoComparison(text.to_owned(), example));
        };
        let wanted = &compact[2..];
        let goal = |index: usize| {
            let outcome = Outcome(index as u8);
            if at_least { Goal::AtLeast(outcome) } else { Goal::AtMost(outcome) }
        };
        let mut named = self.outcomes.iter();
        if let Some(index) = named.position(|outcome| outcome.name.eq_ignore_ascii_case(wanted)) {
            return Ok(goal(index));
        }
        // A win is one on any move.
        let is_result = |outcome: &Named| {
            outcome.ending.is_some_and(|ending| ending.result().eq_ignore_ascii_case(wanted))
        };
        let mut endings = self.outcomes.iter();
        let result =
            if at_least { endings.position(is_result) } else { endings.rposition(is_result) };
        if let Some(index) = result {
            return Ok(goal(index));
        }
        let unknown = || GoalError::UnknownOutcome(wanted.to_owned(), self.names());
        let score: i32 = wanted.parse().map_err(|_| unknown())?;
        let index = if at_least {
            let reaches = |outcome: &Named| outcome.score.is_some_and(|s| s >= score);
            let least = self.outcomes.iter().position(reaches);
            least.filter(|_| self.outcomes[0].score <= Some(score))
        } else {
            let stays_below = |outcome: &Named| outcome.score.is_some_and(|s| s <= score);
            let most = self.outcomes.iter().rposition(stays_below);
            most.filter(|_| self.outcomes[self.len() - 1].score >= Some(score))
        };
        Ok(goal(index.ok_or_else(unknown)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read_by_name_and_by_score() {
        let named = OutcomeScale::named(["loss", "draw", "win"]);
        assert_eq!(named.parse_goal(" >= Draw"), Ok(Goal::AtLeast(Outcome(1))));
        assert_eq!(named.parse_goal("<=loss"), Ok(Goal::AtMost(Outcome(0))));
        let scores = OutcomeScale::scores([2, 1, -1, -2]).unwrap();
        assert_eq!(scores.parse_goal(">=-2"), Ok(Goal::AtLeast(Outcome(0))));
        assert_eq!(scores.parse_goal(">=0"), Ok(Goal::AtLeast(Outcome(2))));
        assert_eq!(scores.parse_goal("<=0"), Ok(Goal::AtMost(Outcome(1))));
        // A score may be written in other ways than as its name.
        for (score, index) in [("+2", 3), ("01", 2), ("-01", 1), ("-02", 0)] {
            let (least, most) = (format!(">={score}"), format!("<={score}"));
            assert_eq!(scores.parse_goal(&least), Ok(Goal::AtLeast(Outcome(index))), "{least}");
            assert_eq!(scores.parse_goal(&most), Ok(Goal::AtMost(Outcome(index))), "{most}");
        }
        for bad in [">=3", ">=-3", "<=99999999999", ">=", "<=draw"] {
            assert!(matches!(scores.parse_goal(bad), Err(GoalError::UnknownOutcome(..))), "{bad}");
        }
        for bad in ["", "draw", "=draw", "-1"] {
            assert!(matches!(named.parse_goal(bad), Err(GoalError::NoComparison(..))), "{bad}");
        }
    }

    #[test]
    fn scores_and_thresholds_are_those_of_the_scale() {
        let scale = OutcomeScale::scores([2, 1, -1, -2]).unwrap();
        assert!(!scale.is_empty());
        let scores = [-3, -2, -1, 0, 1, 2, 3].map(|score| scale.with_score(score));
        let [worst, low, high, best] = [0, 1, 2, 3].map(|index| Some(Outcome(index)));
        assert_eq!(scores, [None, worst, low, None, high, best, None]);
        let names = [0, 1, 2, 3, 4, 255].map(|index| scale.threshold_name(Threshold(index)));
        assert_eq!(names, ["-2", "-1", "1", "2", "above 2", "above 2"]);
        let longest = OutcomeScale::scores(0..MAX_OUTCOMES as i32).unwrap();
        let Bounds { lower, upper } = longest.bounds();
        assert_eq!((lower.index() + 1..=upper.index()).count(), MAX_THRESHOLDS);
    }

    #[test]
    fn too_few_or_too_many_outcomes_are_refused() {
        let scores = |count: i32| OutcomeScale::scores(0..count).map(|scale| scale.len());
        assert_eq!(scores(1), Err(ScaleError(1)));
        assert_eq!(scores(2), Ok(2));
        assert_eq!(scores(255), Ok(255));
        let names = |count: usize| OutcomeScale::from_names((0..count).map(|n| n.to_string()));
        assert_eq!(names(255).map(|scale| scale.best()), Ok(Outcome(254)));
        assert_eq!(
            names(256).unwrap_err().to_string(),
            "a game has 2 to 255 different outcomes, not 256"
        );
        let same = OutcomeScale::scores([3, 3, 3]);
        assert_eq!(same, Err(ScaleError(1)));
    }

    #[test]
    fn endings_are_read_by_move_and_by_result() {
        let won = |player, last_move| Ending::WonOn(player, last_move);
        let endings = [
            won(Player::Min, 8),
            Ending::WonFrom(Player::Min, 10),
            Ending::Drawn(Some(12)),
            won(Player::Max, 9),
            won(Player::Max, 7),
        ];
        let scale = OutcomeScale::endings(endings).unwrap();
        assert_eq!(scale.names(), "loss-8, loss-10+, draw, win-9, win-7");
        let goals = [(">=win", 3), (">=win-7", 4), (">=loss", 0), (">=loss-10+", 1), (">=draw", 2)];
        for (goal, least) in goals {
            assert_eq!(scale.parse_goal(goal), Ok(Goal::AtLeast(Outcome(least))), "{goal}");
        }
        for (goal, most) in [("<=win", 4), ("<=LOSS", 1), ("<=loss-8", 0), ("<=draw", 2)] {
            assert_eq!(scale.parse_goal(goal), Ok(Goal::AtMost(Outcome(most))), "{goal}");
        }
        assert!(matches!(scale.parse_goal(">=win-8"), Err(GoalError::UnknownOutcome(..))));
        let told: Vec<_> = (0..5)
            .map(Outcome)
            .map(|outcome| (scale.value(outcome), scale.last_move(outcome), scale.winner(outcome)))
            .collect();
        let expected = [
            ("loss", Some(8), Ok(Some(Player::Min))),
            ("loss", None, Ok(Some(Player::Min))),
            ("draw", Some(12), Ok(None)),
            ("win", Some(9), Ok(Some(Player::Max))),
            ("win", Some(7), Ok(Some(Player::Max))),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_scale_says_who_wins_or_that_it_does_not() {
        let winners = |scale: OutcomeScale| -> Result<Vec<_>, NoWinner> {
            (0..scale.len()).map(|index| scale.winner(Outcome(index as u8))).collect()
        };
        let all = [Some(Player::Min), None, Some(Player::Max)];
        assert_eq!(winners(OutcomeScale::named(["loss", "draw", "win"])), Ok(all.to_vec()));
        assert_eq!(winners(OutcomeScale::scores([-3, 0, 2]).unwrap()), Ok(all.to_vec()));
        let two = winners(OutcomeScale::named(["black", "white"]));
        assert_eq!(two, Ok(vec![Some(Player::Min), Some(Player::Max)]));
        let unknown = winners(OutcomeScale::named(["bad", "good", "best"]));
        assert_eq!(unknown, Err(NoWinner("bad, good, best".to_owned())));
    }
}
