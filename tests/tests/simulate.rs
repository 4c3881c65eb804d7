//! `jlpns simulate`: real searches in virtual time.

use std::time::Duration;

use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::{Running, jlpns, run};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

/// Small enough for a test, with jobs for many workers.
const SMALL: [&str; 10] = [
    "simulate",
    "connect4:4x4",
    "--rate",
    "1000000",
    "--job-nodes",
    "500",
    "--table-memory",
    "64MiB",
    "--tree-memory",
    "64MiB",
];

fn simulate(args: &[&str]) -> Value {
    let ended = run(jlpns(SMALL).args(args).args(["--output", "json"]), LIMIT);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    ended.json()
}

#[test]
fn the_output_of_two_processes_is_the_same_bit_for_bit() {
    let once = || run(jlpns(SMALL).args(["--workers", "2,9,100", "--seed", "7"]), LIMIT);
    let (first, second) = (once(), once());
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stdout.starts_with("connect4:4x4: the value is draw\n"), "{first:?}");
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn the_single_slot_comes_first_and_each_run_has_the_documented_keys() {
    let found = simulate(&["--workers", "8,3,8", "--slots-per-worker", "2"]);
    assert_eq!((&found["value"], &found["rate"]), (&"draw".into(), &1_000_000.into()));
    let runs = found["runs"].as_array().expect("a list");
    let slots: Vec<_> = runs.iter().map(|run| run["slots"].as_u64().unwrap()).collect();
    assert_eq!(slots, [1, 6, 16]);
    assert_eq!((&runs[0]["speed_up"], &runs[0]["search_overhead"]), (&1.0.into(), &0.0.into()));
    let speed_up = runs[2]["speed_up"].as_f64().expect("a number");
    assert_eq!(runs[2]["efficiency"], speed_up / 16.0);
    let mut keys: Vec<&str> = runs[0].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let documented = "cancelled coordinator_load efficiency jobs nodes search_overhead seconds \
                      slots slots_per_worker solved speed_up speed_up_spread time_split tree_nodes utilisation workers";
    assert_eq!(keys.join(" "), documented);
    let split = runs[2]["time_split"].as_object().expect("what the time went to");
    let sum: f64 = split.values().map(|share| share.as_f64().expect("a share")).sum();
    assert!(split.len() == 6 && (sum - 1.0).abs() < 0.05, "{split:?}");
}

#[test]
fn without_the_single_slot_the_runs_are_the_same_and_no_speed_up_is_told() {
    let with = simulate(&["--workers", "3"]);
    let without = simulate(&["--workers", "3", "--single-slot=false"]);
    let runs = without["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 1);
    assert_eq!((&runs[0]["slots"], &runs[0]["speed_up"]), (&3.into(), &Value::Null));
    assert_eq!((&runs[0]["time_split"], &runs[0]["search_overhead"]), (&Value::Null, &Value::Null));
    assert_eq!(runs[0]["seconds"], with["runs"][1]["seconds"]);
    let asked = simulate(&["--workers", "1,3", "--single-slot=false"]);
    assert_eq!(asked["runs"], with["runs"], "it is compared with if it is asked for");
    let args = ["--workers", "3", "--single-slot=false"];
    let text = run(jlpns(SMALL).args(args), LIMIT);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(!text.stdout.contains("of the slots' time"), "{text:?}");
}

#[test]
fn several_seeds_are_told_as_means() {
    // PDS has jobs for four workers.
    let pds = ["--sub-search", "pds", "--workers", "4"];
    let each = ["7", "8"].map(|seed| simulate(&[&pds[..], &["--seed", seed]].concat()));
    let both = simulate(&[&pds[..], &["--seed", "7", "--seeds", "2"]].concat());
    assert_eq!((&both["seed"], &both["seeds"]), (&7.into(), &2.into()));
    let seconds = |found: &Value| found["runs"][1]["seconds"].as_f64().expect("seconds");
    let mean = (seconds(&each[0]) + seconds(&each[1])) / 2.0;
    assert!((seconds(&both) - mean).abs() < 1e-9, "{both}");
    assert!(both["runs"][1]["speed_up_spread"].as_f64() > Some(0.0), "{both}");
    assert_eq!(each[0]["runs"][1]["speed_up_spread"], Value::Null);
}

#[test]
fn one_virtual_slot_does_the_very_jobs_of_a_real_one() {
    // The default has turns enough here, of alpha-beta and of PDS.
    let of_5x5 = ["connect4:5x5", "--job-nodes", "30", "--output", "json"];
    for searches in [&[][..], &["--sub-search", "pds"], &["--beside", "dfpn"]] {
        let real = ["solve", "--slots", "1", "--memory", "128MiB"];
        let real = run(jlpns(real).args(of_5x5).args(searches), LIMIT).json();
        // In one process there is no way, and no lease ahead.
        let memory = ["--table-memory", "64MiB", "--tree-memory", "64MiB"];
        let virtually = ["simulate", "--rate", "1000000", "--workers", "1", "--latency", "0ms"];
        let ended = run(jlpns(virtually).args(memory).args(of_5x5).args(searches), LIMIT);
        let single = &ended.json()["runs"][0];
        for (ours, theirs) in [("jobs", "jobs"), ("nodes", "nodes"), ("tree_nodes", "peak_nodes")] {
            assert_eq!(single[ours], real[theirs], "{searches:?}, {ours}: {single} and {real}");
        }
        assert!(single["jobs"].as_u64() > Some(150), "{searches:?}: {single}");
    }
}

#[test]
fn without_a_rate_it_is_measured_and_said() {
    let args = ["simulate", "connect4:3x4", "--workers", "2"];
    let ended = run(&mut jlpns(args), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("repeat with --rate "), "{}", ended.stderr);
    assert!(ended.stdout.contains(" with --rate "), "{}", ended.stdout);
}

#[test]
fn a_plot_is_an_svg_file() {
    let path = std::env::temp_dir().join(format!("jlpns-plot-{}.svg", std::process::id()));
    simulate(&["--workers", "4", "--plot", path.to_str().expect("a readable path")]);
    let svg = std::fs::read_to_string(&path).expect("a file");
    std::fs::remove_file(&path).expect("a file");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("ideal") && svg.contains("connect4:4x4"), "{svg}");
}

#[test]
fn a_limit_of_virtual_time_leaves_gaps_in_the_table() {
    let args = ["simulate", "connect4:7x6", "--rate", "1000000", "--workers", "1,4"];
    let ended = run(jlpns(args).args(["--max-time", "0.1s"]), LIMIT);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stdout.contains("connect4:7x6: unsolved"), "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("0.100 (given up)").count(), 2, "{}", ended.stdout);
}

#[test]
fn a_signal_ends_it_with_the_runs_that_are_finished() {
    let args = ["simulate", "connect4:7x6", "--rate", "500000", "--max-time", "1s"];
    let simulation = Running::start(jlpns(args).args(["--workers", "1024", "--output", "json"]));
    simulation.wait_for(LIMIT, |line| line.contains("1 slot: given up after 1.000").then_some(()));
    assert!(send(simulation.id(), Signal::INT));
    let ended = simulation.end(LIMIT);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let found = ended.json();
    let runs = found["runs"].as_array().expect("a list");
    assert_eq!((runs.len(), &runs[0]["slots"]), (1, &1.into()), "{found}");
}

#[test]
fn a_plan_says_what_machines_bring_and_what_limits_them() {
    let plan = |machines: &str| {
        let small = [&["plan"], &SMALL[1..]].concat();
        jlpns(small.into_iter().chain(["--machines", machines]).collect::<Vec<&str>>())
    };
    let ended = run(plan("6x2").args(["--output", "json"]), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let found = ended.json();
    assert_eq!(found["value"], "draw");
    let steps = found["machines"].as_array().expect("a list");
    let number = |step: &Value, field: &str| step[field].as_f64().expect("a number");
    let machines: Vec<f64> = steps.iter().map(|step| number(step, "machines")).collect();
    assert_eq!(machines, [1.0, 2.0, 4.0, 6.0]);
    assert_eq!((number(&steps[3], "slots"), number(&steps[0], "speed_up")), (12.0, 1.0));
    for step in steps {
        let useful = 1.0 - number(step, "idle") - number(step, "in_vain");
        assert!((0.0..=1.0).contains(&useful), "{step}");
    }
    // So small a board is no work for so many machines.
    let worthwhile = found["worthwhile_machines"].as_u64().expect("a number");
    assert!(worthwhile < 6, "{found}");
    assert!(["idle", "in-vain"].map(Value::from).contains(&found["limit"]), "{found}");
    // The same numbers as of the simulation itself.
    let simulated = simulate(&["--workers", "6", "--slots-per-worker", "2"]);
    assert_eq!(simulated["runs"][1]["seconds"], steps[3]["seconds"]);
    let text = run(&mut plan("6x2"), LIMIT).stdout;
    for words in ["6 machines take ", "what limits them is ", "times one machine"] {
        assert!(text.contains(words), "{text}");
    }
    let bad = run(&mut plan("6x"), LIMIT);
    assert_eq!(bad.code, Some(2), "{bad:?}");
    assert!(bad.stderr.contains("such as 30x16"), "{bad:?}");
}
