//! Certificates by the real programs: made at the end of a solve, checked, damaged.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use jlpns_tests::cluster::{CERTIFICATE_LIMIT as LIMIT, path, solved_with_certificate};
use jlpns_tests::{jlpns, run};

#[test]
fn every_solve_of_a_small_board_can_be_certified_and_checked() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = path(directory.path(), "certificate");
    for (spec, more, claim) in [
        ("connect4:5x5", &[][..], "=draw"),
        ("connect4:6x4", &["--slots", "3"], "<=loss"),
        ("connect4:5x5", &["--goal", ">=win"], "<=draw"),
        ("connect4:5x4", &["--moves", "3", "--sub-search", "pn2"], "=draw"),
        ("connect4:4x4", &["--knowledge", "false", "--sub-search", "dfpn"], "=draw"),
        ("connect4:6x4", &["--minimize"], "<=loss"),
        ("connect4:5x4", &["--compact"], "=draw"),
        ("woodpush:11", &["--minimize"], "=-1"),
        ("woodpush:10", &["--goal", "<=-2"], "<=-2"),
        ("woodpush:LLR..RLR", &["--moves", "s1"], "=-1"),
    ] {
        let args = [&[spec, "--output", "json"], more].concat();
        let solved = solved_with_certificate(&file, &args);
        let made = &solved.json()["certificate"];
        let read = run(&mut jlpns(["verify", &file, "--output", "json"]), LIMIT);
        assert_eq!(read.code, Some(0), "{spec} {more:?}: {read:?}");
        let read = read.json();
        assert_eq!((&read["proved"], &read["spec"]), (&true.into(), &spec.into()), "{more:?}");
        assert_eq!(made["claim"], read["claim"], "{spec} {more:?}");
        assert_eq!((&made["sha256"], &made["positions"]), (&read["sha256"], &read["positions"]));
        assert_eq!(made["bytes"], fs::metadata(&file).expect("the file").len());
        assert_eq!(read["claim"], claim, "{spec} {more:?}");
    }
}

#[test]
fn as_text_the_certificate_is_told_after_the_value() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = path(directory.path(), "certificate");
    let solved = solved_with_certificate(&file, &["connect4:4x4"]);
    let lines: Vec<&str> = solved.stdout.lines().collect();
    assert!(lines[0].starts_with("connect4:4x4: the value is draw"), "{lines:?}");
    let told = format!("certificate of =draw in {file}: ");
    let at = lines.iter().position(|line| line.starts_with(&told)).expect("a line about it");
    assert!(lines[at + 1].starts_with("sha256 "), "{lines:?}");
}

#[test]
fn what_minimizing_gains_is_told_and_woodpush_has_no_compact_kind() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = path(directory.path(), "certificate");
    let solve = |spec, flag| {
        run(&mut jlpns(["solve", spec, "--certificate", &file, "--output", "json", flag]), LIMIT)
    };
    let made = &solve("connect4:6x4", "--minimize").json()["certificate"];
    let [few, many] = ["positions", "unminimized"].map(|name| made[name].as_u64());
    assert!(few.is_some() && few < many, "{made}");
    let made = &solve("connect4:6x4", "--compact").json()["certificate"];
    assert!(made["positions"].as_u64() < few && made["unminimized"].is_null(), "{made}");
    let refused = solve("woodpush:8", "--compact");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("no compact certificates of woodpush:8"), "{refused:?}");
}

#[test]
fn a_damaged_certificate_and_a_file_that_is_none_prove_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = path(directory.path(), "certificate");
    solved_with_certificate(&file, &["connect4:4x4"]);
    let whole = fs::read(&file).expect("the file");

    let check = |bytes: &[u8]| {
        fs::write(&file, bytes).expect("a file");
        let read = run(&mut jlpns(["verify", &file]), LIMIT);
        assert!(!read.stdout.contains("proved"), "{read:?}");
        (read.code, read.stderr)
    };
    let (code, said) = check(&whole[..whole.len() - 1]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the rest is missing"), "{said}");
    let other = String::from_utf8_lossy(&whole).find("4x4").expect("the size");
    let mut larger = whole.clone();
    larger[other] = b'5';
    let (code, said) = check(&larger);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("corrupt"), "{said}");
    let (code, said) = check(b"jlpns certificate, version 2\n");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("version `2`, and only 1 is known"), "{said}");
    let (code, said) = check(b"");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no certificate"), "{said}");
}

/// By the checker in Python, which shares no line with the programs.
#[test]
fn certificates_of_real_solves_convince_an_independent_checker() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = path(directory.path(), "certificate");
    let check = || {
        let mut python = Command::new("python3");
        python.args(["-B", concat!(env!("CARGO_MANIFEST_DIR"), "/python/check.py"), &file]);
        python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        run(&mut python, LIMIT)
    };
    for (spec, more, proved) in [
        ("connect4:4x4", &[][..], "connect4:4x4 is worth >=draw and <=draw, "),
        ("connect4:5x4", &["--moves", "3"], "connect4:5x4 after 3 is worth >=draw and <=draw, "),
        ("woodpush:8", &["--slots", "2"], "woodpush:8 is worth >=-1 and <=-1, "),
        ("woodpush:10", &["--goal", "<=-2"], "woodpush:10 is worth <=-2, "),
        (
            "woodpush:LLR..RLR",
            &["--moves", "s1"],
            "woodpush:LLR..RLR after s1 is worth >=-1 and <=-1, ",
        ),
    ] {
        let args = [&[spec, "--output", "json"], more].concat();
        let solved = solved_with_certificate(&file, &args);
        let sha256 = &solved.json()["certificate"]["sha256"];
        let sha256 = sha256.as_str().expect("the hash of the certificate");
        let checked = check();
        let said = format!("proved: {proved}file with sha256 {sha256}\n");
        assert_eq!((checked.code, &checked.stdout), (Some(0), &said), "{checked:?}");

        let mut whole = fs::read(&file).expect("the file");
        whole.pop();
        fs::write(&file, &whole).expect("a file");
        let checked = check();
        assert_eq!((checked.code, checked.stdout.as_str()), (Some(2), ""), "{checked:?}");
    }
}

#[test]
fn where_no_certificate_can_be_written_nothing_is_searched() {
    let solved =
        run(&mut jlpns(["solve", "connect4:7x6", "--certificate", "/no/such/directory/f"]), LIMIT);
    assert_eq!(solved.code, Some(2), "{solved:?}");
    assert!(solved.stderr.contains("--certificate"), "{solved:?}");
    assert!(solved.stdout.is_empty(), "{solved:?}");
}

#[test]
fn the_plain_form_is_written_for_connect_four_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, plain) = (path(directory.path(), "file"), path(directory.path(), "plain"));
    for (spec, code) in [("connect4:4x4", 0), ("woodpush:8", 2)] {
        solved_with_certificate(&file, &[spec]);
        let read = run(&mut jlpns(["verify", &file, "--plain", &plain]), LIMIT);
        assert_eq!(read.code, Some(code), "{read:?}");
        if code != 0 {
            assert!(read.stderr.contains("no plain form for woodpush:8"), "{read:?}");
            assert!(!Path::new(&plain).exists());
            continue;
        }
        let text = fs::read_to_string(&plain).expect("the plain form");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["jlpns certificate, version 1, plain", "game: connect4:4x4"]);
        assert_eq!(lines.last(), Some(&"end"));
        let named: u64 = lines
            .iter()
            .filter_map(|line| {
                line.strip_prefix("claim: ")?.split(": ").nth(1)?.parse::<u64>().ok()
            })
            .sum();
        let written: usize = lines
            .iter()
            .filter_map(|line| line.strip_prefix("layer ")?.split(": ").nth(1).map(str::len))
            .sum();
        assert_eq!(named, written as u64);
        fs::remove_file(&plain).expect("the plain form");
    }
}
