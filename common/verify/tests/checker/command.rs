//! The program: what it prints, and its exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::naive::{Certificate, Connect4, true_certificate};

fn verify(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jlpns-verify")).args(arguments).output().unwrap()
}

fn written(directory: &Path, file: &Certificate) -> String {
    let path = directory.join("file");
    fs::write(&path, file.bytes()).unwrap();
    path.to_str().unwrap().into()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_proof_is_one_sentence_or_one_object() {
    let directory = tempfile::tempdir().unwrap();
    let file = true_certificate(&Connect4::new(4, 4));
    let path = written(directory.path(), &file);
    let done = verify(&[&path, "--threads", "2", "--memory", "16MiB"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stderr.is_empty());
    let said = text(&done.stdout);
    let begin = format!(
        "proved: connect4:4x4 is a draw (>=draw and <=draw), {} positions in ",
        file.positions()
    );
    assert!(said.starts_with(&begin), "{said}");
    let sum = Command::new("sha256sum").arg(&path).output().unwrap().stdout;
    let sum = text(&sum).split(' ').next().unwrap().to_owned();
    assert!(said.ends_with(&format!(" s, sha256 {sum}\n")), "{said}");

    let done = verify(&[&path, "--output", "json"]);
    assert_eq!(done.status.code(), Some(0));
    let object: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(object["seconds"].is_f64());
    let expected = serde_json::json!({
        "proved": true, "spec": "connect4:4x4", "moves": "", "claim": "=draw",
        "positions": file.positions(), "seconds": object["seconds"], "sha256": sum,
    });
    assert_eq!(object, expected);

    let done = Command::new("sh")
        .args(["-c", "exec \"$1\" - <\"$2\"", "sh", env!("CARGO_BIN_EXE_jlpns-verify"), &path])
        .output();
    assert_eq!(done.unwrap().status.code(), Some(0));
}

#[test]
fn what_fails_has_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = true_certificate(&Connect4::new(4, 4));
    file.claims[1].1[0][0] = 17;
    let path = written(directory.path(), &file);
    let done = verify(&[&path]);
    assert_eq!(done.status.code(), Some(1));
    assert!(done.stdout.is_empty());
    let said = text(&done.stderr);
    assert!(
        said.starts_with(
            "error: claim <=draw fails in layer 1, position 1: number 17 is no legal move's"
        ),
        "{said}"
    );
    assert!(!said.contains("proved"));

    let done = verify(&[&path, "--output", "json"]);
    assert_eq!(done.status.code(), Some(1));
    let object: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(object["proved"], false);
    assert!(
        object["error"].as_str().unwrap().starts_with("claim <=draw fails in layer 1"),
        "{object}"
    );
}

#[test]
fn what_cannot_be_checked_has_exit_code_2() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("text");
    fs::write(&path, "proved: everything\n").unwrap();
    let path = path.to_str().unwrap();
    for output in ["text", "json"] {
        for path in [path, "/no/such/file", directory.path().to_str().unwrap()] {
            let done = verify(&[path, "--output", output]);
            assert_eq!(done.status.code(), Some(2), "{path}");
            assert!(
                !text(&done.stdout).contains("proved\":true")
                    && !text(&done.stdout).contains("proved:")
            );
        }
    }
    for wrong in [
        &["--memory", "1"][..],
        &["--memory", "99999999999999GiB"],
        &["--threads", "0"],
        &["--threads", "1025"],
        &["--output", "xml"],
    ] {
        let done = verify(&[&[path], wrong].concat());
        assert_eq!(done.status.code(), Some(2), "{wrong:?}");
        assert!(done.stdout.is_empty());
    }
    let path = written(directory.path(), &true_certificate(&Connect4::new(4, 1)));
    if Path::new("/dev/full").exists() {
        let line = format!("{} {path} >/dev/full", env!("CARGO_BIN_EXE_jlpns-verify"));
        assert_eq!(
            Command::new("sh").args(["-c", &line]).status().unwrap().code(),
            Some(2),
            "nobody was told"
        );
    }
}

#[test]
fn the_plain_form_takes_its_name_when_all_is_proved() {
    let directory = tempfile::tempdir().unwrap();
    let plain = directory.path().join("plain");
    let plain = plain.to_str().unwrap();
    fs::write(plain, "something else").unwrap();
    let mut file = true_certificate(&Connect4::new(4, 4));
    for number in [17, 77] {
        file.claims[1].1[0][0] = number;
        let path = written(directory.path(), &file);
        for plain in [plain, &path, "/dev/null"] {
            let done = verify(&[&path, "--plain", plain]);
            let said = text(&done.stderr);
            assert_eq!(done.status.code(), Some(1), "{said}");
            let why =
                format!("error: claim <=draw fails in layer 1, position 1: number {number} is");
            assert!(said.starts_with(&why), "{said}");
        }
        assert_eq!(fs::read(&path).unwrap(), file.bytes(), "it is still there");
        assert_eq!(fs::read_to_string(plain).unwrap(), "something else");
    }
    let path = written(directory.path(), &true_certificate(&Connect4::new(4, 4)));
    assert_eq!(verify(&[&path, "--plain", plain]).status.code(), Some(0));
    assert!(fs::read_to_string(plain).unwrap().ends_with("end\n"));
    let left = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 2, "the certificate and its plain form");
    let done = verify(&[&path, "--plain", "/no/such/folder/plain"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("cannot write /no/such/folder/plain"));
}
