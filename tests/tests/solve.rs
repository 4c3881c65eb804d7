//! `jlpns solve`: coordinator and worker in one process.

use std::time::Duration;

use jlpns_tests::{jlpns, run};

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn every_sub_search_finds_the_value() {
    for name in ["pn2", "gpns2", "gpns-pn2", "pds-pn", "pns", "gpns", "dfpn", "pds", "alpha-beta"] {
        for (spec, value) in [("connect4:4x4", "draw"), ("woodpush:8", "-1")] {
            let args = ["solve", spec, "--sub-search", name, "--slots", "2", "--output", "json"];
            let ended = run(&mut jlpns(args), LIMIT);
            assert_eq!(ended.code, Some(0), "{name} on {spec}: {ended:?}");
            let found = ended.json();
            assert_eq!(found["value"], value, "{name} on {spec}: {found}");
            assert_eq!((&found["lower"], &found["upper"]), (&found["value"], &found["value"]));
            assert_eq!(found["proved"], true);
        }
    }
}

#[test]
fn two_sub_searches_beside_each_other_find_the_value_the_same_way_each_time() {
    let solve = |first: &str, second: &str, spec: &str, slots: &str| {
        let args = ["solve", spec, "--sub-search", first, "--beside", second, "--slots", slots];
        let ended = run(jlpns(args).args(["--job-nodes", "200", "--output", "json"]), LIMIT);
        assert_eq!(ended.code, Some(0), "{first} and {second} on {spec}: {ended:?}");
        let mut found = ended.json();
        assert_eq!(found["sub_search"], format!("{first} and {second}"));
        found.as_object_mut().expect("an object").retain(|key, _| {
            ["value", "line", "nodes", "jobs", "peak_nodes", "claims"].contains(&key.as_str())
        });
        found
    };
    let of_two = [("pds", "alpha-beta"), ("alpha-beta", "dfpn"), ("pn2", "pds"), ("gpns2", "pds")];
    for (first, second) in of_two {
        for (spec, value) in [("connect4:5x4", "draw"), ("woodpush:8", "-1")] {
            let once = solve(first, second, spec, "1");
            assert_eq!(once["value"], value, "{first} and {second} on {spec}");
            assert_eq!(once, solve(first, second, spec, "1"), "one slot does the same jobs");
            assert_eq!(solve(first, second, spec, "3")["value"], value);
        }
    }
}

/// The tree goes on where the last job of alpha-beta ended, so all of them together are one search over all. Without
/// that they would create twice as many nodes on this board.
#[test]
fn jobs_of_alpha_beta_create_about_as_many_nodes_as_one_search() {
    let nodes = |args: &[&str]| {
        let ended = run(jlpns(args).args(["connect4:7x5", "--goal", ">=win"]), LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.json()["nodes"].as_u64().expect("a number")
    };
    let search = nodes(&["search", "--algorithm", "alpha-beta", "--output", "json"]);
    let jobs = ["solve", "--sub-search", "alpha-beta", "--slots", "1", "--output", "json"];
    let solve = nodes(&[&jobs[..], &["--job-nodes", "5000"]].concat());
    assert!(solve * 2 < search * 3, "{solve} nodes by jobs, {search} by one search");
}

/// Alpha-beta alone creates 81 million nodes on the first board, and PDS alone expands 10.7 million on the second.
#[test]
fn what_is_run_by_itself_does_without_most_work_of_the_worse_search() {
    for (spec, value, most) in
        [("connect4:6x8", "loss", 20_000_000), ("connect4:7x5", "draw", 9_000_000)]
    {
        let ended = run(&mut jlpns(["solve", spec, "--slots", "1", "--output", "json"]), LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let found = ended.json();
        assert_eq!(found["value"], value, "{spec}");
        let nodes = found["nodes"].as_u64().expect("a number");
        assert!(nodes < most, "{spec}: {nodes}");
    }
}

#[test]
fn every_selection_and_store_finds_the_value() {
    for selection in ["locking", "virtual-win", "virtual-loss"] {
        for store in ["tree", "graph"] {
            let args = ["solve", "connect4:4x4", "--slots", "3", "--job-nodes", "300"];
            let ended = run(
                jlpns(args).args(["--selection", selection, "--store", store, "--output", "json"]),
                LIMIT,
            );
            assert_eq!(ended.code, Some(0), "{selection} on a {store}: {ended:?}");
            assert_eq!(ended.json()["value"], "draw", "{selection} on a {store}");
        }
    }
}

#[test]
fn a_tree_that_does_not_fit_sheds_nodes_and_says_so_and_the_value_is_right() {
    let args = ["solve", "connect4:5x5", "--memory", "1MiB", "--job-nodes", "1000"];
    let more = ["--knowledge", "false", "--slots", "2", "--output", "json"];
    let ended = run(jlpns(args).args(more), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["value"], "draw");
    assert!(ended.stderr.contains("fills its memory"), "{}", ended.stderr);
}

#[test]
fn json_is_one_object_with_the_keys_that_are_documented() {
    let keys = |args: &[&str]| {
        let ended = run(jlpns(args).args(["--output", "json"]), LIMIT);
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        // Parsing sorts the keys; their order is that of the text.
        let object = ended.json();
        let object = object.as_object().expect("an object");
        let mut keys: Vec<String> = object.keys().cloned().collect();
        keys.sort_by_key(|key| ended.stdout.find(&format!("\"{key}\":")));
        keys.join(" ")
    };
    let search = "spec moves algorithm goal proved value lower upper best_move most_proving_move line \
                  sub_search selection unconfirmed_claims descents nodes peak_nodes seconds";
    assert_eq!(keys(&["search", "connect4:3x4"]), search);
    let more =
        "jobs workers cancelled leases_expired overhead earlier_nodes claims claims_confirmed";
    let solve = format!("{search} {more}");
    assert_eq!(keys(&["solve", "connect4:3x4"]), solve);
}

#[test]
fn the_algorithm_is_what_was_run() {
    let told = |args: &[&str]| {
        let json = run(jlpns(args).args(["--output", "json"]), LIMIT).json();
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        (text("algorithm").expect("an algorithm"), text("sub_search"))
    };
    let jobs =
        |algorithm: &str, sub_search: &str| (algorithm.to_owned(), Some(sub_search.to_owned()));
    assert_eq!(told(&["search", "connect4:3x4", "--algorithm", "pds"]), ("pds".to_owned(), None));
    let solve = ["solve", "connect4:3x4"];
    let with = |flags: &[&'static str]| [&solve[..], flags].concat();
    assert_eq!(told(&solve), jobs("job-level-gpns", "pds and alpha-beta"));
    assert_eq!(told(&with(&["--goal", ">=draw"])), jobs("job-level-pns", "pds and alpha-beta"));
    assert_eq!(told(&with(&["--sub-search", "pds"])), jobs("job-level-gpns", "pds"));
    assert_eq!(told(&with(&["--beside", "dfpn"])), jobs("job-level-gpns", "pds and dfpn"));
    // What alpha-beta needs to know there, nobody says here.
    assert_eq!(told(&with(&["--knowledge", "false"])), jobs("job-level-gpns", "pds"));
    assert_eq!(told(&["solve", "woodpush:6"]), jobs("job-level-gpns", "pds"));
}

#[test]
fn goals_are_proved_and_disproved_from_the_view_of_the_first_player() {
    let cases = [
        ("connect4:3x4", "", ">=draw", true),
        ("connect4:3x4", "", ">=win", false),
        ("connect4:3x4", "", "<=draw", true),
        ("connect4:3x4", "121212", ">=win", true),
        ("connect4:3x4", "1212123", "<=loss", true),
        ("woodpush:8", "", "<=-1", true),
        ("woodpush:8", "s0", ">=1", false),
    ];
    for command in ["search", "solve"] {
        for (spec, moves, goal, proved) in cases {
            let args = [command, spec, "--moves", moves, "--goal", goal, "--output", "json"];
            let ended = run(&mut jlpns(args), LIMIT);
            assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
            let found = ended.json();
            assert_eq!(found["proved"], proved, "{args:?}: {found}");
            assert_eq!((&found["goal"], &found["moves"]), (&goal.into(), &moves.into()));
        }
    }
}

#[test]
fn a_game_that_is_over_after_the_moves_has_a_value_without_a_search() {
    for command in ["search", "solve"] {
        for goal in [&[][..], &["--goal", ">=draw"]] {
            let args = [command, "connect4:3x4", "--moves", "1212121", "--output", "json"];
            let ended = run(jlpns(args).args(goal), LIMIT);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            let found = ended.json();
            assert_eq!(
                (&found["value"], &found["descents"]),
                (&"win".into(), &0.into()),
                "{found}"
            );
            assert_eq!(found["proved"], true);
        }
    }
}

#[test]
fn limits_stop_a_search_unsolved() {
    let search = ["search", "connect4:7x6", "--output", "json"];
    for (limit, algorithm) in
        [("--max-nodes=20000", "gpns"), ("--max-nodes=20000", "dfpn"), ("--memory=1MiB", "pns")]
    {
        let ended = run(jlpns(search).args(["--algorithm", algorithm, limit]), LIMIT);
        assert_eq!(ended.code, Some(3), "{limit}, {algorithm}: {ended:?}");
        let found = ended.json();
        let nulls = (found["proved"].is_null(), found["value"].is_null());
        assert_eq!(nulls, (true, true), "{found}");
    }
}

#[test]
fn a_search_is_deterministic() {
    for algorithm in ["gpns", "pn2", "pds-pn", "dfpn", "alpha-beta"] {
        let counts = || {
            let args = ["search", "connect4:4x4", "--algorithm", algorithm, "--output", "json"];
            let found = run(&mut jlpns(args), LIMIT).json();
            (found["descents"].clone(), found["nodes"].clone(), found["peak_nodes"].clone())
        };
        assert_eq!(counts(), counts(), "{algorithm}");
    }
}
