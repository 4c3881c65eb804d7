//! Every flag, spec and move string that is wrong gets exit code 2, nothing on stdout, and one
//! sentence that names what was wrong and what would be right.

use std::time::Duration;

use jlpns_tests::{jlpns, jlpns_worker, run};

const LIMIT: Duration = Duration::from_secs(30);

/// `jlpns` with `args` is refused with a message that has all of `words`.
fn refused(args: &[&str], words: &[&str]) {
    let ended = run(&mut jlpns(args), LIMIT);
    let shown: Vec<String> = args.iter().map(|arg| arg.chars().take(80).collect()).collect();
    assert!(ended.stderr.len() < 2000, "{shown:?}: {} bytes on stderr", ended.stderr.len());
    assert_eq!(ended.code, Some(2), "{shown:?}: {ended:?}");
    assert_eq!(ended.stdout, "", "{shown:?}");
    assert!(ended.stderr.starts_with("error: "), "{shown:?}: {}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{shown:?}: '{word}' is not in {}", ended.stderr);
    }
}

#[test]
fn specs() {
    let search = |spec: &str, words: &[&str]| refused(&["search", spec], words);
    search("", &["unknown game", "connect4:COLUMNSxROWS"]);
    search("chess:8x8", &["unknown game 'chess'", "woodpush:CELLS"]);
    search("connect4", &["'' is no Connect Four size", "connect4:7x6"]);
    search("connect4:7", &["'7' is no Connect Four size", "connect4:7x6"]);
    search("connect4:7x6x5", &["'7x6x5'", "connect4:7x6"]);
    search("connect4:-7x6", &["'-7x6'", "connect4:7x6"]);
    search("connect4:0x4", &["at least one column and one row", "0x4"]);
    search("connect4:4x0", &["at least one column and one row", "4x0"]);
    search("connect4:12x12", &["12 columns and 12 rows", "at most 128"]);
    search("connect4:99999999999x2", &["too large", "at most 128"]);
    search("woodpush", &["'' is no Woodpush start", "L.L...R.R"]);
    search("woodpush:5", &["6 to 32 cells", "not 5"]);
    search("woodpush:33", &["6 to 32 cells", "not 33"]);
    search("woodpush:99999999999999999999", &["6 to 32 cells"]);
    search("woodpush:-8", &["'-8'", "L.L...R.R"]);
    search("woodpush:......", &["without pieces", "at least one L and one R"]);
    search("woodpush:LL....", &["one side only", "at least one L and one R"]);
    search("woodpush:...R.R", &["one side only", "at least one L and one R"]);
    search("woodpush:L.x..R", &["'x' in cell 2", "write L, R, or ."]);
    search("woodpush:L..R", &["6 to 32 cells", "not 4"]);
    let long = "L".repeat(100_000);
    search(&format!("woodpush:{long}"), &["6 to 32 cells"]);
    search(&format!("{long}:3"), &["unknown game"]);
}

#[test]
fn certificates_are_not_simulated() {
    let args = ["simulate", "connect4:4x4", "--confirm", "proof"];
    refused(&args, &["certificates are not simulated", "'answer', 'sample' or 'none'"]);
}

#[test]
fn sub_searches_beside_each_other() {
    let beside = |name: &str, words: &[&str]| {
        refused(&["solve", "connect4:4x4", "--beside", name], words);
    };
    beside("pds", &["'pds' for '--beside'", "--sub-search runs already"]);
    beside("minimax", &["'minimax' for '--beside", "alpha-beta"]);
    let queue = ["serve", "--queue", "--data", "/nowhere", "--beside", "pds"];
    refused(&queue, &["'pds' for '--beside'", "--sub-search runs already"]);
}

#[test]
fn goals() {
    let connect4 = |goal: &str, words: &[&str]| {
        refused(&["search", "connect4:4x4", "--goal", goal], words);
        refused(&["search", "connect4:4x4", &format!("--goal={goal}")], words);
    };
    connect4("", &["--goal", "no comparison", "'>=OUTCOME'"]);
    connect4("draw", &["goal 'draw' has no comparison", "'>=win'"]);
    connect4("=draw", &["goal '=draw' has no comparison", "'>=win'"]);
    connect4("-1", &["goal '-1' has no comparison", "'>=win'"]);
    connect4(">=", &["'' is not an outcome", "loss, draw, win"]);
    connect4("<=victory", &["'victory' is not an outcome", "loss, draw, win"]);
    connect4(">=0", &["'0' is not an outcome", "loss, draw, win"]);
    let woodpush =
        |goal: &str, words: &[&str]| refused(&["search", "woodpush:8", "--goal", goal], words);
    woodpush(">=draw", &["'draw' is not an outcome", "-2, -1, 1, 2"]);
    woodpush("<=-3", &["'-3' is not an outcome", "-2, -1, 1, 2"]);
    woodpush(">=3", &["'3' is not an outcome", "-2, -1, 1, 2"]);
    woodpush("<=99999999999999999999", &["is not an outcome", "-2, -1, 1, 2"]);
    refused(&["search", "connect4:4x4", "--goal"], &["a value is required for '--goal"]);
}

#[test]
fn moves() {
    let connect4 =
        |moves: &str, words: &[&str]| refused(&["search", "connect4:3x4", "--moves", moves], words);
    connect4("4", &["move 1, '4'", "3 columns", "legal here: 1 2 3"]);
    connect4("0", &["move 1, '0'", "legal here: 1 2 3"]);
    connect4("11111", &["move 5, '1'", "column 1 is full", "legal here: 2 3"]);
    connect4("12121213", &["move 8", "after the end", "win", "1212121"]);
    connect4("-1", &["move 1, '-1'", "legal here: 1 2 3"]);
    connect4("1 é", &["move 2", "legal here: 1 2 3"]);
    let long = "9".repeat(100_000);
    connect4(&long, &["move 1", "legal here: 1 2 3"]);
    let woodpush =
        |moves: &str, words: &[&str]| refused(&["search", "woodpush:8", "--moves", moves], words);
    woodpush("s1", &["move 1, 's1'", "Left has no piece on cell 1", "legal here: s0 s2"]);
    woodpush("p0", &["no enemy piece directly behind cell 0", "legal here: s0 s2"]);
    woodpush("s99", &["cells 0 to 7", "legal here: s0 s2"]);
    woodpush("s0s0", &["move 2, 's0'", "Right has no piece on cell 0"]);
    woodpush("x", &["move 1, 'x'", "legal here: s0 s2"]);
}

#[test]
fn numbers_and_names() {
    let search = |args: &[&str], words: &[&str]| {
        refused(&[&["search", "connect4:3x4"], args].concat(), words);
    };
    for bad in ["0", "-1", "1.5", "ten", "", "99999999999999999999"] {
        search(&["--max-nodes", bad], &["--max-nodes", "a whole number from 1 to"]);
    }
    for bad in ["12QiB", "-1GiB", "two", "", "GiB"] {
        search(&["--memory", bad], &["--memory", "such as 512MiB, 2GiB or 1.5GB"]);
    }
    for bad in ["0", "1", "1KiB", "99999999999999999999GiB"] {
        search(&["--memory", bad], &["--memory", "from 1.0 MiB to 16.0 TiB"]);
    }
    for bad in ["-1", "NaN", "inf", "x", ""] {
        search(&["--epsilon", bad], &["--epsilon", "a number from 0"]);
        search(&["--growth-a", bad], &["--growth-a", "a number from 0"]);
        search(&["--growth-b", bad], &["--growth-b", "a number above 0"]);
    }
    search(&["--growth-b", "0"], &["--growth-b", "a number above 0"]);
    let algorithms = "pns, gpns, pn2, gpns2, gpns-pn2, pds, pds-pn, dfpn, alpha-beta, dichotomic";
    search(&["--algorithm", "mcts"], &["'mcts'", "--algorithm", algorithms]);
    search(&["--store", "forest"], &["'forest'", "--store", "tree, graph"]);
    search(&["--init", "random"], &["'random'", "--init", "unit, mobility"]);
    search(&["--output", "xml"], &["'xml'", "--output", "text, json"]);
    search(&["--colour"], &["unexpected argument '--colour'"]);
    search(&["connect4:3x5"], &["unexpected argument 'connect4:3x5'"]);
    refused(&["search"], &["required arguments were not provided", "<SPEC>"]);
    refused(&["sarch"], &["unrecognized subcommand 'sarch'", "'search'"]);
}

#[test]
fn flags_of_solve_and_serve() {
    for command in ["solve", "serve"] {
        let given = |args: &[&str], words: &[&str]| {
            refused(&[&[command, "connect4:3x4"], args].concat(), words);
        };
        refused(&[command], &["required arguments were not provided", "<SPEC>"]);
        refused(&[command, "chess:8x8"], &["unknown game 'chess'", "woodpush:CELLS"]);
        given(&["--goal", "draw"], &["goal 'draw' has no comparison", "'>=win'"]);
        given(&["--goal", "<=-1"], &["'-1' is not an outcome", "loss, draw, win"]);
        given(&["--moves", "4"], &["move 1, '4'", "legal here: 1 2 3"]);
        given(&["--moves", "12121213"], &["after the end", "win"]);
        given(
            &["--sub-search", "mcts"],
            &["'mcts'", "--sub-search", "pn2, gpns2, gpns-pn2, pds-pn"],
        );
        given(&["--sub-search", "dichotomic"], &["'dichotomic'", "--sub-search", "pn2, gpns2"]);
        for bad in ["-1", "NaN", "inf", "x", ""] {
            given(&["--epsilon", bad], &["--epsilon", "a number from 0"]);
            given(&["--growth-a", bad], &["--growth-a", "a number from 0"]);
            given(&["--growth-b", bad], &["--growth-b", "a number above 0"]);
        }
        given(&["--store", "forest"], &["'forest'", "--store", "tree, graph"]);
        given(&["--init", "random"], &["'random'", "--init", "unit, mobility"]);
        given(&["--selection", "x"], &["--selection", "locking, virtual-win, virtual-loss"]);
        given(&["--output", "xml"], &["'xml'", "--output", "text, json"]);
        for bad in ["0", "-1", "1e6", "", "99999999999999999999"] {
            for flag in ["--job-nodes", "--jobs-a-second"] {
                given(&[flag, bad], &[flag, "a whole number from 1 to"]);
            }
        }
        for bad in ["12QiB", "-1GiB", "much", ""] {
            given(&["--memory", bad], &["--memory", "such as 512MiB, 2GiB or 1.5GB"]);
        }
        given(&["--memory", "1"], &["--memory", "from 1.0 MiB to 16.0 TiB"]);
    }
    for bad in ["0", "-1", "1025", "many", "", "99999999999"] {
        refused(&["solve", "connect4:3x4", "--slots", bad], &["--slots", "from 1 to 1024"]);
    }
    for bad in ["", "7070", "localhost", "127.0.0.1", "127.0.0.1:99999", ":7070", "-1", "a b:4"] {
        let words = ["--listen", "write a host and a port", "0.0.0.0:7070"];
        refused(&["serve", "connect4:3x4", "--listen", bad], &words);
    }
}

#[test]
fn flags_of_simulate() {
    let given = |args: &[&str], words: &[&str]| {
        refused(&[&["simulate", "connect4:3x4"], args].concat(), words);
    };
    refused(&["simulate"], &["required arguments were not provided", "<SPEC>"]);
    refused(&["simulate", "chess:8x8"], &["unknown game 'chess'", "woodpush:CELLS"]);
    for bad in ["0", "-1", "65537", "many", "", "1,0", "1,,2", "1;2", "99999999999"] {
        given(&["--workers", bad], &["--workers", "from 1 to 65536"]);
    }
    given(&["--slots-per-worker", "1025"], &["--slots-per-worker", "from 1 to 1024"]);
    for bad in ["", "5", "-1ms", "soon", "2years", "99999999999999999999s"] {
        for flag in ["--latency", "--max-time"] {
            given(&[flag, bad], &[flag, "up to a year, such as 0.5ms"]);
        }
    }
    for bad in ["0", "-1", "fast", "1e6", ""] {
        given(&["--rate", bad], &["--rate", "a whole number from 1 to"]);
    }
    for bad in ["-1", "20us", "NaN", "inf", "1e99", ""] {
        given(&["--coordinator-cost", bad], &["--coordinator-cost", "microseconds", "or 'real'"]);
    }
    for bad in ["-0.1", "1.1", "NaN", "10%", ""] {
        given(&["--jitter", bad], &["--jitter", "from 0 to 1"]);
    }
    given(&["--seed", "-1"], &["--seed", "a whole number from 0 to"]);
    for flag in ["--tree-memory", "--table-memory"] {
        given(&[flag, "much"], &[flag, "such as 512MiB, 2GiB or 1.5GB"]);
    }
    let crowd = ["--workers", "1,1024", "--table-memory", "1MiB"];
    given(&crowd, &["'--table-memory'", "1.0 KiB for each of 1024 workers", "at least 64.0 MiB"]);
    given(&["--plot", "/no/such/folder/x.svg"], &["'--plot'", "cannot be written"]);
    for bad in ["x.png", "x", ".svg"] {
        given(&["--plot", bad], &[&format!("'{bad}' for '--plot'"), "a name that ends with .svg"]);
        assert!(!std::path::Path::new(bad).exists(), "{bad} was made");
    }
}

#[test]
fn measurements() {
    let words = ["'nothing' for '--only'", "search, alpha-beta", "solve, two slots, PN2"];
    refused(&["bench", "connect4:3x4", "--only", "nothing"], &words);
    refused(&["bench", "connect4:3x4", "--rounds", "0"], &["--rounds", "from 1 to 1000"]);
}

#[test]
fn no_error_says_its_cause_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("it is written");
    let (file, below) = (file.display().to_string(), file.join("x").display().to_string());
    let all: [&[&str]; 6] = [
        &["solve", "connect4:3x4", "--data", &file],
        &["solve", "connect4:3x4", "--data", &below],
        &["keys", "init", &file],
        &["man", &below],
        &["verify", folder.path().to_str().expect("a name")],
        &["status", "http://127.0.0.1:1"],
    ];
    for args in all {
        let ended = run(&mut jlpns(args), LIMIT);
        assert!(matches!(ended.code, Some(1 | 2)), "{args:?}: {ended:?}");
        let parts: Vec<&str> = ended.stderr.trim_end().split(": ").collect();
        for (place, part) in parts.iter().enumerate() {
            assert!(!parts[..place].contains(part), "{args:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn flags_of_admission() {
    let serve = |args: &[&str], words: &[&str]| {
        refused(&[&["serve", "connect4:3x4", "--listen", "127.0.0.1:0"], args].concat(), words);
    };
    serve(&["--token-file", "/no/such/file"], &["/no/such/file cannot be read: No such file"]);
    serve(&["--token-file", "/dev/null"], &["the token file /dev/null is empty", "at least 16"]);
    serve(&["--token-file", "Cargo.toml"], &["Cargo.toml holds a character", "ASCII"]);
    serve(&["--tls-cert", "Cargo.toml"], &["required", "--tls-key"]);
    serve(&["--tls-key", "Cargo.toml"], &["required", "--tls-cert"]);
    serve(&["--client-ca", "Cargo.toml"], &["required", "--tls-cert"]);
    serve(
        &["--tls-cert", "Cargo.toml", "--tls-key", "Cargo.toml"],
        &["Cargo.toml holds no certificate", "jlpns keys init"],
    );
    for bad in ["0", "-1", "many", "", "99999999999"] {
        serve(&["--max-workers", bad], &["--max-workers"]);
    }
    let keys = |args: &[&str], words: &[&str]| {
        refused(&[&["keys", "init", "/no/such/folder"], args].concat(), words);
    };
    refused(&["keys", "init"], &["required arguments were not provided", "<DIR>"]);
    keys(&["--worker", "../up"], &["'../up' is no name for a worker's files", "1 to 64 letters"]);
    keys(&["--worker", "a", "--worker", "a"], &["'a' is named twice"]);
    keys(&["--name", "a b"], &["'a b' is no name of a machine", "solver.lab.example"]);
    keys(&["--ip", "host"], &["--ip"]);
    keys(&["--days", "0"], &["--days"]);
}

#[test]
fn flags_of_a_worker() {
    let refused = |args: &[&str], words: &[&str]| {
        let ended = run(&mut jlpns_worker(args), LIMIT);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "{args:?}: '{word}' is not in {}", ended.stderr);
        }
    };
    refused(&[], &["required arguments were not provided", "--coordinator"]);
    for bad in ["", "localhost:7070", "http://", "ftp://host:1"] {
        refused(&["--coordinator", bad], &[&format!("'{bad}'"), "http://HOST:PORT"]);
    }
    for bad in ["http://localhost", "http://127.0.0.1/", "https://[::1]"] {
        refused(&["--coordinator", bad], &[&format!("'{bad}' has no port"), "http://HOST:PORT"]);
    }
    let typo = ["--coordinator", "http://no-such-host.invalid:7070"];
    refused(&typo, &["there is no host 'no-such-host.invalid'", "spelled right"]);
    refused(&["--coordinator", "https://host:1"], &["encrypted", "--ca", "http://HOST:PORT"]);
    let given = |args: &[&str], words: &[&str]| {
        refused(&[&["--coordinator", "http://127.0.0.1:1"], args].concat(), words);
    };
    for bad in ["0", "1025", "many", "", "99999999999"] {
        given(&["--slots", bad], &["--slots"]);
    }
    for bad in ["12QiB", "much", "", "1KiB"] {
        given(&["--memory", bad], &["--memory"]);
    }
    for bad in ["0", "-1", "soon", "", "10 parsecs"] {
        given(&["--give-up-after", bad], &["--give-up-after", "such as 90s, 10m or 2h"]);
        given(&["--longest-job", bad], &["--longest-job", "such as 90s, 10m or 2h"]);
    }
    for bad in ["chess", "connect4:7x6", "", "connect4,"] {
        given(&["--games", bad], &["--games", "connect4, woodpush"]);
    }
    for flag in ["--token-file", "--ca"] {
        given(&[flag, "/no/such/file"], &["/no/such/file cannot be read: No such file"]);
        given(&[flag, ""], &[flag]);
    }
    given(&["--ca", "Cargo.toml"], &["Cargo.toml holds no certificate", "PEM"]);
    given(&["--token-file", "Cargo.toml"], &["Cargo.toml holds a character", "ASCII"]);
    given(&["--cert", "Cargo.toml"], &["required", "--key"]);
    given(&["--key", "Cargo.toml"], &["required", "--cert"]);
    given(&["--tls-name", "host"], &["required", "--ca"]);
    given(&["--name", ""], &["--name", "1 to 128"]);
    given(&["--name", &"n".repeat(129)], &["--name", "1 to 128"]);
}

#[test]
fn addresses_of_a_coordinator() {
    for command in ["status", "health"] {
        for bad in [
            "",
            "localhost:7070",
            "7070",
            "ftp://host:1",
            "http://",
            "http://h:1/x",
            "a b",
            "http://h",
        ] {
            refused(&[command, bad], &[&format!("'{bad}' for 'URL'"), "http://HOST:PORT"]);
        }
        refused(&[command, &"h".repeat(100_000)], &["URL", "http://HOST:PORT"]);
        refused(&[command, "https://host:1"], &["encrypted", "--ca", "write http://HOST:PORT"]);
        let no_token = ["--token-file", "/no/such/file"];
        let words = ["the token file /no/such/file cannot be read"];
        refused(&[&[command, "http://127.0.0.1:1"][..], &no_token].concat(), &words);
        refused(&[command], &["required arguments were not provided", "<URL>"]);
        // A good address where nobody listens is no bad input.
        let ended = run(&mut jlpns([command, "http://127.0.0.1:1"]), LIMIT);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let (why, url) = ("no coordinator can be reached at", "http://127.0.0.1:1");
        assert!(ended.stderr.contains(&format!("{why} {url}")), "{ended:?}");
    }
}

#[test]
fn settings_in_the_environment_are_checked_as_flags_are() {
    let mut command = jlpns(["search", "connect4:3x4"]);
    let ended = run(command.env("JLPNS_MEMORY", "12QiB"), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("'12QiB' for '--memory"), "{ended:?}");
}
