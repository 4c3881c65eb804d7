//! What an alpha-beta search reports, at its end or on its way.

use jlpns_games::{Game, MoveList};

use super::{Child, Search};
use crate::depth_first::pair_of;
use crate::efforts::{PairOfChildren, best_move};
use crate::{ChildFindings, Effort, EffortPair, Findings};

impl<G: Game> Search<'_, G> {
    /// What is known now, given the answer of the root if it has one.
    pub(super) fn findings(&self, answer: Option<bool>) -> Findings {
        let game = self.setting.game;
        let mut moves = MoveList::new();
        if game.outcome(&self.root).is_none() {
            game.moves(&self.root, &mut moves);
        }
        // Every node on the way has the numbers that follow from its children's.
        let mut below = None;
        let mut numbers = Vec::new();
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            let end = if depth == 0 { self.root_children } else { frame.end };
            numbers = self.children[frame.first..end].iter().map(Child::pair).collect();
            if let Some(pair) = below {
                numbers[frame.next - 1 - frame.first] = pair;
            }
            let mut pair = PairOfChildren::new(frame.player);
            numbers[..frame.end - frame.first].iter().for_each(|&number| pair.add(number));
            below = Some(pair.pair());
        }
        let known = |mv| self.children[..self.root_children].iter().position(|c| c.mv == mv);
        let children: Vec<ChildFindings> = moves
            .iter()
            .filter_map(|&mv| Some((mv, *numbers.get(known(mv)?)?)))
            .map(|(mv, pair)| ChildFindings { mv, efforts: vec![pair] })
            .collect();
        let efforts = match answer {
            Some(holds) => vec![EffortPair::solved(holds)],
            None => vec![below.unwrap_or(EffortPair::UNIT)],
        };
        let best_move = best_move(game.to_move(&self.root), &efforts, &children);
        Findings { efforts, children, nodes: self.nodes, best_move }
    }
}

impl Child {
    /// Its numbers, as far as it is known without searching it.
    fn pair(&self) -> EffortPair {
        match self.verdict {
            Some(holds) => EffortPair::solved(holds),
            None => {
                let resistance = Effort::finite(u64::from(self.resistance.max(1)));
                pair_of(self.player, Effort::ONE, resistance)
            }
        }
    }
}
