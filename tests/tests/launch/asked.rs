//! What launch is asked for: hosts from several sources, and input that no host hears of.

use std::fs;

use jlpns_tests::cluster::LIMIT;
use jlpns_tests::lab::Lab;
use jlpns_tests::{jlpns, run};

use crate::coordinator;

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
