//! The proof tree of an answer: from the root down to the claims that it rests on.
//!
//! What is settled in the search tree is freed there. But each settled threshold is so by the rules,
//! by a claim, or because of the children of a position that was expanded; so from the claims and
//! the expanded positions alone it can be found out again whether something is still settled, and
//! what it rests on.

use std::collections::{BTreeMap, BTreeSet};

use jlpns_games::{Game, Move, MoveList, Player, Threshold};

use super::Confirm;
use super::claims::{Claim, Claims, ThresholdAt};

/// Something that an answer rests on and that only one machine has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The position's key, and the threshold.
    pub place: ThresholdAt,
    /// The moves to the position, from the start of the game.
    pub moves: Vec<Move>,
    /// Whether the threshold is said to be reached.
    pub holds: bool,
    /// The claim; `None` if no machine claims just this threshold, and it does not follow from others.
    pub claim: Option<Claim>,
}

/// What an answer rests on beside the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// How many claims.
    pub claims: u64,
    /// How many of them need nothing more: more than one machine stands behind them, or, if the answer is to
    /// be proved, a certificate.
    pub confirmed: u64,
    /// The others.
    pub open: Vec<Open>,
}

/// Finds out what is settled, by rules and claims.
pub struct Proofs<'a, G: Game> {
    game: &'a G,
    claims: &'a Claims,
    /// Whether the game was asked for more than its rules.
    knowledge: bool,
    /// The key of the root, which was expanded with all of its moves.
    root: u128,
    /// What an answer needs of the claims that it rests on.
    needs: Confirm,
    verdicts: BTreeMap<ThresholdAt, Option<bool>>,
    costs: BTreeMap<(ThresholdAt, bool), Option<u64>>,
}

impl<'a, G: Game> Proofs<'a, G> {
    /// For a tree with its root at the position with this key.
    pub fn new(game: &'a G, claims: &'a Claims, knowledge: bool, root: G::Key) -> Proofs<'a, G> {
        let (verdicts, costs) = (BTreeMap::new(), BTreeMap::new());
        let needs = Confirm::default();
        Proofs { game, claims, knowledge, root: root.into(), needs, verdicts, costs }
    }

    /// The same, of an answer that needs this of the claims that it rests on.
    pub fn for_answer(self, needs: Confirm) -> Proofs<'a, G> {
        Proofs { needs, ..self }
    }

    /// Whether the value of a position reaches a threshold, if that is settled.
    pub fn verdict(&mut self, position: &mut G::Position, threshold: Threshold) -> Option<bool> {
        if let Some(holds) = self.by_rules(position, threshold) {
            return Some(holds);
        }
        let key: u128 = self.game.key(position).into();
        if let Some((_, claim)) = self.claims.implying(key, threshold).next() {
            return Some(claim.holds);
        }
        if !self.claims.is_expanded(key) {
            return None;
        }
        if let Some(&known) = self.verdicts.get(&(key, threshold.0)) {
            return known;
        }
        let wanted = self.game.to_move(position) == Player::Max;
        let mut all = Some(!wanted);
        for mv in self.moves(key, position) {
            self.game.play(position, mv);
            let child = self.verdict(position, threshold);
            self.game.undo(position, mv);
            if child == Some(wanted) {
                all = child;
                break;
            }
            if child.is_none() {
                all = None;
            }
        }
        self.verdicts.insert((key, threshold.0), all);
        all
    }

    /// The same by claims about the position with this key alone, which is quick.
    pub fn claimed(&self, key: G::Key, threshold: Threshold) -> Option<bool> {
        self.claims.implying(key.into(), threshold).next().map(|(_, claim)| claim.holds)
    }

    /// What it rests on that the position at the end of `moves` reaches thresholds, or that it does
    /// not.
    pub fn basis(
        &mut self,
        position: &mut G::Position,
        moves: &[Move],
        answer: &[(Threshold, bool)],
    ) -> Basis {
        self.walk(position, moves, answer).0
    }

    /// The proof tree itself: each of its positions' keys, with a threshold and whether it is reached. What
    /// holds by the rules is not in it.
    pub fn settled(
        &mut self,
        position: &mut G::Position,
        answer: &[(Threshold, bool)],
    ) -> BTreeSet<(ThresholdAt, bool)> {
        self.walk(position, &[], answer).1
    }

    fn walk(
        &mut self,
        position: &mut G::Position,
        moves: &[Move],
        answer: &[(Threshold, bool)],
    ) -> (Basis, BTreeSet<(ThresholdAt, bool)>) {
        let (mut basis, mut seen, mut moves) = (Basis::default(), BTreeSet::new(), moves.to_vec());
        for &(threshold, holds) in answer {
            self.collect(position, &mut moves, threshold, holds, &mut basis, &mut seen);
        }
        (basis, seen)
    }

    fn by_rules(&self, position: &G::Position, threshold: Threshold) -> Option<bool> {
        if self.knowledge {
            let bounds = self.game.survey(position, self.game.scale().bounds()).bounds;
            return bounds.verdict(threshold);
        }
        self.game.outcome(position).map(|outcome| threshold.holds(outcome))
    }

    /// The moves with which the tree expands a position.
    fn moves(&self, key: u128, position: &G::Position) -> MoveList {
        let mut moves = MoveList::new();
        if self.knowledge && key != self.root {
            self.game.relevant_moves(position, &mut moves);
        } else {
            self.game.moves(position, &mut moves);
        }
        moves
    }

    /// The best that stands directly behind a threshold: a claim that needs nothing more, else the one with
    /// least work.
    fn claim(&self, key: u128, threshold: Threshold, holds: bool) -> Option<(ThresholdAt, Claim)> {
        let implying = self.claims.implying(key, threshold).filter(|(_, c)| c.holds == holds);
        let best = implying.min_by_key(|(_, claim)| (!self.needs.is_met_by(claim), claim.work));
        best.map(|(place, claim)| (place, *claim))
    }

    /// How much work must be done again to confirm something, about; `None` if it is not settled.
    fn cost(
        &mut self,
        position: &mut G::Position,
        threshold: Threshold,
        holds: bool,
    ) -> Option<u64> {
        if let Some(known) = self.by_rules(position, threshold) {
            return (known == holds).then_some(0);
        }
        let key: u128 = self.game.key(position).into();
        let direct = self.claim(key, threshold, holds);
        if direct.is_some_and(|(_, claim)| self.needs.is_met_by(&claim)) {
            return Some(0);
        }
        let direct = direct.map(|(_, claim)| claim.work.saturating_add(1));
        let below = self.cost_below(key, position, threshold, holds);
        direct.into_iter().chain(below).min()
    }

    /// The same through the children.
    fn cost_below(
        &mut self,
        key: u128,
        position: &mut G::Position,
        threshold: Threshold,
        holds: bool,
    ) -> Option<u64> {
        if !self.claims.is_expanded(key) {
            return None;
        }
        let place = ((key, threshold.0), holds);
        if let Some(&known) = self.costs.get(&place) {
            return known;
        }
        let one_is_enough = self.one_is_enough(position, holds);
        let mut cost = if one_is_enough { None } else { Some(0u64) };
        for mv in self.moves(key, position) {
            self.game.play(position, mv);
            let child = self.cost(position, threshold, holds);
            self.game.undo(position, mv);
            cost = match (one_is_enough, cost, child) {
                (true, cost, child) => cost.into_iter().chain(child).min(),
                (false, Some(cost), Some(child)) => Some(cost.saturating_add(child)),
                (false, ..) => None,
            };
            if cost == if one_is_enough { Some(0) } else { None } {
                break;
            }
        }
        self.costs.insert(place, cost);
        cost
    }

    /// Whether the player to move wants the threshold to be reached as asked.
    fn one_is_enough(&self, position: &G::Position, holds: bool) -> bool {
        (self.game.to_move(position) == Player::Max) == holds
    }

    fn collect(
        &mut self,
        position: &mut G::Position,
        moves: &mut Vec<Move>,
        threshold: Threshold,
        holds: bool,
        basis: &mut Basis,
        seen: &mut BTreeSet<(ThresholdAt, bool)>,
    ) {
        if self.by_rules(position, threshold) == Some(holds) {
            return;
        }
        let key: u128 = self.game.key(position).into();
        if !seen.insert(((key, threshold.0), holds)) {
            return;
        }
        let direct = self.claim(key, threshold, holds);
        let confirmed = direct.is_some_and(|(_, claim)| self.needs.is_met_by(&claim));
        let below = if confirmed { None } else { self.cost_below(key, position, threshold, holds) };
        let cheaper_below = below
            .filter(|&below| direct.is_none_or(|(_, claim)| below < claim.work.saturating_add(1)));
        let Some(cost) = cheaper_below else {
            let place = direct.map_or((key, threshold.0), |(place, _)| place);
            // Several thresholds may rest on one claim.
            if place == (key, threshold.0) || seen.insert((place, holds)) {
                basis.claims += 1;
                basis.confirmed += u64::from(confirmed);
                if !confirmed {
                    let claim = direct.map(|(_, claim)| claim);
                    basis.open.push(Open { place, moves: moves.clone(), holds, claim });
                }
            }
            return;
        };
        let one_is_enough = self.one_is_enough(position, holds);
        for mv in self.moves(key, position) {
            self.game.play(position, mv);
            moves.push(mv);
            let chosen = !one_is_enough || self.cost(position, threshold, holds) == Some(cost);
            if chosen {
                self.collect(position, moves, threshold, holds, basis, seen);
            }
            moves.pop();
            self.game.undo(position, mv);
            if chosen && one_is_enough {
                return;
            }
        }
    }
}
