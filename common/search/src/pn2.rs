//! PN2 and GPNS-PN2: PNS and GPNS whose most-proving node is searched by a second search of the same
//! kind, of which the root's children are kept (PDS-PN paper, section 3.2). The second level trades
//! time for memory.
//!
//! The first level evaluates its nodes late: a child has the numbers that its parent's second
//! level gave it, until it is selected itself. The second level evaluates at once, and frees what
//! is solved. It is bounded by its nodes for PN2 and by its descents for GPNS-PN2, and searches only
//! the thresholds that lie within the relevancy bounds of its root.
//!
//! GPNS-PN2 is no search of the papers: of theirs ([`gpns2`](crate::gpns2)) it has the bound on the
//! second level. It takes fewer nodes than that one, and more memory.

use jlpns_games::Game;

use crate::efforts::Width;
use crate::growth::Growth;
use crate::nested::{Limits, Start, nested, part_of, widened};
use crate::search_end::{SearchEnd, Stopped};
use crate::tree::Tree;
use crate::watch::Watch;
use crate::{ChildFindings, Findings, Initialisation, Question, pns};

/// What bounds a second-level search, besides the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SecondLevel {
    /// A share of the first level's nodes (PN2).
    Nodes(Growth),
    /// As many descents as the first level has made (GPNS-PN2).
    Descents,
}

/// Grows `tree`, whose question is `question`, until it is answered, the memory of `capacity`
/// nodes is full or `watch` stops it.
pub(crate) fn search<G: Game, W: Width>(
    game: &G,
    initialisation: Initialisation,
    mut tree: Tree<'_, G, W>,
    question: Question,
    second_level: SecondLevel,
    capacity: usize,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    let (mut nodes, mut peak, mut stopped) = (1, 1, None);
    while !tree.is_solved() && stopped.is_none() {
        tree.select();
        let size = tree.live();
        let left = capacity.saturating_sub(size);
        let limits = match second_level {
            SecondLevel::Nodes(growth) => Limits {
                nodes: growth.second_level(size as u64, left as u64) as usize,
                descents: u64::MAX,
            },
            SecondLevel::Descents => Limits { nodes: left, descents: tree.descents() },
        };
        let open = tree.relevant();
        let part = part_of(question, &open);
        let position = tree.position().clone();
        let start = Start { initialisation, knowledge: tree.nested_knowledge(), question: part };
        let nested = nested(game, position, start, limits, &mut |created| {
            let now = nodes + created;
            watch.check(now, tree.expansions() > 0, &|| Findings { nodes: now, ..tree.findings() })
        });
        nodes += nested.findings.nodes;
        peak = peak.max(size + nested.peak);
        let width = tree.current_efforts().len();
        let children: Vec<ChildFindings> = nested
            .findings
            .children
            .into_iter()
            .map(|child| ChildFindings { efforts: widened(&child.efforts, &open, width), ..child })
            .collect();
        if tree.expand_with(&children) {
            tree.backup();
        } else {
            stopped = Some(Stopped::Memory);
        }
        // A second level of a node or two ends before it looks at the watch.
        let so_far = || Findings { nodes, ..tree.findings() };
        if nested.stopped || stopped.is_none() && watch.check(nodes, true, &so_far).is_break() {
            stopped = watch.stopped();
        }
    }
    pns::end(&tree, nodes, peak, stopped)
}
