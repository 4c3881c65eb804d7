//! A coordinator that is frozen and cut off from its workers, and another one on another machine that goes on with its
//! solve.

use std::fs;
use std::path::Path;

use jlpns_tests::cluster::{LIMIT, path, serve, until};
use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::namespace::Namespace;
use jlpns_tests::faults::stage::hears;
use jlpns_tests::{Running, jlpns, jlpns_worker};

const SPEC: &str = "connect4:5x5";

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_coordinator_that_is_frozen_and_cut_off_is_taken_over_and_stops_when_it_comes_back() {
    let Some(namespace) = Namespace::new(9) else {
        println!("skipped: no network namespaces with iptables and tc for this user");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, file) = (path(folder.path(), "data"), path(folder.path(), "coordinator"));
    let solve = [SPEC, "--job-nodes", "3000", "--sub-search", "pn2", "--knowledge", "false"];
    let kept = ["--confirm", "none", "--data", &data, "--listen-file", &file];
    let listen = format!("{}:0", namespace.address());
    let args = [&["serve", "--insecure", "--listen", &listen][..], &solve, &kept].concat();
    let cut_off = Running::start(&mut namespace.enter(&jlpns(args)));
    let args = ["--coordinator-file", &file, "--name", "one", "--slots", "1", "--memory", "64MiB"];
    let worker = Running::start(&mut jlpns_worker(args));
    println!("{}", hears(&worker, "connected: solving"));
    let old = fs::read_to_string(&file).expect("it says where it is");
    until(old.trim(), |status| status["durable_records"].as_u64() > Some(10));
    assert!(cut_off.freeze());
    namespace.set_drops(true).expect("iptables has worked before");
    let (next, _) = serve(&[&solve[..], &kept, &["--take-over"]].concat());
    let new = fs::read_to_string(&file).expect("it says where it is");
    assert_ne!(new, old);
    println!("{}", hears(&worker, "connected again"));
    namespace.set_drops(false).expect("it was on");
    cut_off.thaw();
    let stopped = cut_off.end(LIMIT);
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    assert!(stopped.stderr.contains("was taken over (generation 2: "), "{stopped:?}");
    let ended = next.end(LIMIT);
    assert_eq!((ended.code, &ended.json()["value"]), (Some(0), &"draw".into()), "{ended:?}");
    assert_eq!(worker.end(LIMIT).code, Some(0));
    audit(Path::new(&data), SPEC);
}
