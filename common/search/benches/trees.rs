//! Nodes created a second by PNS and GPNS, on trees and graphs, on one core; and the bytes that a
//! node takes.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jlpns_games::connect4::Connect4;
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Game, Threshold};
use jlpns_search::efforts::{One, Several, Width};
use jlpns_search::graph::{Graph, GraphSettings, Selection};
use jlpns_search::tree::Tree;
use jlpns_search::{Initialisation, Question};

/// How many nodes one round creates, if the search does not end before.
const NODES: u64 = 2_000_000;

fn grow_tree<G: Game, W: Width>(game: &G, question: Question, width: W) -> u64 {
    let capacity = usize::MAX;
    let start = game.start();
    let mut tree = Tree::new(game, start, question, width, Initialisation::Unit, capacity);
    while !tree.is_solved() && tree.created() < NODES {
        tree.select();
        tree.expand();
        tree.backup();
    }
    tree.created()
}

fn grow_graph<G: Game, W: Width>(game: &G, question: Question, width: W) -> (u64, u64) {
    let settings = GraphSettings {
        initialisation: Initialisation::Unit,
        merge: true,
        selection: Selection::Locking,
        memory: u64::MAX,
        knowledge: false,
        ranked: false,
    };
    let mut graph = Graph::new(game.clone(), game.start(), question, width, settings);
    while graph.created() < NODES / 4 && graph.select().is_some() {
        graph.expand();
    }
    (graph.created(), graph.bytes() / graph.peak() as u64)
}

fn bench_game<G: Game>(c: &mut Criterion, name: &str, game: &G) {
    let goal = Question::Threshold(Threshold(1));
    let value = Question::Value(game.scale().bounds());
    let count = value.thresholds().1;
    println!(
        "{name}: a tree node has {} bytes for one threshold and {} for {count}; a graph node with \
         its edges and its place in the index {} and {}",
        Tree::<G, One>::node_bytes(1),
        Tree::<G, Several>::node_bytes(count),
        grow_graph(game, goal, One).1,
        grow_graph(game, value, Several(count)).1,
    );
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    group.throughput(Throughput::Elements(grow_tree(game, goal, One)));
    group.bench_function("pns tree", |b| b.iter(|| black_box(grow_tree(game, goal, One))));
    group.throughput(Throughput::Elements(grow_tree(game, value, Several(count))));
    group.bench_function("gpns tree", |b| {
        b.iter(|| black_box(grow_tree(game, value, Several(count))));
    });
    group.throughput(Throughput::Elements(grow_graph(game, goal, One).0));
    group.bench_function("pns graph", |b| b.iter(|| black_box(grow_graph(game, goal, One))));
    group.throughput(Throughput::Elements(grow_graph(game, value, Several(count)).0));
    group.bench_function("gpns graph", |b| {
        b.iter(|| black_box(grow_graph(game, value, Several(count))));
    });
    group.finish();
}

fn trees(c: &mut Criterion) {
    for (width, height) in [(6, 5), (7, 6)] {
        let game = Connect4::<u64>::new(width, height).expect("a size that fits 64 bits");
        bench_game(c, &format!("connect4:{width}x{height}"), &game);
    }
    bench_game(c, "woodpush:12", &Woodpush::standard(12).expect("a length in range"));
}

criterion_group!(benches, trees);
criterion_main!(benches);
