//! Effort numbers of children where reports come from several sub-searches.
//!
//! The numbers of two sub-searches are not to be compared: PDS counts what it has tried, alpha-beta knows
//! the legal moves. Added to what the game says of the children they are: how many answers there are to
//! each, and which moves look best. The weights were measured (`docs/tuning.md`).

use jlpns_games::{Bounds, Game, Move};
use smallvec::SmallVec;

use crate::effort::Effort;
use crate::efforts::{Width, pair_of, rank_effort};
use crate::graph::Graph;
use crate::job::ChildFindings;

/// How much the game's word weighs beside the numbers of a report.
const WEIGHT: u64 = 8;

/// What the game says of some moves.
pub(super) struct Words {
    /// How many answers there are to each, as a number of effort.
    resistances: SmallVec<[u32; 16]>,
    /// How good each looks to the player who makes it.
    pub(super) promises: SmallVec<[(Move, i32); 16]>,
    /// Between which outcomes the value after each lies, as far as the game sees that.
    pub(super) bounds: SmallVec<[Bounds; 16]>,
}

impl<G: Game, W: Width> Graph<G, W> {
    /// What the game says of these moves at `position`; without knowledge, how many legal answers there are.
    pub(super) fn words(&self, position: &mut G::Position, moves: &[Move]) -> Words {
        let mut words = Words {
            resistances: SmallVec::new(),
            promises: SmallVec::new(),
            bounds: SmallVec::new(),
        };
        let scale = self.game.scale().bounds();
        for &mv in moves {
            self.game.play(position, mv);
            let (resistance, promise, bounds) = if self.settings.knowledge {
                let survey = self.game.survey(position, scale);
                (survey.resistance, survey.promise, survey.bounds)
            } else {
                (self.game.mobility(position), 0, scale)
            };
            self.game.undo(position, mv);
            words.resistances.push(resistance);
            words.promises.push((mv, promise));
            words.bounds.push(bounds);
        }
        if self.settings.knowledge {
            self.game.promises(position, &mut words.promises);
        }
        words
    }

    /// What a sub-search found out about the children of the node at `position`, with what the game says of
    /// them added to the numbers that are open. `moves` are those of the node's expansion.
    pub(super) fn ranked(
        &self,
        position: &mut G::Position,
        moves: &[Move],
        found: &[ChildFindings],
    ) -> Vec<ChildFindings> {
        let Words { resistances, promises, .. } = self.words(position, moves);
        let opponent = self.game.to_move(position).opponent();
        let with_the_games_word = |found: &ChildFindings| {
            let mut child = found.clone();
            if let Some(at) = moves.iter().position(|&mv| mv == found.mv) {
                let rank_effort = rank_effort(&promises, promises[at].1);
                let answers = u64::from(resistances[at].max(1)) + rank_effort;
                let word = pair_of(
                    opponent,
                    Effort::finite(WEIGHT),
                    Effort::finite(WEIGHT.saturating_mul(answers)),
                );
                for pair in child.efforts.iter_mut().filter(|pair| !pair.is_solved()) {
                    pair.proof = pair.proof.plus(word.proof);
                    pair.disproof = pair.disproof.plus(word.disproof);
                }
            }
            child
        };
        found.iter().map(with_the_games_word).collect()
    }
}
