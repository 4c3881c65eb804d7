//! Outcomes and goals: what a game can end in, and what a search is asked to prove.

use std::fmt;

/// One outcome of a game, as its index on the game's [`OutcomeScale`]: 0 is the worst for Max.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome(pub u8);

impl Outcome {
    /// The position on the scale.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A question with two answers: is the value at least the outcome with this index?
///
/// Threshold 0 ("at least the worst") always holds and threshold m of a scale with m outcomes
/// never does; they are allowed, because a search for them is a search (see the tables of the
/// GPNS paper, where such goals take as many descents as others).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Threshold(pub u8);

impl Threshold {
    /// Whether `outcome` reaches the threshold.
    #[inline]
    pub const fn holds(self, outcome: Outcome) -> bool {
        outcome.0 >= self.0
    }

    /// The relevancy bounds of the threshold: the best outcome below it and the worst that reaches
    /// it.
    #[inline]
    pub const fn relevancy_bounds(self) -> Bounds {
        Bounds { lower: Outcome(self.0.saturating_sub(1)), upper: Outcome(self.0) }
    }

    /// What the answer says of the value: the bounds of `scale` narrowed by it. `None` if the
    /// answer contradicts the scale (threshold 0 disproved).
    pub fn bounds(self, holds: bool, scale: &OutcomeScale) -> Option<Bounds> {
        let all = scale.bounds();
        let narrowed = if holds {
            Bounds { lower: Outcome(self.0), upper: all.upper }
        } else {
            Bounds { lower: all.lower, upper: Outcome(self.0.checked_sub(1)?) }
        };
        (narrowed.lower <= narrowed.upper).then_some(narrowed)
    }
}

/// Two outcomes, `lower <= upper`, between which a value lies (the pessimistic and optimistic
/// bounds of the GPNS paper, section 4.5) or in which it is of interest (the relevancy bounds
/// alpha and beta there).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The pessimistic bound, or alpha.
    pub lower: Outcome,
    /// The optimistic bound, or beta.
    pub upper: Outcome,
}

impl Bounds {
    /// Both ends at one outcome.
    pub const fn exactly(outcome: Outcome) -> Bounds {
        Bounds { lower: outcome, upper: outcome }
    }

    /// The value, if only one outcome is left.
    #[inline]
    pub fn value(self) -> Option<Outcome> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// The outcomes in both; `None` if there are none.
    pub fn intersection(self, other: Bounds) -> Option<Bounds> {
        let both =
            Bounds { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) };
        (both.lower <= both.upper).then_some(both)
    }

    /// What is known of `threshold`: `Some(true)` proved, `Some(false)` disproved.
    #[inline]
    pub const fn verdict(self, threshold: Threshold) -> Option<bool> {
        if self.lower.0 >= threshold.0 {
            Some(true)
        } else if self.upper.0 < threshold.0 {
            Some(false)
        } else {
            None
        }
    }
}

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
    outcomes: Vec<(String, Option<i32>)>,
}

/// So many outcomes are no scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a game has 2 to {MAX_OUTCOMES} different outcomes, not {0}")]
pub struct ScaleError(pub usize);

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

impl OutcomeScale {
    /// A scale of names that are known when the program is compiled, worst first: the compiler checks
    /// that there are enough of them, and not too many.
    pub fn named<S: Into<String>, const COUNT: usize>(names: [S; COUNT]) -> OutcomeScale {
        const { assert!(COUNT >= 2 && COUNT <= MAX_OUTCOMES, "a scale has 2 to 255 outcomes") };
        OutcomeScale { outcomes: names.into_iter().map(|name| (name.into(), None)).collect() }
    }

    /// A scale of names, worst first.
    pub fn from_names<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
    ) -> Result<OutcomeScale, ScaleError> {
        OutcomeScale::new(names.into_iter().map(|name| (name.into(), None)).collect())
    }

    /// A scale of scores in any order, each named by its number.
    pub fn scores(scores: impl IntoIterator<Item = i32>) -> Result<OutcomeScale, ScaleError> {
        let mut scores: Vec<_> = scores.into_iter().collect();
        scores.sort_unstable();
        scores.dedup();
        OutcomeScale::new(
            scores.into_iter().map(|score| (score.to_string(), Some(score))).collect(),
        )
    }

    fn new(outcomes: Vec<(String, Option<i32>)>) -> Result<OutcomeScale, ScaleError> {
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
        &self.outcomes[outcome.index()].0
    }

    /// The outcome with this score, on a scale of scores.
    pub fn with_score(&self, score: i32) -> Option<Outcome> {
        let found = self.outcomes.iter().position(|(_, s)| *s == Some(score))?;
        Some(Outcome(found as u8))
    }

    /// All names, worst first, for messages.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.outcomes.iter().map(|(n, _)| n.as_str()).collect();
        names.join(", ")
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
        if let Some(index) = self.outcomes.iter().position(|(n, _)| n.eq_ignore_ascii_case(wanted))
        {
            let outcome = Outcome(index as u8);
            return Ok(if at_least { Goal::AtLeast(outcome) } else { Goal::AtMost(outcome) });
        }
        let unknown = || GoalError::UnknownOutcome(wanted.to_owned(), self.names());
        let score: i32 = wanted.parse().map_err(|_| unknown())?;
        let index = if at_least {
            let least = self.outcomes.iter().position(|(_, s)| s.is_some_and(|s| s >= score));
            least.filter(|_| self.outcomes[0].1 < Some(score))
        } else {
            let most = self.outcomes.iter().rposition(|(_, s)| s.is_some_and(|s| s <= score));
            most.filter(|_| self.outcomes[self.len() - 1].1 > Some(score))
        };
        let outcome = Outcome(index.ok_or_else(unknown)? as u8);
        Ok(if at_least { Goal::AtLeast(outcome) } else { Goal::AtMost(outcome) })
    }
}

/// What a search for one threshold is to prove, as users write it.
///
/// ```
/// use jlpns_games::{Goal, Outcome, OutcomeScale, Threshold};
///
/// let scale = OutcomeScale::named(["loss", "draw", "win"]);
/// let goal = scale.parse_goal("<=draw")?;
/// assert_eq!(goal, Goal::AtMost(Outcome(1)));
/// // It is proved when the value does not reach a win.
/// assert_eq!(goal.threshold(), Threshold(2));
/// assert!(goal.proved_when(false));
/// # Ok::<(), jlpns_games::outcome::GoalError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The value is at least this outcome (`>=`).
    AtLeast(Outcome),
    /// The value is at most this outcome (`<=`): proved when the threshold above it is disproved.
    AtMost(Outcome),
}

impl Goal {
    /// The threshold whose answer decides the goal.
    pub const fn threshold(self) -> Threshold {
        match self {
            Goal::AtLeast(outcome) => Threshold(outcome.0),
            Goal::AtMost(outcome) => Threshold(outcome.0 + 1),
        }
    }

    /// Whether the goal is proved, given the answer to its threshold.
    pub const fn proved_when(self, threshold_holds: bool) -> bool {
        match self {
            Goal::AtLeast(_) => threshold_holds,
            Goal::AtMost(_) => !threshold_holds,
        }
    }

    /// The goal as users write it.
    pub fn display<'a>(&'a self, scale: &'a OutcomeScale) -> impl fmt::Display + 'a {
        struct Text<'a>(&'a Goal, &'a OutcomeScale);
        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Goal::AtLeast(o) => write!(f, ">={}", self.1.name(*o)),
                    Goal::AtMost(o) => write!(f, "<={}", self.1.name(*o)),
                }
            }
        }
        Text(self, scale)
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
        for bad in [">=3", ">=-3", "<=99999999999", ">=", "<=draw"] {
            assert!(matches!(scores.parse_goal(bad), Err(GoalError::UnknownOutcome(..))), "{bad}");
        }
        for bad in ["", "draw", "=draw", "-1"] {
            assert!(matches!(named.parse_goal(bad), Err(GoalError::NoComparison(..))), "{bad}");
        }
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
    fn an_answer_narrows_the_bounds() {
        let scale = OutcomeScale::named(["loss", "draw", "win"]);
        let upper_half = Bounds { lower: Outcome(1), upper: Outcome(2) };
        assert_eq!(Threshold(1).bounds(true, &scale), Some(upper_half));
        assert_eq!(Threshold(1).bounds(false, &scale), Some(Bounds::exactly(Outcome(0))));
        assert_eq!(Threshold(0).bounds(false, &scale), None);
        assert_eq!(Threshold(3).bounds(true, &scale), None);
        assert_eq!(Threshold(3).bounds(false, &scale), Some(scale.bounds()));
    }
}
