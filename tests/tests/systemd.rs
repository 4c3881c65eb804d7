//! The units of `deploy/systemd`, and those that `jlpns-worker systemd` prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jlpns_tests::{command, jlpns_worker, run};

const LIMIT: Duration = Duration::from_secs(60);

/// Where the programs are on a machine that the units are for.
const PROGRAMS: &str = "/usr/local/bin";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/systemd")
}

fn text(file: &str) -> String {
    fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What a command line of the page prints: `jlpns-worker systemd ...`.
fn printed(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let ended = run(&mut jlpns_worker(words), LIMIT);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{line}");
    ended.stdout
}

/// The command of the page that prints this file.
fn command_for(file: &str) -> String {
    let page = text("README.md").replace("\\\n", " ");
    let line = page.lines().find(|line| {
        line.starts_with("jlpns-worker systemd ") && line.ends_with(&format!(" > {file}"))
    });
    let line = line.unwrap_or_else(|| panic!("README.md has no command for {file}"));
    line.rsplit_once(" > ").expect("a file").0.to_owned()
}

#[test]
fn the_units_are_what_the_commands_of_the_page_print() {
    for file in ["jlpns-worker.service", "user/jlpns-worker.service"] {
        assert_eq!(text(file), printed(&command_for(file)), "{file}");
    }
}

#[test]
fn the_coordinator_is_as_closed_in_as_a_worker() {
    let lines = |file: &str| -> Vec<String> {
        let of_sandbox = |line: &&str| {
            ["Protect", "Private", "Restrict", "SystemCall", "NoNew", "Lock", "Capability"]
                .iter()
                .chain(&["MemoryDeny", "RemoveIPC", "DynamicUser", "UMask"])
                .any(|begin| line.starts_with(begin))
                && !line.starts_with("RestartPrevent")
        };
        let mut lines: Vec<String> =
            text(file).lines().filter(of_sandbox).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let worker = lines("jlpns-worker.service");
    assert!(worker.len() > 20, "{worker:?}");
    assert_eq!(lines("jlpns-coordinator.service"), worker);
}

#[test]
fn settings_of_the_environment_and_of_the_file_are_in_the_unit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("config.toml");
    fs::write(&config, "coordinator = 'http://a:1'\n[worker]\nslots = 3\nname = 'of file'\n")
        .expect("written");
    let mut command = jlpns_worker(["systemd", "--user", "--name", "typed", "--config"]);
    let ended = run(command.arg(&config).env("JLPNS_GIVE_UP_AFTER", "2h"), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in ["--coordinator=http://a:1", "--slots=3", "--name=typed", "--give-up-after=2h"] {
        let has = ended.stdout.lines().any(|it| it.trim().trim_end_matches(" \\") == line);
        assert!(has, "'{line}' is not in {}", ended.stdout);
    }
    // A value that the worker would refuse makes no unit.
    let ended = run(&mut jlpns_worker(["systemd", "--slots", "none"]), LIMIT);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
}

/// Checks a unit with systemd's own tool; false if that is not there.
fn verified(unit: &str, name: &str, more: &[&str]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(name);
    fs::write(&file, unit).expect("written");
    let mut verify = Command::new("systemd-analyze");
    verify.args(more).args(["--man=no", "verify"]).arg(&file).env("XDG_RUNTIME_DIR", folder.path());
    let Ok(output) = verify.output() else { return false };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains(name), "{name}: {said}\n{unit}");
    true
}

#[test]
fn systemd_takes_the_units() {
    // The programs of the page are not where it says.
    let built = |name: &str| PathBuf::from(command(name, [""; 0]).get_program());
    let (worker, coordinator) = (built("jlpns-worker"), built("jlpns"));
    let here = |unit: String| {
        unit.replace(&format!("{PROGRAMS}/jlpns-worker"), &worker.display().to_string())
            .replace(&format!("{PROGRAMS}/jlpns "), &format!("{} ", coordinator.display()))
    };
    let odd = [
        "systemd",
        "--coordinator-file",
        "/home/a b/50%:$x/url",
        "--name",
        "50% of $HOME; \"a\\b\"",
    ];
    let odd = |more: &[&str]| {
        let ended = run(&mut jlpns_worker([&odd, more].concat()), LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    };
    let verified = verified(&here(text("jlpns-worker.service")), "jlpns-worker.service", &[])
        && verified(&here(text("jlpns-coordinator.service")), "jlpns-coordinator.service", &[])
        && verified(&odd(&[]), "jlpns-odd.service", &[])
        && verified(&here(text("user/jlpns-worker.service")), "jlpns-worker.service", &["--user"])
        && verified(&odd(&["--user"]), "jlpns-odd.service", &["--user"]);
    if !verified {
        eprintln!("skipped: there is no systemd-analyze here");
    }
}
