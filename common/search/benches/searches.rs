//! Nodes created a second by the searches that jobs run, on one core, as `search` runs them: with
//! their table, which is empty at the beginning, their limits and their observer.
//!
//! These are rates of nodes, not of solving: a depth-first search creates some positions many
//! times over, and another needs more nodes for the same answer.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput};
use jlpns_games::connect4::Connect4;
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Game, Threshold};
use jlpns_search::search::{SearchSettings, Stopped, search};
use jlpns_search::{Algorithm, Initialisation, Question, TranspositionTable};

/// How many nodes one search creates.
const NODES: u64 = 500_000;
/// How much memory a search has, in bytes.
const MEMORY: u64 = 64 << 20;

const ALGORITHMS: [Algorithm; 7] = [
    Algorithm::Pns,
    Algorithm::Pn2,
    Algorithm::Gpns2,
    Algorithm::Pds,
    Algorithm::PdsPn,
    Algorithm::DfPn,
    Algorithm::AlphaBeta,
];

/// One search that is stopped by its limit; the nodes that it created.
fn stopped_search<G: Game>(
    game: &G,
    question: Question,
    settings: &SearchSettings,
    table: &TranspositionTable,
) -> u64 {
    let end = search(game, &mut game.start(), question, settings, table, &mut ());
    assert_eq!(end.stopped, Some(Stopped::MaxNodes), "{:?} is long enough", settings.algorithm);
    end.statistics.nodes
}

fn bench_game<G: Game>(criterion: &mut Criterion, name: &str, game: &G) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for algorithm in ALGORITHMS {
        let settings = SearchSettings {
            algorithm,
            initialisation: Initialisation::Mobility,
            max_nodes: Some(NODES),
            memory: MEMORY,
            ..SearchSettings::default()
        };
        let question = match algorithm {
            algorithm if algorithm.answers_all() => Question::Value(game.scale().bounds()),
            _ => Question::Threshold(Threshold(1)),
        };
        let empty = || {
            TranspositionTable::with_bytes(settings.table_bytes())
                .expect("memory for a small table")
        };
        let nodes = stopped_search(game, question, &settings, &empty());
        group.throughput(Throughput::Elements(nodes));
        group.bench_function(algorithm.name(), |bencher| {
            let run = |table: &mut _| black_box(stopped_search(game, question, &settings, table));
            bencher.iter_batched_ref(empty, run, BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let connect4 = Connect4::<u64>::new(7, 6).expect("a size that fits 64 bits");
    bench_game(&mut criterion, "connect4:7x6", &connect4);
    let woodpush = Woodpush::standard(14).expect("a length in range");
    bench_game(&mut criterion, "woodpush:14", &woodpush);
    criterion.final_summary();
}
