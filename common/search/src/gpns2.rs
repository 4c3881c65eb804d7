//! GPNS2: GPNS in which each new frontier node starts with the root's numbers of a nested search
//! (GPNS paper, section 4.6). The second level trades time for memory.
//!
//! A nested search makes at most as many descents as the first level has made so far, and searches
//! only the thresholds that lie within the relevancy bounds of its root. Those get narrower with
//! what the siblings before it have settled. As in the tables of the paper, expanding a root is no
//! descent; and a nested search frees what is solved, as all searches on trees do.

use std::ops::Range;

use jlpns_games::{Game, Player};

use crate::efforts::{Width, still_open};
use crate::nested::{Limits, Start, nested, part_of, widened};
use crate::search_end::{SearchEnd, Stopped};
use crate::tree::Tree;
use crate::watch::Watch;
use crate::{EffortPair, Findings, Initialisation, Question, pns};

/// Grows `tree`, whose question is `question`, until it is answered, the memory of `capacity`
/// nodes is full or `watch` stops it.
pub(crate) fn search<G: Game, W: Width>(
    game: &G,
    initialisation: Initialisation,
    mut tree: Tree<'_, G, W>,
    question: Question,
    capacity: usize,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    // Nodes of the second level, without its roots: they are the first level's.
    let mut below = 0;
    let (mut peak, mut stopped) = (1, None);
    while !tree.is_solved() && stopped.is_none() {
        tree.select();
        if !tree.expand() {
            stopped = Some(Stopped::Memory);
            break;
        }
        let player = game.to_move(tree.position());
        let mut open = tree.relevant();
        for child in 0..tree.child_count() {
            let (mv, seen) = tree.child(child);
            let asked = still_open(seen, open.clone());
            if asked.is_empty() || stopped.is_some() {
                open = narrowed(open, player, seen);
                continue;
            }
            let mut efforts = seen.to_vec();
            let mut position = tree.position().clone();
            game.play(&mut position, mv);
            let question = part_of(question, &asked);
            let start = Start { question, initialisation, knowledge: tree.knowledge_below() };
            let left = capacity.saturating_sub(tree.live());
            let limits = Limits { nodes: left, descents: tree.descents() };
            let made = tree.created() + below;
            let nested = nested(game, position, start, limits, &mut |created| {
                let nodes = made + created - 1;
                watch.check(nodes, true, &|| Findings { nodes, ..tree.findings() })
            });
            below += nested.findings.nodes - 1;
            peak = peak.max(tree.live() + nested.peak - 1);
            let found = widened(&nested.findings.efforts, &asked, efforts.len());
            for (pair, found) in efforts.iter_mut().zip(found) {
                // What was seen without a search stays.
                if !pair.is_solved() {
                    *pair = found;
                }
            }
            tree.set_child(child, &efforts);
            open = narrowed(open, player, &efforts);
            if nested.stopped {
                stopped = watch.stopped();
            }
        }
        tree.backup();
    }
    let nodes = tree.created() + below;
    pns::end(&tree, nodes, peak.max(tree.peak()), stopped)
}

/// The thresholds of `open` that a node's next children still matter for, when one of its children
/// has these numbers: what the player to move has got there is got.
fn narrowed(open: Range<usize>, player: Player, child: &[EffortPair]) -> Range<usize> {
    let settled = still_open(child, open.clone());
    match player {
        Player::Max => settled.start..open.end.max(settled.start),
        Player::Min => open.start..settled.end.max(open.start),
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::MoveList;
    use jlpns_games::connect4::Connect4;

    use super::*;
    use crate::Effort;
    use crate::efforts::{One, Several};
    use crate::tree::KnowledgeUse;

    fn start<W: Width>(
        game: &Connect4<u64>,
        width: W,
        capacity: usize,
    ) -> Tree<'_, Connect4<u64>, W> {
        let question = Question::Value(game.scale().bounds());
        Tree::new(game, game.start(), question, width, Initialisation::Unit, capacity)
    }

    #[test]
    fn new_nodes_start_with_the_numbers_of_their_own_search() {
        let game = Connect4::<u64>::new(4, 4).expect("a size in range");
        let question = Question::Value(game.scale().bounds());
        // There is room for the children of the root, and for no more. No descent is made before.
        let tree = start(&game, Several(2), 5);
        let mut unwatched = ();
        let mut watch = Watch::new(None, &mut unwatched);
        let end = search(&game, Initialisation::Unit, tree, question, 5, &mut watch);
        assert_eq!(end.stopped, Some(Stopped::Memory));
        let mut moves = MoveList::new();
        game.moves(&game.start(), &mut moves);
        assert_eq!(end.findings.children.len(), moves.len());
        for (child, &mv) in end.findings.children.iter().zip(&moves) {
            let mut position = game.start();
            game.play(&mut position, mv);
            let start = Start {
                question,
                initialisation: Initialisation::Unit,
                knowledge: KnowledgeUse::Unused,
            };
            let limits = Limits { nodes: usize::MAX, descents: 0 };
            let go_on = &mut |_| std::ops::ControlFlow::Continue(());
            let own = nested(&game, position, start, limits, go_on).findings;
            assert_eq!(child.efforts, own.efforts);
            assert_ne!(child.efforts[0], EffortPair::UNIT);
        }
    }

    #[test]
    fn nested_searches_grow_with_the_descents_before_them() {
        let game = Connect4::<u64>::new(4, 4).expect("a size in range");
        let question = Question::Threshold(jlpns_games::Threshold(1));
        let tree = Tree::new(&game, game.start(), question, One, Initialisation::Unit, 1 << 20);
        let mut unwatched = ();
        let mut watch = Watch::new(None, &mut unwatched);
        let end = search(&game, Initialisation::Unit, tree, question, 1 << 20, &mut watch);
        assert!(end.findings.efforts[0].is_solved());
        let tree = Tree::new(&game, game.start(), question, One, Initialisation::Unit, 1 << 20);
        let plain = pns::search(tree, &mut Watch::new(None, &mut ()));
        // It makes its descents count for many.
        let (own, plain) = (end.statistics, plain.statistics);
        assert!(own.descents * 20 < plain.descents, "{own:?} against {plain:?}");
        assert!(own.peak_nodes * 20 < plain.peak_nodes, "{own:?} against {plain:?}");
    }

    #[test]
    fn what_a_sibling_has_got_is_asked_no_more() {
        let open = EffortPair { proof: Effort::ONE, disproof: Effort::ONE };
        let child = [EffortPair::PROVED, open, open, EffortPair::DISPROVED];
        assert_eq!(narrowed(0..4, Player::Max, &child), 1..4);
        assert_eq!(narrowed(0..4, Player::Min, &child), 0..3);
        assert_eq!(narrowed(2..3, Player::Max, &child), 2..3);
        let won = [EffortPair::PROVED; 4];
        assert!(narrowed(1..3, Player::Max, &won).is_empty());
        assert_eq!(narrowed(1..3, Player::Min, &won), 1..3);
    }
}
