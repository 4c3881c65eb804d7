//! Settings from flags, the environment and the configuration file, of both programs; and the log, which each command
//! has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jlpns_tests::{Ended, Running, jlpns, jlpns_worker, run};
use serde_json::Value;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(60);

/// A folder with a configuration file where it is looked for.
struct Home(TempDir);

impl Home {
    fn with(text: &str) -> Home {
        let home = Home(tempfile::tempdir().expect("a folder"));
        fs::create_dir_all(home.file().parent().expect("a folder")).expect("it is made");
        fs::write(home.file(), text).expect("it is written");
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("jlpns/config.toml")
    }

    fn run(&self, mut command: Command) -> Ended {
        run(command.env("XDG_CONFIG_HOME", self.path()), LIMIT)
    }
}

/// The value of a setting as `jlpns config` tells it, and where it comes from.
fn told(json: &Value, key: &str) -> (String, String) {
    let settings = json["commands"][0]["settings"].as_array().expect("a list of settings");
    let found = settings.iter().find(|setting| setting["key"] == key).expect("the setting");
    let value = found["values"][0].as_str().unwrap_or("-").to_owned();
    let variable = found["variable"].as_str().map(|variable| format!(" {variable}"));
    let source = found["source"].as_str().expect("a source");
    (value, format!("{source}{}", variable.unwrap_or_default()))
}

#[test]
fn flag_before_environment_before_file_before_default() {
    let home = Home::with("memory = '64MiB'\n[solve]\nslots = 1\nepsilon = 0.5\nline = 3\n");
    let mut config = jlpns(["config", "solve", "--output", "json", "--", "--line", "1"]);
    config.env("JLPNS_EPSILON", "0.75").env("JLPNS_LINE", "2");
    let ended = home.run(config);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let json = ended.json();
    assert_eq!(json["file"], home.file().display().to_string());
    let told = |key| told(&json, key);
    assert_eq!(told("line"), ("1".to_owned(), "flag".to_owned()));
    assert_eq!(told("epsilon"), ("0.75".to_owned(), "environment JLPNS_EPSILON".to_owned()));
    assert_eq!(told("slots"), ("1".to_owned(), "file".to_owned()));
    assert_eq!(told("memory"), ("64MiB".to_owned(), "file".to_owned()));
    assert_eq!(told("init"), ("mobility".to_owned(), "default".to_owned()));

    // What is told is what a solve does.
    let line = |command: &mut Command| {
        let ended = run(command.env("XDG_CONFIG_HOME", home.path()), LIMIT);
        ended.json()["line"].as_array().expect("a line").len()
    };
    let solve = ["solve", "connect4:4x4", "--output", "json"];
    assert_eq!(line(&mut jlpns(solve)), 3);
    assert_eq!(line(jlpns(solve).env("JLPNS_LINE", "2")), 2);
    assert_eq!(line(jlpns(solve).args(["--line", "1"]).env("JLPNS_LINE", "2")), 1);
    assert_eq!(line(jlpns(solve).env("JLPNS_CONFIG", "/dev/null")), 16);
}

#[test]
fn the_file_is_the_one_that_is_named_or_the_one_in_the_usual_place() {
    let home = Home::with("output = 'json'\n");
    let search = || jlpns(["search", "connect4:3x4"]);
    assert_eq!(home.run(search()).json()["value"], "draw");
    // Without XDG_CONFIG_HOME, below the home.
    let dotted = tempfile::tempdir().expect("a folder");
    fs::rename(home.path().join("jlpns"), dotted.path().join("jlpns")).expect("it is moved");
    let folder = tempfile::tempdir().expect("a folder");
    fs::rename(dotted.path(), folder.path().join(".config")).expect("it is moved");
    let mut command = search();
    let ended = run(command.env_remove("XDG_CONFIG_HOME").env("HOME", folder.path()), LIMIT);
    assert_eq!(ended.json()["value"], "draw");
    // One that is named counts alone.
    let other = Home::with("output = 'text'\n");
    let mut named = search();
    named.arg("--config").arg(other.file());
    assert!(home.run(named).stdout.starts_with("connect4:3x4: the value is draw"));
}

#[test]
fn what_is_wrong_in_the_file_is_one_sentence_and_bad_input() {
    let refused = |text: &str, words: &[&str]| {
        let home = Home::with(text);
        let commands =
            [jlpns(["search", "connect4:3x4"]), jlpns(["config"]), jlpns_worker([""; 0])];
        for command in commands {
            let ended = home.run(command);
            assert_eq!(ended.code, Some(2), "{text}: {ended:?}");
            assert_eq!(ended.stdout, "", "{text}");
            assert_eq!(ended.stderr.lines().count(), 1, "{text}: {}", ended.stderr);
            let file = home.file().display().to_string();
            for word in words.iter().chain(&["error: ", &file]) {
                assert!(ended.stderr.contains(word), "{text}: '{word}' is not in {}", ended.stderr);
            }
        }
    };
    refused("memroy = '1GiB'\n", &["unknown key 'memroy'", "'memory' is one"]);
    refused("[sovle]\n", &["unknown table [sovle]", "[solve] is one"]);
    refused("[worker]\nslots = 'two'\n", &["'two' for 'slots' in [worker]"]);
    refused("[worker]\nslot = 2\n", &["unknown key 'slot' in [worker]", "'slots' is one"]);
    refused("memory = '12QiB'\n", &["'12QiB' for 'memory'", "such as 512MiB"]);
    refused("= 1\n", &["is no TOML", "line 1"]);
    let home = Home::with("[solve]\nepsilon = -1\nmemory = 'much'\n");
    let ended = home.run(jlpns(["solve", "connect4:3x4"]));
    assert!(ended.stderr.contains("'-1' for 'epsilon' in [solve]"), "{ended:?}");
    assert!(ended.stderr.contains("a number from 0"), "{ended:?}");
    for command in [jlpns(["config"]), jlpns_worker([""; 0])] {
        let mut command = command;
        let ended = run(command.args(["--config", "/no/such/file"]), LIMIT);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("/no/such/file cannot be read: No such file"), "{ended:?}");
    }
    // What makes the program at home in a shell does not need the file.
    let home = Home::with("= 1\n");
    let ended = home.run(jlpns(["completions", "bash"]));
    assert!(ended.code == Some(0) && ended.stdout.contains("--config"), "{ended:?}");
    let man = home.path().join("man");
    let ended = home.run(jlpns(["man", &man.display().to_string()]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(man.join("jlpns-config.1").exists());
    assert_eq!(home.run(jlpns(["solve", "--help"])).code, Some(0));
}

#[test]
fn flags_that_need_or_exclude_each_other_do_so_from_the_file_too() {
    let home = Home::with("[serve]\ntls-cert = 'cert.pem'\n");
    let ended = home.run(jlpns(["serve", "connect4:3x4", "--listen", "127.0.0.1:0"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("--tls-key") && ended.stderr.contains("sets tls-cert"),
        "{ended:?}"
    );
    let home = Home::with("[solve]\nevery-move = true\npositions = '-'\n");
    let ended = home.run(jlpns(["solve", "connect4:3x4"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("cannot be used with"), "{ended:?}");
    // What was typed comes before what it excludes.
    let home = Home::with("[solve]\nevery-move = true\n");
    let empty = home.path().join("empty");
    fs::write(&empty, "").expect("it is written");
    let ended =
        home.run(jlpns(["solve", "connect4:3x4", "--positions", &empty.display().to_string()]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_solve_that_is_taken_up_has_the_settings_of_solve() {
    let home = Home::with("[solve]\nline = 2\ngoal = '>=win'\noutput = 'json'\n");
    let data = home.path().join("journal").display().to_string();
    let mut solve = jlpns(["solve", "connect4:4x4", "--data", &data]);
    assert_eq!(run(&mut solve, LIMIT).code, Some(0));
    // The journal has no goal, and that is the last word about it.
    let mut resume = jlpns(["resume", &data]);
    resume.env("JLPNS_GOAL", ">=win");
    let ended = home.run(resume);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let json = ended.json();
    assert_eq!((&json["goal"], &json["value"]), (&Value::Null, &Value::from("draw")));
    assert_eq!(json["line"].as_array().map(Vec::len), Some(2), "{json}");
    let ended = home.run(jlpns(["resume", &data, "--line", "3", "--quiet"]));
    assert_eq!(ended.json()["line"].as_array().map(Vec::len), Some(3), "{ended:?}");
    assert!(!ended.stderr.contains(" INFO "), "{}", ended.stderr);
}

#[test]
fn a_worker_has_its_table_and_the_common_keys() {
    let home = Home::with("slots = 3\n[worker]\ncoordinator = 'nowhere'\n[solve]\nslots = 1\n");
    let ended = home.run(jlpns_worker([""; 0]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("'nowhere'"), "{ended:?}");
    let json = home.run(jlpns(["config", "worker", "--output", "json"])).json();
    assert_eq!(told(&json, "slots"), ("3".to_owned(), "file".to_owned()));
    assert_eq!(told(&json, "coordinator"), ("nowhere".to_owned(), "file".to_owned()));
}

/// Commands that need nobody else, one of each kind.
const COMMANDS: [&[&str]; 5] = [
    &["search", "connect4:3x4"],
    &["solve", "connect4:3x4"],
    &["moves", "connect4:3x4"],
    &["simulate", "connect4:3x4", "--workers", "1", "--rate", "1000000"],
    &["config"],
];

#[test]
fn a_bad_filter_of_the_log_is_one_sentence_and_bad_input() {
    for (name, filter) in
        [("JLPNS_LOG", "jlpns=loud"), ("RUST_LOG", "a=b=c"), ("JLPNS_LOG", "debgu")]
    {
        let programs = COMMANDS.iter().map(|args| jlpns(*args));
        let others =
            [jlpns(["health", "http://127.0.0.1:1"]), jlpns(["status", "http://127.0.0.1:1"])];
        let worker = jlpns_worker(["--coordinator", "http://127.0.0.1:1"]);
        for mut command in programs.chain(others).chain([worker]) {
            let ended = run(command.env(name, filter), LIMIT);
            assert_eq!(ended.code, Some(2), "{command:?}: {ended:?}");
            assert_eq!(ended.stderr.lines().count(), 1, "{command:?}: {}", ended.stderr);
            for word in [name, filter, "such as warn"] {
                assert!(ended.stderr.contains(word), "{command:?}: {}", ended.stderr);
            }
        }
    }
    let ended = run(&mut jlpns(["--log", "loud=x", "search", "connect4:3x4"]), LIMIT);
    assert!(ended.code == Some(2) && ended.stderr.contains("'--log'"), "{ended:?}");
}

#[test]
fn every_command_logs_what_it_is_told_to() {
    for args in COMMANDS {
        let quiet = run(jlpns(args).args(["--quiet"]), LIMIT);
        assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""), "{args:?}");
        let loud = run(jlpns(["-vv"]).args(args), LIMIT);
        assert_eq!(loud.code, Some(0), "{args:?}: {loud:?}");
    }
    // One of each program that has more to tell: the simulation logs what it has simulated, the worker its way.
    let simulate = || jlpns(COMMANDS[3]);
    let has = |mut command: Command, word: &str| run(&mut command, LIMIT).stderr.contains(word);
    assert!(has(simulate(), " INFO "));
    let set = |name: &str, filter: &str| {
        let mut command = simulate();
        command.env(name, filter);
        command
    };
    assert!(!has(set("RUST_LOG", "warn"), " INFO "));
    assert!(!has(set("JLPNS_LOG", "warn"), " INFO "));
    let mut flag_first = set("JLPNS_LOG", "warn");
    flag_first.arg("-v");
    assert!(has(flag_first, " INFO "));
    let mut worker = jlpns_worker(["--coordinator", "http://127.0.0.1:1", "-v"]);
    worker.env("RUST_LOG", "off");
    let worker = Running::start(&mut worker);
    worker.wait_for(LIMIT, |line| line.contains("WARN").then_some(()));
}
