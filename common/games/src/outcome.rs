//! Outcomes and goals: what a game can end in, and what a search is asked to prove.

use std::fmt;

mod scale;

pub use scale::{
    Ending, GoalError, MAX_OUTCOMES, MAX_THRESHOLDS, NoWinner, OutcomeScale, ScaleError,
};

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
