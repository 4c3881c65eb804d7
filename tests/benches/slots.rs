//! PN2 on Connect Four 5x5, in whole processes: `jlpns search` alone, and `jlpns solve` with one
//! slot and with two. They take turns, so that a machine that changes its speed changes it for
//! all; the ratios are of runs that stand side by side.
//!
//! Named searches begin with unit initialisation and the jobs of a solve with mobility. Search is
//! run with both, so that what the second slot is worth is not mixed up with what mobility is.

use std::time::{Duration, Instant};

use jlpns_tests::{jlpns, run};
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

fn main() {
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
