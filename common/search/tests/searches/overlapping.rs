//! What PDS makes of the effort numbers of children that all have to be met: their sum, as in its paper; with the
//! game's knowledge less, because brothers have positions in common.

use std::ops::ControlFlow;

use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Threshold};
use jlpns_search::search::{Observer, SearchSettings, search};
use jlpns_search::{Algorithm, EffortPair, Findings, Question, TranspositionTable};

/// What a search has told on its way.
#[derive(Default)]
struct OnTheWay(Vec<Findings>);

impl Observer for OnTheWay {
    fn observe(&mut self, _nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        self.0.push(findings());
        ControlFlow::Continue(())
    }
}

/// The disproof number of a position, and those of its children.
type DisproofNumbers = (u64, Vec<u64>);

/// Those of the empty 6x5 board after so many nodes, and on the way there.
fn disproof_numbers(algorithm: Algorithm, knowledge: bool, nodes: u64) -> Vec<DisproofNumbers> {
    let game = Connect4::<u64>::new(6, 5).expect("a board");
    let question = Question::Threshold(Threshold(2));
    let settings = SearchSettings {
        algorithm,
        knowledge,
        max_nodes: Some(nodes),
        ..SearchSettings::default()
    };
    let table = TranspositionTable::with_bytes(8 << 20).expect("a table");
    let mut told = OnTheWay::default();
    let end = search(&game, &mut game.start(), question, &settings, &table, &mut told);
    told.0.push(end.findings);
    let disproof = |efforts: &[EffortPair]| u64::from(efforts[0].disproof.to_bits());
    let of_children = |found: &Findings| {
        found.children.iter().map(|child| disproof(&child.efforts)).collect::<Vec<_>>()
    };
    told.0.iter().map(|found| (disproof(&found.efforts), of_children(found))).collect()
}

#[test]
fn without_knowledge_it_is_the_sum() {
    for nodes in [10, 1_000, 20_000] {
        for (disproof, children) in disproof_numbers(Algorithm::Pds, false, nodes) {
            assert_eq!(disproof, children.iter().sum(), "{children:?}");
        }
    }
}

#[test]
fn with_knowledge_all_but_the_largest_count_by_half() {
    let told = disproof_numbers(Algorithm::Pds, true, 20_000);
    assert!(told.len() > 2, "it tells on the way, too");
    for (disproof, children) in &told {
        let largest = children.iter().max().expect("it has children");
        let rest = children.iter().sum::<u64>() - largest;
        let open = children.iter().filter(|&&number| number > 0).count() as u64;
        assert_eq!(*disproof, largest + (rest / 2).max(open - 1), "{children:?}");
    }
    // Small numbers are as good as the sum; these are not small.
    let (disproof, children) = told.last().expect("it tells at the end");
    assert!(*disproof < children.iter().sum(), "{children:?}");
}

#[test]
fn dfpn_adds_them_up_with_knowledge_too() {
    for (disproof, children) in disproof_numbers(Algorithm::DfPn, true, 20_000) {
        assert_eq!(disproof, children.iter().sum(), "{children:?}");
    }
}
