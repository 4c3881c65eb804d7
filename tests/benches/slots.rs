//! PN2 on Connect Four 5x5, in whole processes: `jlpns search` alone, and `jlpns solve` with one
//! slot and with two. Then clusters of real processes: a coordinator with one worker of one slot and
//! with two, and the bytes that each worker sends and receives. They take turns, so that a machine that changes
//! its speed changes it for all; the ratios are of runs that stand side by side.
//!
//! Named searches begin with unit initialisation and the jobs of a solve with mobility. Search is
//! run with both, so that what the second slot is worth is not mixed up with what mobility is.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jlpns_tests::cluster::serve;
use jlpns_tests::faults::proxy::Proxy;
use jlpns_tests::{Running, jlpns, jlpns_worker, run};
use serde_json::Value;

const ROUNDS: usize = 5;
const LIMIT: Duration = Duration::from_secs(300);

/// What is compared; the last one is what the others are held against.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("search", &["search", SPEC, "--algorithm", "pn2"]),
    ("search, mobility", &["search", SPEC, "--algorithm", "pn2", "--init", "mobility"]),
    ("solve, one slot", &["solve", SPEC, "--sub-search", "pn2", "--slots", "1"]),
    ("solve, two slots", &["solve", SPEC, "--sub-search", "pn2", "--slots", "2"]),
];
const SPEC: &str = "connect4:5x5";

/// What clusters solve: some seconds of one core.
const CLUSTER_SPECS: [&str; 2] = ["connect4:7x6", "connect4:8x5"];
const CLUSTER_ROUNDS: usize = 3;

/// Runs a command; its wall time in seconds and its result.
fn timed(args: &[&str]) -> (f64, Value) {
    // Making the command builds the binaries, the first time.
    let mut command = jlpns(args.iter().copied().chain(["--output", "json"]));
    let began = Instant::now();
    let ended = run(&mut command, LIMIT);
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    (seconds, ended.json())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What a cluster took: its seconds from the first job on, and for each worker the bytes that it sent and received in
/// a second of them.
struct Clustered {
    seconds: f64,
    bytes_a_second: Vec<(f64, f64)>,
}

/// Solves with so many workers of one slot, each with a table of its own; none searches again what another one has said.
fn clustered(spec: &str, workers: usize) -> Clustered {
    let (coordinator, url) =
        serve(&[spec, "--confirm", "none", "--await-workers", &workers.to_string()]);
    let address = url.trim_start_matches("http://").parse().expect("where it listens");
    let place = Arc::new(Mutex::new(Some(address)));
    let proxies: Vec<Proxy> = (0..workers).map(|_| Proxy::start(place.clone())).collect();
    let start = |(number, proxy): (usize, &Proxy)| {
        let (url, name) = (format!("http://{}", proxy.address()), format!("worker-{number}"));
        let args = ["--coordinator", &url, "--name", &name, "--slots", "1", "--memory", "1GiB"];
        Running::start(&mut jlpns_worker(args))
    };
    let running: Vec<Running> = proxies.iter().enumerate().map(start).collect();
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{spec}: {ended:?}");
    for worker in running {
        worker.end(LIMIT);
    }
    let seconds = ended.json()["seconds"].as_f64().expect("seconds");
    let a_second = |proxy: &Proxy| {
        let counts = proxy.counts();
        let bytes =
            [&counts.bytes_there, &counts.bytes_back].map(|way| way.load(Ordering::Relaxed));
        (bytes[0] as f64 / seconds, bytes[1] as f64 / seconds)
    };
    Clustered { seconds, bytes_a_second: proxies.iter().map(a_second).collect() }
}

fn clusters(spec: &str) {
    println!("{spec}, workers of one slot");
    let mut ratios = Vec::new();
    for round in 1..=CLUSTER_ROUNDS {
        let [one, two] = [1, 2].map(|workers| clustered(spec, workers));
        ratios.push(one.seconds / two.seconds);
        let bytes: Vec<String> = one
            .bytes_a_second
            .iter()
            .chain(&two.bytes_a_second)
            .map(|(sent, received)| format!("{:.1} / {:.1}", sent / 1e3, received / 1e3))
            .collect();
        println!(
            "  round {round}: one {:.2} s, two {:.2} s, {:.2} times; kB a second sent / received: {}",
            one.seconds,
            two.seconds,
            one.seconds / two.seconds,
            bytes.join(", "),
        );
    }
    println!("  median: {:.2} times", median(ratios));
}

fn main() {
    CLUSTER_SPECS.iter().for_each(|spec| clusters(spec));
    let mut seconds = COMMANDS.map(|_| Vec::new());
    let mut overheads = COMMANDS.map(|_| Vec::new());
    for round in 1..=ROUNDS {
        println!("round {round}");
        for (index, (name, args)) in COMMANDS.iter().enumerate() {
            let (time, result) = timed(args);
            let overhead = result["overhead"].as_f64();
            let told = overhead.map_or(String::new(), |o| format!(", overhead {:.2} %", o * 100.0));
            println!("  {name}: {time:.2} s, {} nodes{told}", result["nodes"]);
            seconds[index].push(time);
            overheads[index].extend(overhead);
        }
    }
    println!("medians of {ROUNDS} rounds");
    let [.., two_slots] = &seconds;
    for (index, (name, _)) in COMMANDS.iter().enumerate() {
        let ratios: Vec<f64> = seconds[index].iter().zip(two_slots).map(|(s, t)| s / t).collect();
        let pairs: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
        println!(
            "  {name}: {:.2} s, {:.2} times two slots' (round by round: {})",
            median(seconds[index].clone()),
            median(ratios),
            pairs.join(" "),
        );
        if !overheads[index].is_empty() {
            println!("    overhead {:.2} %", 100.0 * median(overheads[index].clone()));
        }
    }
}
