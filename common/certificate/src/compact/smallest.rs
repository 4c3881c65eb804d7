//! A strategy of few positions. Its first part finds for each position how many positions it takes, as a tree, by
//! the way that takes the fewest: depth-first, as long as a way promises to be the best one, like alpha-beta with two
//! bounds on sums. Estimates of what is not looked into yet direct it, and may be too high: it is quick rather than
//! exact. The second part goes down from the beginning, and takes at each position the way that adds the
//! fewest positions to those that are in.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::FixedState;
use jlpns_games::connect4::{Bitboard, Connect4};
use jlpns_games::{Game, Move, Outcome, Player};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::strategy::Claim;
use jlpns_search::{Algorithm, Question, TranspositionTable};
use jlpns_verify::{Board, Failure};

use super::board::{Field, Stones};
use super::plan_finder::PlanFinder;
use crate::known_moves::Stop;
use crate::make::{Progress, Strategy};

/// No way at all.
const NONE: u32 = u32::MAX / 2;
/// What the checker adds to the number of a move with a plan.
const PLANNED: u8 = 128;
/// About how much memory an estimate takes.
const ESTIMATE_BYTES: usize = 160;
/// How often the positions are chosen anew, with the prices of the last time, after the last gain.
const ROUNDS: usize = 3;
/// The positions of a tree to this power are about as many as it has if each is there once.
const ONCE: f64 = 0.86;
/// How many nodes the search for one move may take at first, and how many times more in each further round.
const FIRST_BUDGET: u64 = 20_000;
const BUDGET_GROWTH: u64 = 8;
/// A way is left when another one promises to take fewer by more than this part of it.
const PATIENCE: u32 = 16;
/// How many times more positions are expected for every two more empty cells, and where that begins.
const GROWTH: f64 = 1.25;
const SMALL: i32 = 8;
/// How many positions the walk of a plan may come to while it is looked for: when positions are counted, and when they
/// are taken, which is done for far fewer of them.
const FEW_STEPS: u64 = 2_000;
const MANY_STEPS: u64 = 20_000;

/// By position, in standard form.
type Map<B, V> = HashMap<Stones<B>, V, FixedState>;

/// The stop of a walk that somebody asked for.
struct Stopped;

/// What is known of a position with the claimant to move.
#[derive(Clone, Copy)]
struct Estimate {
    positions: u32,
    /// Whether these positions are known, and not only expected.
    known: bool,
}

/// A move after which the claim holds, and the positions after the replies, each once.
struct Way<B> {
    number: u8,
    next: Vec<Stones<B>>,
}

/// What the claimant does in a position in standard form.
#[derive(Clone)]
struct Choice<B> {
    number: u8,
    plan: Option<Vec<u8>>,
    /// The positions that are to be met next.
    next: Vec<Stones<B>>,
}

/// The claimant's moves and plans for one claim.
pub(crate) struct SmallStrategy<B> {
    choices: Map<B, Choice<B>>,
    /// How many bytes a plan takes.
    cells: usize,
    at_least: bool,
}

/// The strategies of all claims of a certificate.
pub(crate) struct SmallStrategies<B>(pub(crate) Vec<SmallStrategy<B>>);

/// Looks for a small strategy.
struct Finder<'a, B: Bitboard> {
    game: &'a Connect4<B>,
    table: &'a TranspositionTable,
    claim: Claim,
    plans: PlanFinder,
    field: Field<B>,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    progress: &'a mut dyn Progress,
    estimates: Map<B, Estimate>,
    /// What was found to be the last move that a position needs, or that none is found in many steps.
    last: Map<B, Option<Choice<B>>>,
    most_estimates: usize,
    /// Keys of positions after the claimant's move of which a search with so many nodes has found nothing.
    unsettled: HashMap<u128, u64, FixedState>,
}

impl<B: Bitboard> SmallStrategy<B> {
    /// A strategy for a claim that holds after these moves. None if it was stopped.
    pub(crate) fn find(
        game: &Connect4<B>,
        moves: &[Move],
        table: &TranspositionTable,
        claim: Claim,
        memory: usize,
        is_stopped: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn Progress,
    ) -> Option<SmallStrategy<B>> {
        let mut finder = Finder::new(game, table, claim, is_stopped, progress);
        let begin = finder.field.first(moves, claim.claimant() == Player::Max);
        // What is not settled when the memory is full is as it is expected.
        finder.most_estimates = memory / ESTIMATE_BYTES;
        let _ = begin.iter().try_for_each(|&stones| finder.settle(stones, NONE).map(drop));
        let mut best: Option<Map<B, Choice<B>>> = None;
        let (mut prices, mut rounds_left) = (Map::default(), ROUNDS);
        while rounds_left > 0 {
            let mut choices = Map::default();
            for &stones in &begin {
                finder.take(stones, &prices, &mut choices).ok()?;
            }
            prices = prices_of(&choices);
            rounds_left -= 1;
            if best.as_ref().is_none_or(|best| choices.len() < best.len()) {
                best = Some(choices);
                rounds_left = ROUNDS;
            }
        }
        let choices = best?;
        let cells = (game.width() * game.height()) as usize;
        Some(SmallStrategy { choices, cells, at_least: claim.holds })
    }
}

impl<B: Bitboard> Strategy for SmallStrategies<B> {
    fn numbers(
        &self,
        claim: &jlpns_verify::Claim,
        boards: &[Board<'_>],
    ) -> Result<Vec<u8>, Failure> {
        let fails = || Failure::Fails(format!("claim {claim} has a position without a move"));
        let strategy = self.0.iter().find(|strategy| strategy.at_least == claim.at_least);
        let strategy = strategy.ok_or_else(fails)?;
        let mut numbers = Vec::new();
        for board in boards {
            let &Board::Connect4 { claimant, all } = board else { return Err(fails()) };
            let bits = |bits| B::try_from(bits).map_err(|_| fails());
            let stones = Stones { claimant: bits(claimant)?, all: bits(all)? };
            let choice = strategy.choices.get(&stones).ok_or_else(fails)?;
            match &choice.plan {
                Some(plan) => {
                    numbers.push(choice.number + PLANNED);
                    numbers.extend(plan);
                }
                None => {
                    numbers.push(choice.number);
                    numbers.resize(numbers.len() + strategy.cells, 0);
                }
            }
        }
        Ok(numbers)
    }
}

impl<'a, B: Bitboard> Finder<'a, B> {
    fn new(
        game: &'a Connect4<B>,
        table: &'a TranspositionTable,
        claim: Claim,
        is_stopped: &'a (dyn Fn() -> bool + Sync),
        progress: &'a mut dyn Progress,
    ) -> Finder<'a, B> {
        let (columns, rows) = (game.width(), game.height());
        // One player's win is what a draw does not fulfil.
        let must_win = !claim.is_fulfilled_by(Outcome(1));
        Finder {
            game,
            table,
            claim,
            plans: PlanFinder::new(),
            field: Field::new(columns, rows, must_win),
            is_stopped,
            progress,
            estimates: Map::default(),
            last: Map::default(),
            most_estimates: usize::MAX,
            unsettled: HashMap::default(),
        }
    }

    /// A move after which nothing is left to be met, or a plan that is found in so many steps.
    fn last_choice(&mut self, stones: Stones<B>, steps: u64) -> Option<Choice<B>> {
        if let Some(known) = self.last.get(&stones) {
            return known.clone();
        }
        let moves = self.field.moves(stones);
        let is_last = |after| self.field.replies(after).is_some_and(|next| next.is_empty());
        let last = moves.iter().find(|&&(_, after)| is_last(after));
        let mut choice = last.map(|&(number, _)| Choice { number, plan: None, next: Vec::new() });
        for &(number, after) in &moves {
            let is_lost = |after| known(self.game, self.table, self.claim, after) == Some(false);
            if choice.is_some() || is_lost(after) {
                continue;
            }
            let plan = self.plans.find(&self.field, after, steps, &is_lost);
            choice = plan.map(|plan| Choice { number, plan: Some(plan), next: Vec::new() });
        }
        if choice.is_some() || steps == MANY_STEPS {
            self.last.insert(stones, choice.clone());
        }
        self.progress.looked_into(1);
        choice
    }

    /// Whether the claim holds after a move of the claimant's, if that can be found out with so many nodes.
    fn holds(&mut self, after: Stones<B>, budget: u64) -> Result<Option<bool>, Stopped> {
        let known = known(self.game, self.table, self.claim, after);
        if known.is_some() {
            return Ok(known);
        }
        let (threshold, holds) = (self.claim.threshold, self.claim.holds);
        let mut position = self.game.position(after.all ^ after.claimant, after.all);
        let key = self.game.key(&position).into();
        if self.unsettled.get(&key).is_some_and(|&spent| spent >= budget) {
            return Ok(None);
        }
        if (self.is_stopped)() {
            return Err(Stopped);
        }
        let settings = SearchSettings {
            algorithm: Algorithm::AlphaBeta,
            max_nodes: Some(budget),
            ..SearchSettings::default()
        };
        let question = Question::Threshold(threshold);
        let mut stop = Stop(self.is_stopped);
        let end = search(self.game, &mut position, question, &settings, self.table, &mut stop);
        let verdict = end.findings.efforts[0].verdict();
        if verdict.is_none() {
            self.unsettled.insert(key, budget);
        }
        Ok(verdict.map(|verdict| verdict == holds))
    }

    /// The ways from a position, as far as they are found with little work; at least one, if the claim holds there.
    fn ways(&mut self, stones: Stones<B>) -> Result<Vec<Way<B>>, Stopped> {
        let moves = self.field.moves(stones);
        let mut budget = FIRST_BUDGET;
        loop {
            let (mut ways, mut is_open) = (Vec::new(), false);
            for &(number, after) in &moves {
                match self.holds(after, budget)? {
                    Some(true) => {
                        ways.extend(self.field.replies(after).map(|next| Way { number, next }));
                        // One that takes so much is enough.
                        if budget > FIRST_BUDGET {
                            break;
                        }
                    }
                    Some(false) => {}
                    None => is_open = true,
                }
            }
            if !ways.is_empty() || !is_open {
                return Ok(ways);
            }
            budget = budget.saturating_mul(BUDGET_GROWTH);
        }
    }

    /// What is known of a position, or expected.
    fn estimate(&mut self, stones: Stones<B>) -> Estimate {
        if let Some(&known) = self.estimates.get(&stones) {
            return known;
        }
        let empty = self.field.empty(stones) as i32;
        let estimate = if self.last_choice(stones, FEW_STEPS).is_some() {
            Estimate { positions: 1, known: true }
        } else {
            let expected = 2.0 * GROWTH.powf(f64::from((empty - SMALL).max(0)) / 2.0);
            Estimate { positions: (expected as u32).min(NONE), known: false }
        };
        self.estimates.insert(stones, estimate);
        estimate
    }

    /// Looks into a position until it is known how many positions it takes, or that it takes more than `bound`.
    fn settle(&mut self, stones: Stones<B>, bound: u32) -> Result<Estimate, Stopped> {
        let estimate = self.estimate(stones);
        if estimate.known || estimate.positions > bound {
            return Ok(estimate);
        }
        if self.estimates.len() > self.most_estimates || (self.is_stopped)() {
            return Err(Stopped);
        }
        let ways = self.ways(stones)?;
        let mut ways: Vec<(Way<B>, Vec<Estimate>)> = ways
            .into_iter()
            .map(|way| {
                let estimates = way.next.iter().map(|&next| self.estimate(next)).collect();
                (way, estimates)
            })
            .collect();
        let estimate = loop {
            let mut sums: Vec<(u32, usize)> =
                (0..).zip(&ways).map(|(place, way)| (sum(&way.1), place)).collect();
            sums.sort_unstable();
            let Some(&(positions, best)) = sums.first() else {
                break Estimate { positions: NONE, known: true };
            };
            let second = sums.get(1).map_or(NONE, |&(second, _)| second);
            let limit = bound.min(second.saturating_add(second / PATIENCE));
            let (way, estimates) = &mut ways[best];
            // The largest first: if it is too large, the others need not be looked into.
            let open = (0..estimates.len()).filter(|&place| !estimates[place].known);
            match open.max_by_key(|&place| estimates[place].positions) {
                Some(place) if positions <= bound => {
                    let room = limit.max(positions) - positions;
                    let bound = estimates[place].positions.saturating_add(room);
                    let next = way.next[place];
                    ways[best].1[place] = self.settle(next, bound)?;
                }
                open => break Estimate { positions, known: open.is_none() },
            }
        };
        self.estimates.insert(stones, estimate);
        Ok(estimate)
    }

    /// Takes a position in, and all that the claimant's moves lead to. What is in already costs nothing; what was in the
    /// last time has a price.
    fn take(
        &mut self,
        stones: Stones<B>,
        prices: &Map<B, f64>,
        choices: &mut Map<B, Choice<B>>,
    ) -> Result<(), Stopped> {
        if (self.is_stopped)() {
            return Err(Stopped);
        }
        if choices.contains_key(&stones) {
            return Ok(());
        }
        if let Some(choice) = self.last_choice(stones, MANY_STEPS) {
            choices.insert(stones, choice);
            return Ok(());
        }
        let mut best: Option<((bool, f64), Way<B>)> = None;
        for way in self.ways(stones)? {
            let (mut is_open, mut cost) = (false, 0.0);
            for &next in way.next.iter().filter(|&next| !choices.contains_key(next)) {
                let price = prices.get(&next).copied();
                cost += price.unwrap_or_else(|| {
                    let Estimate { positions, known } = self.estimate(next);
                    is_open |= !known;
                    // A tree has the positions several times that are to be met only once.
                    f64::from(positions).powf(ONCE)
                });
            }
            // What is only expected may turn out to be much more.
            if best.as_ref().is_none_or(|&(least, _)| (is_open, cost) < least) {
                best = Some(((is_open, cost), way));
            }
        }
        let Some((_, Way { number, next })) = best else {
            // The claim does not hold; the checker's own rules will say where.
            return Ok(());
        };
        choices.insert(stones, Choice { number, plan: None, next: next.clone() });
        next.into_iter().try_for_each(|next| self.take(next, prices, choices))
    }
}

/// What positions that are in would cost: those below them, shared among all that lead there.
fn prices_of<B: Bitboard>(choices: &Map<B, Choice<B>>) -> Map<B, f64> {
    let mut positions: Vec<Stones<B>> = choices.keys().copied().collect();
    positions.sort_unstable_by_key(|&stones| (Reverse(stones.all.count_ones()), stones));
    let mut shares: Map<B, f64> = Map::default();
    for next in choices.values().flat_map(|choice| &choice.next) {
        *shares.entry(*next).or_default() += 1.0;
    }
    let mut prices: Map<B, f64> = Map::default();
    for stones in positions {
        let next = choices[&stones].next.iter();
        let below: f64 = next.map(|next| prices.get(next).copied().unwrap_or(0.0)).sum();
        let shared = shares.get(&stones).copied().unwrap_or(1.0);
        prices.insert(stones, (1.0 + below) / shared);
    }
    prices
}

/// Whether the claim holds after a move of the claimant's, if that needs no search.
fn known<B: Bitboard>(
    game: &Connect4<B>,
    table: &TranspositionTable,
    Claim { threshold, holds }: Claim,
    after: Stones<B>,
) -> Option<bool> {
    let position = game.position(after.all ^ after.claimant, after.all);
    let bounds = game.survey(&position, threshold.relevancy_bounds()).bounds;
    let verdict = bounds.verdict(threshold).or_else(|| {
        let known = table.get(game.key(&position).into(), threshold)?;
        known.pair.verdict()
    })?;
    Some(verdict == holds)
}

/// The positions that a way takes.
fn sum(estimates: &[Estimate]) -> u32 {
    let sum: u64 = estimates.iter().map(|estimate| u64::from(estimate.positions)).sum();
    (sum + 1).min(u64::from(NONE)) as u32
}
