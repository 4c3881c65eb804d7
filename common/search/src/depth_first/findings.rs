//! What a depth-first search reports, at its end or on its way.

use jlpns_games::Game;

use super::{Estimate, Path};
use crate::efforts::{PairOfChildren, most_proving_move};
use crate::search_end::{SearchEnd, Statistics};
use crate::watch::Watch;
use crate::{ChildFindings, Findings};

impl<G: Game, E: Estimate, N> Path<'_, G, E, N> {
    /// What is known now.
    pub fn findings(&self) -> Findings {
        // Every node on the way has the numbers that follow from its children's: those of the
        // root, and of its child that the way goes through.
        let (mut root, mut way) = (None, None);
        let mut end = self.children.len();
        for frame in self.frames.iter().rev() {
            way = root.map(|pair| (frame.next - 1, pair));
            let mut pair = PairOfChildren::new(frame.player);
            for (index, child) in (frame.first..end).zip(&self.children[frame.first..end]) {
                pair.add(match way {
                    Some((on_way, pair)) if on_way == index => pair,
                    _ => child.estimate.pair(),
                });
            }
            root = Some(pair.pair_with(|sum| self.setting.for_all(sum)));
            end = frame.first;
        }
        let end = self.frames.get(1).map_or(self.children.len(), |frame| frame.first);
        let known = |mv| self.children[..end].iter().position(|child| child.mv == mv);
        let pair_of = |index: usize| match way {
            Some((on_way, pair)) if on_way == index => pair,
            _ => self.children[index].estimate.pair(),
        };
        let children: Vec<ChildFindings> = self
            .root_moves()
            .iter()
            .filter_map(|&mv| Some((mv, pair_of(known(mv)?))))
            .map(|(mv, pair)| ChildFindings { mv, efforts: vec![pair] })
            .collect();
        let efforts = vec![root.unwrap_or(self.root.estimate.pair())];
        let most_proving_move =
            most_proving_move(self.setting.game.to_move(self.start), &efforts, &children);
        Findings { efforts, children, nodes: self.nodes, most_proving_move }
    }

    /// The end of the search.
    pub fn end(self, watch: &Watch<'_>) -> SearchEnd {
        let findings = self.findings();
        SearchEnd {
            stopped: watch.stopped().filter(|_| !findings.efforts[0].is_solved()),
            statistics: Statistics {
                descents: self.descents,
                nodes: self.nodes,
                peak_nodes: self.peak as u64 + self.setting.table.len(),
            },
            findings,
        }
    }
}
