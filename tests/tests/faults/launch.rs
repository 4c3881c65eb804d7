//! Workers that are launched over OpenSSH on hosts of which one is fine, one refuses the key, and one disappears and comes
//! back.

use jlpns_tests::cluster::{LIMIT, path, serve_at};
use jlpns_tests::faults::namespace::Namespace;
use jlpns_tests::faults::sshd::{Keyring, LetsIn};
use jlpns_tests::faults::watch::soon;
use jlpns_tests::lab::{below, processes_in};
use jlpns_tests::{jlpns, run};
use serde_json::Value;

const TOKEN: &str = "a-secret-of-three-hosts-0123456789";

/// The hosts that a command of `jlpns launch` tells of, which must end with this code.
fn reported(keyring: &Keyring, hosts: &str, command: &str, args: &[&str], code: i32) -> Vec<Value> {
    let ssh = keyring.ssh();
    let first = ["launch", command, "--hosts", hosts, "--ssh", &ssh, "--connect-timeout", "3"];
    let ended = run(jlpns(first).args(["--output", "json"]).args(args), LIMIT);
    assert_eq!(ended.code, Some(code), "{command} {args:?}: {ended:?}");
    assert!(!ended.stderr.contains(TOKEN) && !ended.stdout.contains(TOKEN), "{ended:?}");
    ended.json()["hosts"].as_array().expect("hosts").clone()
}

/// What is told of each host: its state, or why it failed.
fn words(reports: &[Value]) -> Vec<&str> {
    reports
        .iter()
        .filter_map(|report| report["error"]["cause"].as_str().or(report["state"].as_str()))
        .collect()
}

#[test]
#[ignore = "it breaks networks, and takes long"]
fn workers_are_launched_over_ssh_come_back_solve_and_leave_nothing() {
    let namespaces = [Namespace::new(21), Namespace::new(22), Namespace::new(23)];
    let ([Some(fine), Some(stranger), Some(leaves)], Some(keyring)) = (namespaces, Keyring::new())
    else {
        println!("skipped: no network namespaces for this user, or no sshd");
        return;
    };
    let servers = [
        keyring.serve(&fine, 22, LetsIn::TheUser),
        keyring.serve(&stranger, 22, LetsIn::Another),
        keyring.serve(&leaves, 22, LetsIn::TheUser),
        keyring.serve(&fine, 2222, LetsIn::Passwords),
    ];
    servers.iter().for_each(|server| keyring.know(server));
    let unknown = keyring.serve(&fine, 2223, LetsIn::TheUser);

    let lab = tempfile::tempdir().expect("a folder");
    let homes = lab.path().join("homes");
    std::fs::create_dir(&homes).expect("a folder");
    let host = |address, port: u16, name: &str| {
        format!(
            "[[host]]\nname = '{address}'\nport = {port}\npath = '{}/{name}'\n",
            homes.display()
        )
    };
    let addresses = servers.each_ref().map(|server| server.address());
    let list = [
        host(addresses[0], 22, "fine"),
        host(addresses[1], 22, "stranger"),
        host(addresses[2], 22, "leaves"),
        host(addresses[3], 2222, "asks"),
        host(unknown.address(), 2223, "unknown"),
    ];
    let hosts = path(lab.path(), "hosts");
    std::fs::write(&hosts, list.concat()).expect("it is written");
    let token = path(lab.path(), "token");
    std::fs::write(&token, TOKEN).expect("it is written");

    let data = path(lab.path(), "journal");
    let (coordinator, listens) = serve_at(
        "0.0.0.0:0",
        &[
            "connect4:5x5",
            "--job-nodes",
            "20000",
            "--sub-search",
            "pn2",
            "--knowledge",
            "false",
            "--confirm",
            "none",
            "--lease",
            "2",
            "--data",
            &data,
            "--token-file",
            &token,
        ],
    );
    let (_, port) = listens.rsplit_once(':').expect("a port");
    let url = format!("http://{}:{port}", fine.outside());
    let status = || {
        let ended =
            run(&mut jlpns(["status", &url, "--token-file", &token, "--output", "json"]), LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.json()
    };
    let works = |what: &str, count: usize, more_than: u64| {
        soon(what, || {
            let status = status();
            let workers = status["workers"].as_array().map_or(0, Vec::len);
            (workers == count && status["jobs"].as_u64() > Some(more_than)).then_some(status)
        })
    };

    let doctor = reported(&keyring, &hosts, "doctor", &["--coordinator", &url], 1);
    let expected = ["fine", "key-refused", "fine", "password-wanted", "unknown-host-key"];
    assert_eq!(words(&doctor), expected, "{doctor:?}");

    // What else runs on this machine does not hold them up.
    let start =
        ["--coordinator", &url, "--token-file", &token, "--nice", "0", "--scheduling", "normal"];
    let start = [&start[..], &["--", "--slots=1", "--memory=64MiB"]].concat();
    let started = reported(&keyring, &hosts, "start", &start, 1);
    let expected = ["started", "key-refused", "started", "password-wanted", "unknown-host-key"];
    assert_eq!(words(&started), expected, "{started:?}");
    assert!(!processes_in(&homes).iter().any(|process| process.words.contains(TOKEN)));
    let begun = works("two workers have begun", 2, 10);

    leaves.set_drops(true).expect("iptables has worked before");
    soon("packets are dropped", || (leaves.dropped() > 0).then_some(()));
    soon("the coordinator has lost it", || {
        let status = status();
        let is_less = status["workers"].as_array().is_some_and(|workers| workers.len() < 2);
        let has_expired = status["leases_expired"].as_u64() > begun["leases_expired"].as_u64();
        (is_less || has_expired).then_some(())
    });
    let away = reported(&keyring, &hosts, "status", &[], 1);
    let expected = ["running", "key-refused", "unreachable", "password-wanted", "unknown-host-key"];
    assert_eq!(words(&away), expected, "{away:?}");

    leaves.set_drops(false).expect("iptables has worked before");
    let back = reported(&keyring, &hosts, "start", &start, 1);
    let expected =
        ["left alone", "key-refused", "left alone", "password-wanted", "unknown-host-key"];
    assert_eq!(words(&back), expected, "{back:?}");
    assert_eq!((&back[0]["pid"], &back[2]["pid"]), (&started[0]["pid"], &started[2]["pid"]));
    let jobs = begun["jobs"].as_u64().unwrap_or(0);
    works("both work again", 2, jobs + 10);

    // One is stopped while it searches, and started again.
    let good = addresses.map(|address| address.to_string());
    let stopped = reported(&keyring, &hosts, "stop", &[&good[2]], 0);
    assert_eq!(words(&stopped), ["stopped"], "{stopped:?}");
    assert!(!homes.join("leaves").exists(), "{:?}", below(&homes));
    assert_eq!(processes_in(&homes.join("leaves")).len(), 0);
    let again = reported(&keyring, &hosts, "start", &start, 1);
    assert_eq!(words(&again)[..3], ["left alone", "key-refused", "started"], "{again:?}");

    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["value"], "draw");
    let stopped = reported(&keyring, &hosts, "stop", &[], 1);
    for (index, word) in words(&stopped).into_iter().enumerate() {
        // Those that heard that the solve is over may have ended before.
        let is_good = ["stopped", "not running"].contains(&word);
        assert_eq!(is_good, [0, 2].contains(&index), "{stopped:?}");
    }
    assert_eq!(below(&homes), [""; 0]);
    let left = processes_in(lab.path());
    assert!(left.is_empty(), "{left:?}");
}
