//! `jlpns launch` with a stand-in for ssh that runs the commands in other homes of this machine: what is copied, started,
//! left alone, replaced and removed, and what is said where that does not work.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jlpns_tests::cluster::{LIMIT, serve, until};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::faults::tmpfs::Tmpfs;
use jlpns_tests::faults::watch::soon;
use jlpns_tests::lab::{Lab, below};
use jlpns_tests::terminal::InTerminal;
use jlpns_tests::{Running, jlpns, jlpns_worker, run};
use serde_json::Value;

/// The shared secret of these tests.
const TOKEN: &str = "a-secret-of-the-lab-0123456789";

/// A solve that takes long, and what its workers are launched with.
fn coordinator(lab: &Lab) -> (Running, String, Vec<String>) {
    let token = lab.write("token", TOKEN);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("its mode is set");
    let (coordinator, url) =
        serve(&["connect4:8x7", "--job-nodes", "2000", "--token-file", &token]);
    let flags = ["--coordinator", &url, "--token-file", &token].map(str::to_owned);
    (coordinator, url.clone(), flags.to_vec())
}

/// The arguments of `launch start` for hosts, with flags that keep its workers small; what else runs on this machine does
/// not hold them up.
fn start<'a>(hosts: &'a str, flags: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    started_as(hosts, flags, &[&["--nice", "0", "--scheduling", "normal"], more].concat())
}

/// The same without a word on how the workers are scheduled.
fn started_as<'a>(hosts: &'a str, flags: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let flags = flags.iter().map(String::as_str);
    let small = ["--", "--slots=1", "--memory=64MiB"];
    ["--hosts", hosts].into_iter().chain(flags).chain(more.iter().copied()).chain(small).collect()
}

/// Another build of the worker: a program is read from its beginning, so more at its end changes nothing.
fn another_build(lab: &Lab) -> String {
    let path = lab.path("another-worker");
    let worker = jlpns_worker([""; 0]);
    fs::copy(worker.get_program(), &path).expect("it is copied");
    let mut file = OpenOptions::new().append(true).open(&path).expect("it is opened");
    file.write_all(b"another build").expect("it is written");
    path.display().to_string()
}

fn pid(report: &Value) -> u32 {
    let pid = report["pid"].as_u64().unwrap_or_else(|| panic!("no pid in {report}"));
    u32::try_from(pid).expect("a process id")
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/exe")).read_link().is_ok()
}

/// A field of `/proc/PID/stat`, as its manual page counts them.
fn stat(pid: u32, field: usize) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is alive");
    let (_, rest) = stat.rsplit_once(") ").expect("a name in parentheses");
    rest.split(' ').nth(field - 3).expect("a field").to_owned()
}

fn mode(path: PathBuf) -> u32 {
    fs::metadata(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .permissions()
        .mode()
        & 0o777
}

#[test]
fn a_worker_is_started_left_alone_replaced_and_removed() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (coordinator, _, flags) = coordinator(&lab);
    let flags = start(&hosts, &flags, &[]);

    let started = lab.reported("start", &flags, 0);
    assert_eq!((&started[0]["state"], &started[0]["connected"]), (&"started".into(), &true.into()));
    assert_eq!((&started[0]["slots"], &started[0]["under"]), (&1.into(), &"detached".into()));
    let first = pid(&started[0]);
    let folder = lab.worker_folder("node1");
    let files = below(&folder);
    let expected = [
        "credentials",
        "credentials/token",
        "jlpns-worker",
        "launched",
        "lock",
        "made",
        "run",
        "worker.log",
        "worker.pid",
    ];
    assert_eq!(files, expected);
    assert_eq!(fs::read_to_string(folder.join("credentials/token")).expect("the token"), TOKEN);
    for (file, expected) in [
        ("", 0o700),
        ("credentials", 0o700),
        ("credentials/token", 0o600),
        ("launched", 0o600),
        ("worker.log", 0o600),
    ] {
        assert_eq!(mode(folder.join(file)), expected, "{file}");
    }
    let words = lab.processes().into_iter().map(|process| process.words).collect::<Vec<_>>();
    assert!(!words.is_empty() && !words.iter().any(|words| words.contains(TOKEN)), "{words:?}");

    let again = lab.reported("start", &flags, 0);
    assert_eq!((&again[0]["state"], pid(&again[0])), (&"left alone".into(), first));
    let status = lab.reported("status", &["--hosts", &hosts], 0);
    assert_eq!((&status[0]["state"], pid(&status[0])), (&"running".into(), first));
    for key in ["build", "since", "slots", "version", "under"] {
        assert_eq!(status[0][key], started[0][key], "{key}");
    }

    let build = another_build(&lab);
    let with_build = [&flags[..2], &["--worker-binary", &build], &flags[2..]].concat();
    let replaced = lab.reported("start", &with_build, 0);
    assert_eq!(
        (&replaced[0]["state"], &replaced[0]["connected"]),
        (&"replaced".into(), &true.into())
    );
    assert_ne!(replaced[0]["build"], started[0]["build"]);
    let second = pid(&replaced[0]);
    assert!(!is_alive(first) && is_alive(second));
    let log = fs::read_to_string(folder.join("worker.log")).expect("a log");
    assert!(log.contains("draining:") && !log.contains(TOKEN), "{log}");

    let with_flags = [&with_build[..], &["--name=left"]].concat();
    let mut launch = lab.launch("start", &with_flags);
    let replaced = run(&mut launch, LIMIT);
    assert_eq!(
        (replaced.code, &replaced.json()["hosts"][0]["state"]),
        (Some(0), &"replaced".into()),
        "{replaced:?}"
    );
    assert!(!replaced.stderr.contains("copying the worker"), "it is there: {replaced:?}");
    let third = pid(&replaced.json()["hosts"][0]);
    assert!(!is_alive(second) && is_alive(third));

    let logs = lab.reported("logs", &["--hosts", &hosts, "-n", "2"], 0);
    let lines = logs[0]["log"].as_array().expect("lines");
    assert_eq!(lines.len(), 2, "{logs:?}");
    assert!(
        lines.iter().any(|line| line.as_str().is_some_and(|line| line.contains("connected"))),
        "{lines:?}"
    );

    let drained = lab.reported("drain", &["--hosts", &hosts], 0);
    assert_eq!((&drained[0]["state"], pid(&drained[0])), (&"drained".into(), third));
    assert!(!is_alive(third) && folder.join("jlpns-worker").exists());
    let status = lab.reported("status", &["--hosts", &hosts], 0);
    assert_eq!((&status[0]["state"], status[0].get("pid")), (&"not running".into(), None));

    let mut launch = lab.launch("start", &with_flags);
    let back = run(&mut launch, LIMIT);
    assert_eq!(
        (back.code, &back.json()["hosts"][0]["state"]),
        (Some(0), &"started".into()),
        "{back:?}"
    );
    assert!(!back.stderr.contains("copying the worker"), "it is there: {back:?}");

    let stopped = lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(stopped[0]["state"], "stopped");
    assert_eq!(below(&lab.home("node1")), [""; 0]);
    assert!(lab.processes().is_empty(), "{:?}", lab.processes());
    let again = lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(again[0]["state"], "not running");
    drop(coordinator);
}

#[test]
fn a_worker_steps_back_behind_others_if_nothing_else_is_said() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    // Its nice value, and its class: 5 is the idle one.
    let scheduled = |pid| (stat(pid, 19), stat(pid, 41));
    let idle = pid(&lab.reported("start", &started_as(&hosts, &flags, &[]), 0)[0]);
    assert_eq!(scheduled(idle), ("19".to_owned(), "5".to_owned()));
    let other = pid(&lab.reported("start", &start(&hosts, &flags, &[]), 0)[0]);
    assert!(!is_alive(idle));
    assert_eq!(scheduled(other), scheduled(std::process::id()));
}

#[test]
fn the_program_and_the_log_can_be_kept() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    lab.reported("start", &start(&hosts, &flags, &[]), 0);
    lab.reported("stop", &["--hosts", &hosts, "--keep"], 0);
    assert_eq!(below(&lab.worker_folder("node1")), ["jlpns-worker", "lock", "made", "worker.log"]);
    lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(below(&lab.home("node1")), [""; 0]);
}

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
fn a_worker_that_comes_when_the_solve_is_over_has_not_failed() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let token = lab.write("token", TOKEN);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("its mode is set");
    let args = ["connect4:4x4", "--token-file", &token, "--linger", "604800"];
    let (_coordinator, url) = serve(&args);
    let flags = ["--coordinator", &url, "--token-file", &token].map(str::to_owned);
    let first = run(&mut jlpns_worker(&flags), LIMIT);
    assert_eq!(first.code, Some(0), "{first:?}");
    let late = lab.reported("start", &start(&hosts, &flags, &[]), 0);
    assert_eq!(late[0]["state"], "over", "{late:?}");
    assert_eq!(below(&lab.worker_folder("node1")), ["lock", "made", "worker.log"]);
    lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(below(&lab.home("node1")), [""; 0]);
}

#[test]
fn a_worker_that_only_systemd_may_start_is_not_started_without_it_and_leaves_nothing() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    let failed = lab.reported("start", &start(&hosts, &flags, &["--systemd", "always"]), 1);
    assert_eq!(failed[0]["error"]["cause"], "no-systemd", "{failed:?}");
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

#[test]
fn the_doctor_names_what_is_wrong_and_what_would_help() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["fine", "late", "arm", "locked", "full"]);
    lab.tool("late", "date", "echo $(($(/bin/date +%s) - 3 * 3600))");
    lab.tool(
        "arm",
        "uname",
        "if [ \"$1\" = -m ]; then echo aarch64; else exec /bin/uname \"$@\"; fi",
    );
    lab.tool("full", "df", "echo Filesystem; echo disk 1000 1000 0 100% /");
    lab.door("locked", "echo 'locked: Permission denied (publickey).' >&2; exit 255");
    let (coordinator, url, _) = coordinator(&lab);
    let reports = lab.reported("doctor", &["--hosts", &hosts, "--coordinator", &url], 1);
    let states: Vec<&str> = reports.iter().filter_map(|report| report["state"].as_str()).collect();
    assert_eq!(states, ["fine", "problems", "problems", "failed", "problems"], "{reports:?}");
    for (report, words) in reports.iter().zip([
        None,
        Some("its clock is 3 hours behind"),
        Some("its processor is aarch64"),
        None,
        Some("there is no room for the worker"),
    ]) {
        let Some(words) = words else { continue };
        let found = report["findings"].as_array().expect("findings");
        let is_it =
            |finding: &Value| finding["message"].as_str().is_some_and(|text| text.contains(words));
        assert!(
            found.iter().any(|finding| is_it(finding) && finding["is_problem"] == true),
            "{report}"
        );
    }
    assert_eq!(reports[3]["error"]["cause"], "key-refused");
    drop(coordinator);
    let reports = lab.reported("doctor", &["--hosts", &hosts, "--coordinator", &url, "fine"], 1);
    let text = reports[0]["findings"].to_string();
    assert!(
        text.contains("does not reach the coordinator") && text.contains("Connection refused"),
        "{text}"
    );
    // Nothing of it is left anywhere.
    for host in ["fine", "late", "arm", "full"] {
        assert_eq!(below(&lab.home(host)), [""; 0], "{host}");
    }
}

#[test]
fn hosts_come_from_stdin_and_from_slurm_too() {
    let lab = Lab::new();
    lab.hosts(&["node1", "node2"]);
    let names = |ended: &jlpns_tests::Ended| -> Vec<String> {
        let hosts = ended.json()["hosts"].as_array().expect("hosts").clone();
        hosts.iter().filter_map(|host| host["host"].as_str().map(str::to_owned)).collect()
    };
    let mut launch = lab.launch("status", &["--hosts", "-"]);
    let list = lab.write("list", "node2\n# no more\n");
    let ended = run(launch.stdin(fs::File::open(list).expect("the list")), LIMIT);
    assert_eq!((ended.code, names(&ended)), (Some(0), vec!["node2".to_owned()]), "{ended:?}");

    let mut launch = lab.launch("status", &["--hosts", "slurm"]);
    let ended = run(launch.env_remove("SLURM_JOB_NODELIST"), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("SLURM_JOB_NODELIST is not set"), "{ended:?}");
    lab.tool("slurm", "scontrol", "echo \"$*\" >&2; echo node1; echo node2");
    let path =
        format!("{}:{}", lab.arg("homes/slurm.bin"), std::env::var("PATH").unwrap_or_default());
    let mut launch = lab.launch("status", &["--hosts", "slurm"]);
    let ended = run(launch.env("SLURM_JOB_NODELIST", "node[1-2]").env("PATH", path), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(names(&ended), ["node1", "node2"]);
}

#[test]
fn bad_input_is_a_sentence_and_no_host_hears_of_it() {
    let lab = Lab::new();
    lab.hosts(&["node1"]);
    let (_coordinator, url, _) = coordinator(&lab);
    let refused = |list: &str, args: &[&str], words: &str| {
        let hosts = lab.write("list", list);
        let ended =
            lab.launched("start", &[&["--hosts", &hosts, "--coordinator", &url], args].concat());
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{list:?} {args:?}: {ended:?}"
        );
        assert!(ended.stderr.contains(words), "{list:?} {args:?}: {ended:?}");
    };
    refused("", &[], "names no host");
    refused("node1\nnode2\nnode1\n", &[], "names node1 twice, in lines 1 and 3");
    refused(
        "[[host]]\nname = 'node1'\nslot = 2",
        &[],
        "unknown key 'slot' of the host 'node1'; 'slots' is one",
    );
    refused("-oProxyCommand=touch /tmp/x\n", &[], "begins with '-'");
    refused("node1;id\n", &[], "holds ';'");
    refused("node1\n", &["node7"], "there is no host 'node7' among them; 'node1' is one");
    refused("node1\n", &["--", "--slots=0"], "the worker on node1 would not take its flags");
    refused(
        "[[host]]\nname = 'node1'\nmemory = 'much'",
        &[],
        "the worker on node1 would not take its flags",
    );
    refused(
        "node1\n",
        &["--", "--help"],
        "a worker that prints something and ends is not launched",
    );
    refused("node1\n", &["--nice", "20"], "20 is not in 0..=19");
    refused("node1\n", &["--scheduling", "lazy"], "write one of idle, normal");
    refused("node1\n", &["--token-file", "/no/such/token"], "/no/such/token cannot be read");
    refused("node1\n", &["--worker-binary", "/no/such/worker"], "/no/such/worker cannot be read");
    refused("node1\n", &["--worker-binary", &lab.arg("token")], "is no program for Linux");
    let ended = lab.launched("status", &["--hosts", "/no/such/hosts"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("the hosts file /no/such/hosts cannot be read"), "{ended:?}");
    assert_eq!(lab.calls(), 0);
}

#[test]
fn without_ssh_each_host_says_so() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let ended = run(&mut jlpns(["launch", "status", "--hosts", &hosts, "--ssh", " "]), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("name a program, such as ssh"), "{ended:?}");
    let mut launch = jlpns(["launch", "status", "--hosts", &hosts, "--output", "json"]);
    let ended = run(launch.args(["--ssh", "/no/such/ssh -F none"]), LIMIT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.json()["hosts"][0]["error"]["cause"], "no-ssh");
}

#[test]
fn on_a_terminal_each_host_has_a_row_and_none_can_ask_for_a_password() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1", "asks", "waits"]);
    // What asks at the terminal of whoever launches would wait for ever.
    let asks = "printf 'Password: ' >/dev/tty && read word </dev/tty; \
                echo 'Permission denied (publickey,password).' >&2; exit 255";
    lab.door("asks", asks);
    lab.door("waits", &format!("until [ -e {} ]; do /bin/sleep 0.05; done", lab.arg("go")));
    let ssh = lab.arg("ssh");
    let status = jlpns(["launch", "status", "--ssh", &ssh, "--hosts", &hosts]);
    let mut terminal = InTerminal::start(&status, (100, 24), &[]);
    let shown = terminal.wait_for(LIMIT, "2 of 3 hosts done, 1 of them failed");
    assert!(!shown.contains("Password"), "{shown}");
    for row in ["node1 not running", "asks  failed: it takes none of your keys", "waits connecting"]
    {
        assert!(shown.contains(row), "'{row}' is not in\n{shown}");
    }
    lab.write("go", "");
    assert_eq!(terminal.end(LIMIT), 1);
    let last = terminal.screen().contents();
    assert!(last.starts_with("node1  not running"), "{last}");
    assert!(last.contains("3 hosts: 1 failed, 2 not running"), "{last}");
    assert!(!last.contains("hosts done") && !last.contains("connecting"), "{last}");
    assert!(terminal.is_as_before());
}
