//! The commands of docs/lab.md, all of them, in the order of the page, on machines that are other homes of this one.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use jlpns_tests::cluster::LIMIT;
use jlpns_tests::lab::Lab;
use jlpns_tests::{bare, jlpns, jlpns_worker, run};

/// What a shell is given on the page.
fn commands(page: &str) -> String {
    let mut script = String::new();
    let mut is_command = false;
    for line in page.lines() {
        match line {
            "```sh" => is_command = true,
            "```" => is_command = false,
            line if is_command => script += &format!("{line}\n"),
            _ => {}
        }
    }
    script
}

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// The file that `deploy/dist` makes, of the programs that are tested.
fn packed(lab: &Lab) {
    let bin = lab.path("jlpns-0.0.0-here/bin");
    fs::create_dir_all(&bin).expect("a folder");
    for program in [jlpns([""; 0]), jlpns_worker([""; 0])] {
        let path = Path::new(program.get_program());
        let name = path.file_name().expect("a name");
        std::os::unix::fs::symlink(path, bin.join(name)).expect("a link");
    }
    let archive = lab.path("jlpns-0.0.0-here.tar.gz");
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(archive).arg("-C").arg(lab.path(".")).arg("jlpns-0.0.0-here");
    assert!(tar.status().expect("tar is there").success());
    fs::remove_dir_all(lab.path("jlpns-0.0.0-here")).expect("removed");
}

#[test]
fn a_lab_is_set_up_by_the_commands_of_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/lab.md");
    let mut script = commands(&fs::read_to_string(page).expect("the page"));
    let port = free_port().to_string();
    for (of_the_page, here) in [
        // A machine always has a certificate for this name.
        (" --name solver.lab.example", ""),
        ("solver.lab.example", "localhost"),
        ("7070", &port),
        // A smaller board, which waits for the last machine so that it is not over before; machines that share their
        // memory, and people who may be logged in.
        ("connect4:7x6 ", "connect4:5x5 --await-workers 3 "),
        ("connect4:6x5 --machines 30x4", "connect4:4x4 --machines 30x4 --table-memory 64MiB"),
        ("--memory 50%", "--memory 64MiB --slots 1"),
        (" --only-when-idle", " --only-when-idle=false"),
    ] {
        assert!(script.contains(of_the_page), "{of_the_page}");
        script = script.replace(of_the_page, here);
    }
    script = script.replace(" --only-when-idle=false", "");
    let lab = Lab::new();
    lab.hosts(&["node1", "node2", "node3"]);
    packed(&lab);
    // The lab's stand-in for ssh is found before the system's.
    let script = format!(
        "set -euo pipefail\ncd '{lab}'\nexport PATH='{lab}':$PATH HOME='{lab}'\n{script}",
        lab = lab.path("").display()
    );
    let mut bash = bare("bash");
    bash.args(["-c", &script]);
    let ended = run(&mut bash, LIMIT);
    let log = fs::read_to_string(lab.path("serve.log")).unwrap_or_default();
    assert_eq!(ended.code, Some(0), "{ended:?}\n{log}");
    let answer = fs::read_to_string(lab.path("answer")).expect("an answer");
    assert!(answer.contains("the value is draw"), "{answer}");
    for words in [
        "times one machine",
        "lab/token",
        "node3",
        "started",
        "replaced",
        "slots busy",
        "proved: connect4:5x5",
    ] {
        assert!(ended.stdout.contains(words), "no '{words}' in {ended:?}");
    }
    let left = lab.processes();
    assert!(left.is_empty(), "{left:?}");
}
