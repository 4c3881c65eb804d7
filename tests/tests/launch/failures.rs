//! What fails on a host, what is said of it, and what is left there.

use std::fs;

use jlpns_tests::cluster::{LIMIT, serve, until};
use jlpns_tests::faults::tmpfs::Tmpfs;
use jlpns_tests::faults::watch::soon;
use jlpns_tests::lab::{Lab, below};
use jlpns_tests::{jlpns, jlpns_worker, run};

use crate::{another_build, coordinator, pid, start};

#[test]
fn a_host_that_fails_is_named_with_a_remedy_and_does_not_stop_the_others() {
    let lab = Lab::new();
    let names =
        ["good", "locked", "stranger", "changed", "hangs", "nowhere", "arm", "quiet", "better"];
    let hosts = lab.hosts(&names);
    fs::remove_dir(lab.home("nowhere")).expect("it is there");
    let refuses = |host, words: &str| lab.door(host, &format!("echo '{words}' >&2; exit 255"));
    refuses("locked", "ann@locked: Permission denied (publickey,password).");
    refuses("stranger", "Host key verification failed.");
    refuses("changed", "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!");
    // What it has started is ended with it.
    lab.door("hangs", "sleep 1000 & sleep 1000");
    lab.door("quiet", "echo 'This account is currently not available.'; exit 1");
    lab.tool(
        "arm",
        "uname",
        "if [ \"$1\" = -m ]; then echo aarch64; else exec /bin/uname \"$@\"; fi",
    );
    let (_coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "2000"]);
    let flags = ["--coordinator", &url].map(str::to_owned);
    // Far more than a host that answers takes, and it is waited for once.
    let reports = lab.reported("start", &start(&hosts, &flags, &["--host-limit", "20s"]), 1);
    let causes: Vec<&str> =
        reports.iter().map(|report| report["error"]["cause"].as_str().unwrap_or("none")).collect();
    let expected = [
        "none",
        "password-wanted",
        "unknown-host-key",
        "changed-host-key",
        "timed-out",
        "unknown-host",
        "architecture",
        "no-shell",
        "none",
    ];
    assert_eq!(causes, expected, "{reports:?}");
    for report in &reports {
        let is_fine = report["state"] == "started";
        assert!(
            is_fine || report["error"]["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()),
            "{report}"
        );
    }
    until(&url, |status| status["workers"].as_array().is_some_and(|workers| workers.len() == 2));
    let ssh = lab.arg("ssh");
    let mut status =
        jlpns(["launch", "status", "--ssh", &ssh, "--hosts", &hosts, "locked", "good"]);
    let text = run(&mut status, LIMIT);
    assert_eq!(text.code, Some(1), "{text:?}");
    let lines: Vec<&str> = text.stdout.lines().collect();
    assert!(lines[0].starts_with("good    running  pid "), "{text:?}");
    assert!(
        lines[1].contains("failed   it takes none of your keys and wants a password"),
        "{text:?}"
    );
    assert!(lines[1].contains("ssh-copy-id locked"), "{text:?}");
    assert_eq!(lines[2], "2 hosts: 1 failed, 1 running");
    lab.reported("stop", &["--hosts", &hosts, "good", "better"], 0);
    soon("all have ended", || lab.processes().is_empty().then_some(()));
}

#[test]
fn a_worker_that_ends_at_once_is_told_with_its_last_words_and_leaves_no_secret() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, url, _) = coordinator(&lab);
    let wrong = lab.write("wrong", "not-the-secret-of-this-lab");
    let flags = ["--coordinator", &url, "--token-file", &wrong].map(str::to_owned);
    let failed = lab.reported("start", &start(&hosts, &flags, &[]), 1);
    assert_eq!(failed[0]["error"]["cause"], "ended", "{failed:?}");
    assert!(
        failed[0]["error"]["message"].as_str().is_some_and(|text| text.contains("token")),
        "{failed:?}"
    );
    assert_eq!(below(&lab.worker_folder("node1")), ["lock", "made", "worker.log"]);
    lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(below(&lab.home("node1")), [""; 0]);
    assert!(lab.processes().is_empty(), "{:?}", lab.processes());
}

#[test]
fn a_copy_that_is_cut_off_leaves_nothing() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1", "node2"]);
    // The connection breaks off in the middle of the worker, or the worker is another one when it arrives.
    lab.door("node1", r#"cd "$home"; head -c 300000 | HOME=$home sh -c "$2"; exit $?"#);
    lab.door("node2", r#"cd "$home"; tr '\000' '\001' | HOME=$home sh -c "$2"; exit $?"#);
    let (_coordinator, _, flags) = coordinator(&lab);
    let failed = lab.reported("start", &start(&hosts, &flags, &[]), 1);
    for report in &failed {
        assert_eq!(report["error"]["cause"], "damaged", "{report}");
    }
    assert_eq!(below(&lab.home("node1")), [""; 0]);
    assert_eq!(below(&lab.home("node2")), [""; 0]);
}

#[test]
fn a_full_disk_leaves_nothing_half_copied_and_the_old_worker_at_work() {
    let lab = Lab::new();
    lab.hosts(&["small", "full"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    let worker = fs::metadata(jlpns_worker([""; 0]).get_program()).expect("the worker").len();
    let (Some(small), Some(full)) = (Tmpfs::mount(worker / 2), Tmpfs::mount(worker + worker / 2))
    else {
        println!("skipped: this user may not mount a small disk");
        return;
    };
    let host = |name: &str, disk: &Tmpfs| {
        format!("[[host]]\nname = '{name}'\npath = '{}/jlpns'\n", disk.path().display())
    };
    let hosts = lab.write("disks", &(host("small", &small) + &host("full", &full)));
    let flags = start(&hosts, &flags, &[]);
    let reports = lab.reported("start", &flags, 1);
    assert_eq!(
        (&reports[0]["error"]["cause"], &reports[1]["state"]),
        (&"disk-full".into(), &"started".into())
    );
    assert_eq!(below(small.path()), [""; 0]);
    let old = pid(&reports[1]);

    // From here on the hosts believe that there is room, so it ends in the middle of the copy.
    for host in ["small", "full"] {
        lab.tool(host, "df", "echo Filesystem; echo disk 9999999 0 9999999 0% /");
    }
    full.fill();
    let before = below(full.path());
    let build = another_build(&lab);
    let with_build = [&flags[..2], &["--worker-binary", &build], &flags[2..]].concat();
    let reports = lab.reported("start", &with_build, 1);
    for report in &reports {
        assert_eq!(report["error"]["cause"], "disk-full", "{report}");
    }
    assert_eq!(below(small.path()), [""; 0]);
    assert_eq!(below(full.path()), before);
    let status = lab.reported("status", &["--hosts", &hosts, "full"], 0);
    assert_eq!((&status[0]["state"], pid(&status[0])), (&"running".into(), old));
    // A full disk does not keep a worker from being stopped.
    lab.reported("stop", &["--hosts", &hosts, "full"], 0);
    full.clear();
    assert_eq!(below(full.path()), [""; 0]);
}
