//! Effort numbers of children where reports come from several sub-searches.
//!
//! The numbers of two sub-searches are not to be compared: PDS counts what it has tried, alpha-beta knows
//! the legal moves. Added to what the game says of the children they are: how many answers there are to
//! each, and which moves look best. The weights were measured (`docs/tuning.md`).

use jlpns_games::{Game, Move};
use smallvec::SmallVec;

use crate::effort::Effort;
use crate::efforts::{Width, pair_of};
use crate::graph::Graph;
use crate::job::ChildFindings;

/// How much the game's word weighs beside the numbers of a report.
const WEIGHT: u64 = 8;
/// How many answers of the opponent count as much as one sibling that promises more.
const RANK_EFFORT: u64 = 4;

impl<G: Game, W: Width> Graph<G, W> {
    /// What a sub-search found out about the children of the node at `position`, with what the game says of
    /// them added to the numbers that are open. `moves` are those of the node's expansion.
    pub(super) fn ranked(
        &self,
        position: &mut G::Position,
        moves: &[Move],
        found: &[ChildFindings],
    ) -> Vec<ChildFindings> {
        let mut resistances: SmallVec<[u32; 16]> = SmallVec::new();
        let mut promises: SmallVec<[(Move, i32); 16]> = SmallVec::new();
        for &mv in moves {
            self.game.play(position, mv);
            let (resistance, promise) = if self.settings.knowledge {
                let survey = self.game.survey(position, self.game.scale().bounds());
                (survey.resistance, survey.promise)
            } else {
                (self.game.mobility(position), 0)
            };
            self.game.undo(position, mv);
            resistances.push(resistance);
            promises.push((mv, promise));
        }
        if self.settings.knowledge {
            self.game.promises(position, &mut promises);
        }
        let opponent = self.game.to_move(position).opponent();
        let with_the_games_word = |found: &ChildFindings| {
            let mut child = found.clone();
            if let Some(at) = moves.iter().position(|&mv| mv == found.mv) {
                let better = promises.iter().filter(|(_, other)| *other > promises[at].1).count();
                let answers = u64::from(resistances[at].max(1)) + RANK_EFFORT * better as u64;
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

#[cfg(test)]
mod tests {
    use jlpns_games::Threshold;
    use jlpns_games::connect4::Connect4;

    use super::*;
    use crate::effort::EffortPair;
    use crate::efforts::One;
    use crate::graph::{GraphSettings, Selection};
    use crate::{Initialisation, Question};

    #[test]
    fn promising_moves_have_less_effort_and_what_is_settled_stays_so() {
        let game = Connect4::<u64>::new(7, 6).unwrap();
        let settings = GraphSettings {
            initialisation: Initialisation::Mobility,
            merge: true,
            selection: Selection::Locking,
            memory: 1 << 20,
            knowledge: true,
            ranked: true,
        };
        let mut position = game.start();
        let question = Question::Threshold(Threshold(2));
        let graph = Graph::new(game, position, question, One, settings);
        let moves: Vec<Move> = (0..7).map(Move).collect();
        let settled = EffortPair::solved(false);
        let of = |mv| if mv == Move(0) { settled } else { EffortPair::UNIT };
        let found = moves.iter().map(|&mv| ChildFindings { mv, efforts: vec![of(mv)] });
        let ranked = graph.ranked(&mut position, &moves, &found.collect::<Vec<_>>());
        assert_eq!(ranked[0].efforts, [settled]);
        let proof = |column: usize| ranked[column].efforts[0].proof;
        assert!(proof(3) < proof(2) && proof(2) < proof(1) && proof(1) < proof(6));
        assert!(ranked[1..].iter().all(|child| !child.efforts[0].is_solved()));
        // Its numbers stay beside the game's word: 8 for each of seven answers, and 1.
        assert_eq!(proof(3), Effort::finite(57));
    }
}
