//! Many positions in the place of a search graph: each is a frontier node, and all of them together are the tree.

use jlpns_games::{Move, Threshold};
use jlpns_search::answer::Proved;
use jlpns_search::graph::{NodeId, PartialDump, Subtree};
use jlpns_search::{EffortPair, Findings, Question, SolvedPosition};

use super::{Position, Positions, State, Turn};
use crate::belief::{Basis, Claims, Confirm};
use crate::top_level::{MostProving, NodeRef, TopLevel, TreeSize, Whole};

/// A search that has spent less than so small a part of the whole budget was broken off, as its worker paused or was cut off:
/// after two losses a budget is a 64th of what it was, and after three the position is given up.
const BROKEN_OFF_BELOW: u64 = 64;
/// After so many reports the next one without an answer counts, however small it is.
const MOST_BROKEN_OFF: u64 = 8;

impl TopLevel for Positions {
    fn root_efforts(&self) -> &[EffortPair] {
        &self.open
    }

    fn most_proving_move(&self) -> Option<Move> {
        None
    }

    fn best_move(&self, _: Proved) -> Option<Move> {
        None
    }

    fn efforts_after(&self, _: &[Move]) -> Option<&[EffortPair]> {
        None
    }

    fn size(&self) -> TreeSize {
        let live = self.by_key.len();
        let bytes = (live * (size_of::<Position>() + 2 * size_of::<Turn>())) as u64;
        TreeSize {
            live,
            peak: self.all.len(),
            created: self.all.len() as u64,
            bytes,
            ..TreeSize::default()
        }
    }

    fn select(&mut self) -> Option<MostProving> {
        let &(_, _, index) = self.waiting.first()?;
        let position = &self.all[index as usize];
        Some(MostProving {
            node: NodeRef { id: NodeId(index), key: position.key },
            moves: position.moves.clone(),
            threshold: self.question.thresholds().0,
            whole: Some(Whole { question: self.question, budget: position.budget }),
        })
    }

    fn select_depth_first(
        &mut self,
        _: Option<&Subtree>,
        _: &[&Subtree],
    ) -> Option<(MostProving, Option<Subtree>)> {
        Some((self.select()?, None))
    }

    fn lease(&mut self, node: NodeRef) {
        self.set(node, State::Out);
    }

    fn give_back(&mut self, node: NodeRef) {
        if self.at(node).is_some_and(|position| position.state == State::Out) {
            self.set(node, State::Waiting);
        }
    }

    fn is_open(&self, node: NodeRef) -> bool {
        let state = self.at(node).map(|position| position.state);
        matches!(state, Some(State::Waiting | State::Out))
    }

    fn locate(&self, moves: &[Move]) -> Option<NodeRef> {
        let key = self.key_after(moves)?;
        let &index = self.by_key.get(&key)?;
        Some(NodeRef { id: NodeId(index), key })
    }

    fn is_way(&self, moves: &[Move]) -> bool {
        self.locate(moves).is_some()
    }

    fn child_keys(&self, _: NodeRef) -> Vec<u128> {
        Vec::new()
    }

    fn begin_dump(&self) -> PartialDump {
        self.root.begin_dump()
    }

    fn dump_slice(&self, dump: &mut PartialDump, places: usize) -> bool {
        self.root.dump_slice(dump, places)
    }

    fn refresh(&mut self, _: NodeRef, _: Question, _: &Findings) {}

    /// A report about a position that is asked for. One about a single threshold is a recheck of a claim.
    fn fold(
        &mut self,
        node: NodeRef,
        moves: &[Move],
        question: Question,
        findings: &Findings,
    ) -> bool {
        if question != self.question || !self.is_open(node) {
            return true;
        }
        let position = &mut self.all[node.id.0 as usize];
        if position.moves == moves {
            position.children.clone_from(&findings.children);
        }
        if !question.is_answered(&findings.efforts) {
            let is_broken_off = (1..position.budget / BROKEN_OFF_BELOW).contains(&findings.nodes);
            let state = if is_broken_off && position.jobs <= MOST_BROKEN_OFF {
                State::Waiting
            } else {
                State::GivenUp
            };
            self.set(node, state);
        }
        true
    }

    fn note_held_beside(&mut self, _: u64) {}

    fn tidy(&mut self) -> bool {
        false
    }

    fn is_untidy(&self) -> bool {
        false
    }

    fn take_moot(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.moot)
    }

    fn regrow(&mut self, claims: &Claims, needs: Confirm) {
        for index in 0..self.all.len() as u32 {
            match self.all[index as usize].state {
                // All leases were called off, and nothing is to be recorded any more that they are about.
                State::Out => {}
                State::Answered => {
                    let basis = self.basis_of(index, claims);
                    if basis.bounds_are_all {
                        // Who has confirmed it may be out, and then it is to be confirmed again.
                        if needs.is_of_the_answer() && !basis.open.is_empty() {
                            self.withdraw(index);
                        }
                        continue;
                    }
                }
                State::Waiting | State::GivenUp | State::Dropped => continue,
            }
            self.all[index as usize].state = State::Waiting;
            self.withdraw(index);
            self.wait_if_waiting(index);
        }
    }

    fn completed(
        &self,
        _: &Claims,
        _: bool,
        _: &[Move],
        _: Question,
        findings: &Findings,
    ) -> Findings {
        findings.clone()
    }

    fn basis(&self, _: &Claims, _: &[(Threshold, bool)], _: Confirm) -> Basis {
        Basis::default()
    }

    fn proof_tree(&self, _: &Claims, _: &[(Threshold, bool)], _: Confirm) -> Vec<SolvedPosition> {
        Vec::new()
    }

    fn positions(&mut self) -> Option<&mut Positions> {
        Some(self)
    }
}
