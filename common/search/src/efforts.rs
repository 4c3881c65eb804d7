//! The effort numbers of a node for several thresholds, and how a node's follow from its
//! children's (GPNS paper, figures 1 and 3).
//!
//! A node's numbers are one [`EffortPair`] for each threshold of the search, ascending. PNS is
//! the case of one threshold.

mod width;

use std::ops::Range;

use jlpns_games::{Game, Move, Outcome, Player, Survey, Threshold};
pub use width::{Many, One, Several, ThresholdSet, Two, Width};

use crate::effort::{Effort, EffortPair, EffortSum};
use crate::job::{ChildFindings, Initialisation, Question};

/// How the nodes of one search get their numbers: the thresholds asked, and the initialisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluation<W> {
    first: Threshold,
    pub(crate) width: W,
    initialisation: Initialisation,
    knowledge: bool,
}

impl<W: Width> Evaluation<W> {
    /// For the thresholds of `question`; `width` must be their number.
    pub fn new(question: Question, width: W, initialisation: Initialisation) -> Evaluation<W> {
        let (first, count) = question.thresholds();
        assert_eq!(count, width.get(), "one pair for each threshold asked");
        assert!(count <= W::Set::MOST, "a width whose sets hold all thresholds");
        Evaluation { first, width, initialisation, knowledge: false }
    }

    /// This evaluation, but with or without asking the game for what it knows beyond its rules.
    #[must_use]
    pub fn with_knowledge(self, knowledge: bool) -> Evaluation<W> {
        Evaluation { knowledge, ..self }
    }

    /// The number of pairs of a node.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width.get()
    }

    /// The numbers of a position where the game is over.
    #[inline]
    pub fn terminal(&self, outcome: Outcome, mut write: impl FnMut(usize, EffortPair)) {
        for index in 0..self.width() {
            let threshold = Threshold(self.first.0 + index as u8);
            write(index, EffortPair::solved(threshold.holds(outcome)));
        }
    }

    /// The pair, the same for each threshold, that a new frontier node starts with.
    #[inline]
    pub fn frontier<G: Game>(&self, game: &G, position: &G::Position) -> EffortPair {
        match self.initialisation {
            Initialisation::Unit => EffortPair::UNIT,
            Initialisation::Mobility => {
                let replies = game.mobility(position);
                self.frontier_against(game.to_move(position), replies)
            }
        }
    }

    /// The pair of a new frontier node with `player` to move, given how many replies the other
    /// player has to meet, or whatever stands for that number.
    #[inline]
    pub fn frontier_against(&self, player: Player, resistance: u32) -> EffortPair {
        if self.initialisation == Initialisation::Unit {
            return EffortPair::UNIT;
        }
        // A search that sees the end of a game late comes here with no moves at all.
        let resistance = Effort::finite(u64::from(resistance.max(1)));
        pair_of(player, Effort::ONE, resistance)
    }

    /// Writes the numbers of a new node at `position`; returns whether its value is known.
    #[inline]
    pub fn new_node<G: Game>(
        &self,
        game: &G,
        position: &G::Position,
        mut write: impl FnMut(usize, EffortPair),
    ) -> bool {
        if self.knowledge {
            let Survey { bounds, resistance, .. } = game.survey(position, game.scale().bounds());
            let pair = self.frontier_against(game.to_move(position), resistance);
            for index in 0..self.width() {
                let verdict = bounds.verdict(Threshold(self.first.0 + index as u8));
                write(index, verdict.map_or(pair, EffortPair::solved));
            }
            return bounds.value().is_some();
        }
        if let Some(outcome) = game.outcome(position) {
            self.terminal(outcome, write);
            true
        } else {
            let pair = self.frontier(game, position);
            (0..self.width()).for_each(|index| write(index, pair));
            false
        }
    }
}

/// How much more effort a child starts with for each sibling that promises more.
const RANK_EFFORT: u64 = 4;

/// How much more effort a move of this promise starts with than the most promising of all: the more of its
/// siblings promise more, the less likely is it the move to be proved.
#[inline]
pub(crate) fn rank_effort(promises: &[(Move, i32)], promise: i32) -> u64 {
    RANK_EFFORT * promises.iter().filter(|(_, other)| *other > promise).count() as u64
}

/// Collects the pairs of a node's children for one threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairOfChildren {
    player: Player,
    least: Effort,
    sum: EffortSum,
}

impl PairOfChildren {
    /// For a node with `player` to move.
    #[inline]
    pub fn new(player: Player) -> PairOfChildren {
        PairOfChildren { player, least: Effort::INFINITY, sum: EffortSum::default() }
    }

    /// Adds a child.
    #[inline]
    pub fn add(&mut self, child: EffortPair) {
        let wanted = self.add_feared(child);
        self.choose(wanted);
    }

    /// Adds a child that is not to be chosen: it counts in the sum alone. Returns the number that
    /// the player would choose it by.
    #[inline]
    pub fn add_feared(&mut self, child: EffortPair) -> Effort {
        let (wanted, feared) = for_player(self.player, child);
        self.sum.add(feared);
        wanted
    }

    /// Lets a child with this number be chosen.
    #[inline]
    pub fn choose(&mut self, wanted: Effort) {
        self.least = self.least.min(wanted);
    }

    /// Whether no child that can be chosen has a finite number.
    #[inline]
    pub fn is_without_choice(self) -> bool {
        self.least.is_infinite()
    }

    /// The node's pair: the least of the numbers that its player wants, and the sum of the others.
    #[inline]
    pub fn pair(self) -> EffortPair {
        self.pair_with(EffortSum::total)
    }

    /// The same, with what `for_all` makes of the other numbers instead of their sum.
    #[inline]
    pub fn pair_with(self, for_all: impl FnOnce(EffortSum) -> Effort) -> EffortPair {
        pair_of(self.player, self.least, for_all(self.sum))
    }
}

/// The number that `player` minimises when choosing a child, and the other one.
#[inline]
pub(crate) fn for_player(player: Player, pair: EffortPair) -> (Effort, Effort) {
    match player {
        Player::Max => (pair.proof, pair.disproof),
        Player::Min => (pair.disproof, pair.proof),
    }
}

/// The pair in which `own` is the number that `player` minimises, and `other` the other one.
#[inline]
pub(crate) fn pair_of(player: Player, own: Effort, other: Effort) -> EffortPair {
    match player {
        Player::Max => EffortPair { proof: own, disproof: other },
        Player::Min => EffortPair { proof: other, disproof: own },
    }
}

/// Carries what is known of a position's thresholds in `known`, one at least, over to its others:
/// reaching more takes at least as much effort, and reaching less at most as
/// much, so proof numbers never fall and disproof numbers never rise with the threshold (GPNS
/// paper, section 4.3).
pub(crate) fn carry_over(pairs: &mut [EffortPair], known: Range<usize>) {
    for index in (0..known.start).rev() {
        let above = pairs[index + 1];
        let pair = &mut pairs[index];
        if !pair.is_solved() {
            pair.proof = pair.proof.min(above.proof);
            pair.disproof = pair.disproof.max(above.disproof);
            *pair = agreeing(*pair);
        }
    }
    for index in known.end..pairs.len() {
        let below = pairs[index - 1];
        let pair = &mut pairs[index];
        if !pair.is_solved() {
            pair.proof = pair.proof.max(below.proof);
            pair.disproof = pair.disproof.min(below.disproof);
            *pair = agreeing(*pair);
        }
    }
}

/// A pair of which one side was taken over: the other follows if that is permanent.
fn agreeing(pair: EffortPair) -> EffortPair {
    if pair.proof.is_zero() || pair.disproof.is_infinite() {
        EffortPair::PROVED
    } else if pair.disproof.is_zero() || pair.proof.is_infinite() {
        EffortPair::DISPROVED
    } else {
        pair
    }
}

/// Which of a root's thresholds to work on, as an index into its pairs: `None` if all are solved.
///
/// This is the choice of the attracting outcome o* and the distracting outcome o' (section 4.4).
/// With Max to move at the root o' is the outcome below o*, so that Max's nodes minimise G(., o*)
/// and Min's S(., o* - 1): the two numbers of threshold o*. With Min to move o' is the outcome
/// above, and the numbers are those of threshold o* + 1. The game is finite: G of the worst
/// outcome and S of the best are 0. Among equals the lowest threshold is taken for Max, the
/// highest for Min.
pub(crate) fn attracting_threshold(player: Player, root: &[EffortPair]) -> Option<usize> {
    let open = (0..root.len()).filter(|&index| !root[index].is_solved());
    match player {
        // G(o*) + S(o*): S(o*) is the disproof number of the threshold above.
        Player::Max => open.min_by_key(|&index| {
            let at_most = root.get(index + 1).map_or(Effort::ZERO, |above| above.disproof);
            root[index].proof.plus(at_most)
        }),
        // G(o*) + S(o*): o* is just below the threshold, G(o*) the proof number of the one below.
        Player::Min => open.rev().min_by_key(|&index| {
            let at_least = index.checked_sub(1).map_or(Effort::ZERO, |below| root[below].proof);
            root[index].disproof.plus(at_least)
        }),
    }
}

/// The child that `player` holds best, given the node's own numbers: the one with the least
/// effort for the attracting threshold, or, once all are solved, for the best outcome that the
/// player can force; among equals the last. None if nothing better than the worst can be forced.
pub(crate) fn most_proving_move(
    player: Player,
    node: &[EffortPair],
    children: &[ChildFindings],
) -> Option<Move> {
    most_proving_move_for(attracting_threshold(player, node), player, node, children)
}

/// The same for another threshold than the attracting one; `None` if all are solved.
pub(crate) fn most_proving_move_for(
    threshold: Option<usize>,
    player: Player,
    node: &[EffortPair],
    children: &[ChildFindings],
) -> Option<Move> {
    let threshold = threshold.or_else(|| match player {
        Player::Max => node.iter().rposition(|pair| pair.proof.is_zero()),
        Player::Min => node.iter().position(|pair| pair.disproof.is_zero()),
    })?;
    let wanted = |child: &ChildFindings| for_player(player, child.efforts[threshold]).0;
    let best = children.iter().rev().min_by_key(|child| wanted(child))?;
    (!wanted(best).is_infinite()).then_some(best.mv)
}

/// The thresholds of `open` that are not settled by a node's numbers, as indices into its pairs:
/// proved thresholds come first, disproved ones last.
pub(crate) fn still_open(pairs: &[EffortPair], open: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (open.start, open.end);
    while start < end && pairs[start].proof.is_zero() {
        start += 1;
    }
    while start < end && pairs[end - 1].disproof.is_zero() {
        end -= 1;
    }
    start..end
}
