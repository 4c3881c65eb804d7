//! PNS and GPNS as they are: the whole tree or graph in memory, one expansion a descent (PNS:
//! PDS-PN paper, section 3.1; GPNS: GPNS paper, section 4). The algorithms are those of [`Tree`]
//! and [`Graph`]; here is the loop.

use jlpns_games::Game;

use crate::Findings;
use crate::efforts::Width;
use crate::graph::Graph;
use crate::search_end::{SearchEnd, Statistics, Stopped};
use crate::tree::Tree;
use crate::watch::Watch;

/// What a best-first search grows.
pub(crate) trait Growing {
    /// One descent: selects a most-proving node, expands it and updates its ancestors. `false` if
    /// there is no room.
    fn grow(&mut self) -> bool;
    fn is_solved(&self) -> bool;
    fn findings(&self) -> Findings;
    /// Nodes created.
    fn created(&self) -> u64;
    fn descents(&self) -> u64;
    fn expansions(&self) -> u64;
    fn peak(&self) -> usize;
}

/// The methods that both have by the same name.
macro_rules! growing {
    ($grow:item) => {
        $grow
        fn is_solved(&self) -> bool {
            self.is_solved()
        }
        fn findings(&self) -> Findings {
            self.findings()
        }
        fn created(&self) -> u64 {
            self.created()
        }
        fn descents(&self) -> u64 {
            self.descents()
        }
        fn expansions(&self) -> u64 {
            self.expansions()
        }
        fn peak(&self) -> usize {
            self.peak()
        }
    };
}

impl<G: Game, W: Width> Growing for Tree<'_, G, W> {
    growing! {
        fn grow(&mut self) -> bool {
            self.select();
            let expanded = self.expand();
            if expanded {
                self.backup();
            }
            expanded
        }
    }
}

impl<G: Game, W: Width> Growing for Graph<G, W> {
    growing! {
        fn grow(&mut self) -> bool {
            self.select().is_some() && self.expand()
        }
    }
}

/// Grows `nodes` until the question is answered, the memory is full or `watch` stops it.
pub(crate) fn search(mut nodes: impl Growing, watch: &mut Watch<'_>) -> SearchEnd {
    let mut full = false;
    while !nodes.is_solved() && !full {
        if nodes.created() >= watch.due() {
            let progress = nodes.expansions() > 0;
            if watch.check(nodes.created(), progress, &|| nodes.findings()).is_break() {
                break;
            }
        }
        full = !nodes.grow();
    }
    let stopped = watch.stopped().or(full.then_some(Stopped::Memory));
    end(&nodes, nodes.created(), nodes.peak(), stopped)
}

/// The end of a search on `nodes`, after it created so many of them on all of its levels.
pub(crate) fn end(
    nodes: &impl Growing,
    created: u64,
    peak: usize,
    stopped: Option<Stopped>,
) -> SearchEnd {
    SearchEnd {
        findings: Findings { nodes: created, ..nodes.findings() },
        stopped: stopped.filter(|_| !nodes.is_solved()),
        statistics: Statistics {
            descents: nodes.descents(),
            nodes: created,
            peak_nodes: peak as u64,
        },
    }
}
