//! Strongly connected components of a graph that is given by a function: the sets of boards that
//! can lead to each other.

/// The components of the part of a graph that was walked, those without a way out first: each
/// comes after all those that can be reached from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    /// All nodes, component by component.
    nodes: Vec<u32>,
    /// Where in `nodes` each component ends.
    ends: Vec<u32>,
}

/// A node that is being visited, and its successors in the list that all of them share.
struct Visit {
    node: u32,
    next: usize,
    end: usize,
}

impl Components {
    /// Walks from each of `roots` through the nodes `0..count`. `successors` appends to a list
    /// what a node leads to. (Tarjan's algorithm, with a stack of its own.)
    pub fn new(
        count: usize,
        roots: impl IntoIterator<Item = u32>,
        mut successors: impl FnMut(u32, &mut Vec<u32>),
    ) -> Components {
        const DONE: u32 = u32::MAX;
        let mut found = Components::default();
        // 0: not met; DONE: its component is known; else the time it was met, or the earliest time
        // that is known to be reachable from it.
        let mut low = vec![0u32; count];
        let mut time = 0;
        let (mut open, mut list, mut visits) = (Vec::new(), Vec::new(), Vec::<Visit>::new());
        let mut met = Vec::new();
        for root in roots {
            let mut entered = (low[root as usize] == 0).then_some(root);
            loop {
                if let Some(node) = entered.take() {
                    time += 1;
                    low[node as usize] = time;
                    met.push(time);
                    open.push(node);
                    let next = list.len();
                    successors(node, &mut list);
                    visits.push(Visit { node, next, end: list.len() });
                }
                let Some(visit) = visits.last_mut() else { break };
                let node = visit.node as usize;
                if visit.next < visit.end {
                    let successor = list[visit.next];
                    visit.next += 1;
                    match low[successor as usize] {
                        0 => entered = Some(successor),
                        DONE => {}
                        other => low[node] = low[node].min(other),
                    }
                    continue;
                }
                let reached = low[node];
                if met.pop() == Some(reached) {
                    while let Some(member) = open.pop() {
                        low[member as usize] = DONE;
                        found.nodes.push(member);
                        if member as usize == node {
                            break;
                        }
                    }
                    found.ends.push(found.nodes.len() as u32);
                }
                visits.pop();
                if let Some(parent) = visits.last() {
                    list.truncate(parent.end);
                    let parent = parent.node as usize;
                    if low[node] != DONE {
                        low[parent] = low[parent].min(reached);
                    }
                }
            }
        }
        found
    }

    /// The nodes of each component.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.nodes[begin as usize..end as usize])
    }
}

/// Which nodes of a small graph can be reached from which, in one step or more.
pub(super) struct Reach {
    words: usize,
    /// A row of bits for each node.
    bits: Vec<u64>,
}

impl Reach {
    /// The graph has the nodes `0..successors.len()`.
    pub fn new(successors: &[Vec<u32>]) -> Reach {
        let count = successors.len();
        let words = count.div_ceil(64);
        let mut reach = Reach { words, bits: vec![0; words * count] };
        let components = Components::new(count, 0..count as u32, |node, list| {
            list.extend_from_slice(&successors[node as usize]);
        });
        let mut row = vec![0; words];
        for component in components.iter() {
            row.fill(0);
            for &node in component {
                for &next in &successors[node as usize] {
                    row[next as usize / 64] |= 1 << (next % 64);
                    // Rows of other nodes of this component are still empty.
                    let begin = next as usize * words;
                    let of_next = &reach.bits[begin..begin + words];
                    row.iter_mut().zip(of_next).for_each(|(word, other)| *word |= other);
                }
            }
            for &node in component {
                let begin = node as usize * words;
                reach.bits[begin..begin + words].copy_from_slice(&row);
            }
        }
        reach
    }

    /// Whether some way of at least one step leads there.
    pub fn leads(&self, from: u32, to: u32) -> bool {
        self.bits[from as usize * self.words + to as usize / 64] >> (to % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn components_and_reach_are_those_of_all_ways(
            edges in prop::collection::vec((0u32..12, 0u32..12), 0..30)) {
            let mut successors = vec![Vec::new(); 12];
            let mut leads = [[false; 12]; 12];
            for &(from, to) in &edges {
                successors[from as usize].push(to);
                leads[from as usize][to as usize] = true;
            }
            for through in 0..12 {
                for from in 0..12 {
                    for to in 0..12 {
                        leads[from][to] |= leads[from][through] && leads[through][to];
                    }
                }
            }
            // The same nodes far apart: their bits are in several words.
            let mut apart = vec![Vec::new(); 12 * 17];
            for &(from, to) in &edges {
                apart[from as usize * 17].push(to * 17);
            }
            let reach = Reach::new(&apart);
            let components = Components::new(12, 0..12, |node, list| {
                list.extend_from_slice(&successors[node as usize]);
            });
            let mut of = [usize::MAX; 12];
            for (number, component) in components.iter().enumerate() {
                component.iter().for_each(|&node| of[node as usize] = number);
            }
            for from in 0..12 {
                for to in 0..12 {
                    let leads_apart = reach.leads(from as u32 * 17, to as u32 * 17);
                    prop_assert_eq!(leads_apart, leads[from][to]);
                    let together = from == to || leads[from][to] && leads[to][from];
                    prop_assert_eq!(of[from] == of[to], together);
                    prop_assert!(!leads[from][to] || of[from] >= of[to]);
                }
            }
        }
    }
}
