//! Processes in the way: an old worker that does not end, another process with its pid, another launch.

use std::fs;
use std::process::{Command, Stdio};

use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::lab::{Lab, below};

use crate::{another_build, coordinator, is_alive, pid, start};

#[test]
fn an_old_worker_that_does_not_end_is_named_and_not_replaced() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    let flags = start(&hosts, &flags, &[]);
    let old = pid(&lab.reported("start", &flags, 0)[0]);
    assert!(send(old, Signal::STOP));
    let build = another_build(&lab);
    let with_build =
        [&flags[..2], &["--worker-binary", &build, "--drain-limit", "1s"], &flags[2..]].concat();
    let refused = lab.reported("start", &with_build, 1);
    assert_eq!(refused[0]["error"]["cause"], "still-running");
    assert!(
        refused[0]["error"]["message"].as_str().is_some_and(|text| text.contains(&old.to_string())),
        "{refused:?}"
    );
    assert!(is_alive(old));
    let folder = lab.worker_folder("node1");
    assert!(!folder.join("incoming").exists() && folder.join("credentials/token").exists());
    let refused = lab.reported("stop", &["--hosts", &hosts, "--drain-limit", "1s"], 1);
    assert_eq!(refused[0]["error"]["cause"], "still-running");
    let stopped = lab.reported("stop", &["--hosts", &hosts, "--drain-limit", "1s", "--abort"], 0);
    assert_eq!(stopped[0]["state"], "stopped");
    assert!(!is_alive(old));
    assert_eq!(below(&lab.home("node1")), [""; 0]);
}

#[test]
fn a_pid_that_was_given_to_another_process_is_left_alone() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    let flags = start(&hosts, &flags, &[]);
    let worker = pid(&lab.reported("start", &flags, 0)[0]);
    let folder = lab.worker_folder("node1");
    let mut other = Command::new("sleep").arg("1000").spawn().expect("it starts");
    let text = fs::read_to_string(folder.join("worker.pid")).expect("a pid file");
    let text = text.replacen(&worker.to_string(), &other.id().to_string(), 1);
    fs::write(folder.join("worker.pid"), text).expect("it is written");
    // Its own worker is found without the file.
    let status = lab.reported("status", &["--hosts", &hosts], 0);
    assert_eq!((&status[0]["state"], pid(&status[0])), (&"running".into(), worker));
    let doctor = lab.reported("doctor", &["--hosts", &hosts], 1);
    assert!(doctor[0]["findings"].to_string().contains("has lost its pid file"), "{doctor:?}");
    lab.reported("stop", &["--hosts", &hosts], 0);
    assert!(!is_alive(worker) && is_alive(other.id()));
    assert!(other.try_wait().expect("it is a child").is_none());
    other.kill().expect("it is killed");
    other.wait().expect("it has ended");
    assert_eq!(below(&lab.home("node1")), [""; 0]);
}

#[test]
fn only_one_launch_is_at_work_on_a_host() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    let flags = start(&hosts, &flags, &[]);
    let worker = pid(&lab.reported("start", &flags, 0)[0]);
    let lock = lab.worker_folder("node1").join("lock");
    let mut command = Command::new("flock");
    command
        .args(["--no-fork".as_ref(), lock.as_os_str()])
        .args(["sh", "-c", "echo held; exec sleep 1000"])
        .stdout(Stdio::piped());
    let mut holder = command.spawn().expect("flock is there");
    let mut held = [0; 4];
    std::io::Read::read_exact(holder.stdout.as_mut().expect("it is piped"), &mut held)
        .expect("it is held");
    let refused = lab.reported("stop", &["--hosts", &hosts], 1);
    assert_eq!(refused[0]["error"]["cause"], "busy");
    assert!(is_alive(worker));
    holder.kill().expect("it is killed");
    holder.wait().expect("it has ended");
}
