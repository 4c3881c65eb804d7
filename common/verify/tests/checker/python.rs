//! The checker of `tests/python`, which shares nothing with this one, comes to the same verdicts: proved, failed or
//! unreadable. It is one more reader of the page; where they part, one of them is wrong.

use std::fs;
use std::path::Path;
use std::process::Command;

use jlpns_verify::Failure;

use crate::naive::{
    Bound, Certificate, Connect4, Naive, Woodpush, bounds, certificate, checked, true_certificate,
};
use crate::plans;

const CHECKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/python");
/// Many files by one process: the codes that it would have ended with, in the last line.
const MANY: &str = "\
import os, sys
sys.path.insert(0, sys.argv[1])
import check
print(*[check.main([os.path.join(sys.argv[2], str(n))]) for n in range(int(sys.argv[3]))])
";

/// The exit code of `jlpns-verify`.
fn code(file: &[u8]) -> u8 {
    match checked(file) {
        Ok(_) => 0,
        Err(Failure::Fails(_)) => 1,
        Err(_) => 2,
    }
}

/// Asserts that both have the same verdict for each file. Gives how many files had each.
#[track_caller]
fn assert_same_verdicts(files: &[Vec<u8>]) -> [usize; 3] {
    let directory = tempfile::tempdir().unwrap();
    for (number, file) in files.iter().enumerate() {
        fs::write(directory.path().join(number.to_string()), file).unwrap();
    }
    let mut python = Command::new("python3");
    python.args(["-B", "-c", MANY, CHECKER]).arg(directory.path()).arg(files.len().to_string());
    let ended = python.output().expect("python3 is installed");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let codes: Vec<u8> =
        said.lines().last().unwrap().split(' ').map(|code| code.parse().unwrap()).collect();
    assert_eq!(codes.len(), files.len());
    let mut counts = [0; 3];
    for (file, python) in files.iter().zip(codes) {
        let here = checked(file);
        let header = String::from_utf8_lossy(&file[..file.len().min(200)]);
        assert_eq!(python, code(file), "{here:?} of a file that begins with {header:?}");
        counts[usize::from(python)] += 1;
    }
    counts
}

fn connect_four(moves: &[&str]) -> Certificate {
    let game = moves.iter().fold(Connect4::new(4, 4), |game, name| game.play(name));
    Certificate { block: 20, ..true_certificate(&game) }
}

fn woodpush() -> Certificate {
    let game = ["s0", "s5"].iter().fold(Woodpush::new("L.LR.R"), |game, name| game.play(name));
    Certificate { block: 2, ..true_certificate(&game) }
}

#[test]
fn every_prefix_and_every_changed_bit_has_the_same_verdict() {
    for file in [connect_four(&["1", "2", "2", "1", "3", "3", "1", "4"]), woodpush()] {
        let bytes = file.bytes();
        let prefixes: Vec<_> = (0..bytes.len()).map(|end| bytes[..end].to_vec()).collect();
        assert_eq!(assert_same_verdicts(&prefixes), [0, 0, bytes.len()]);
        let changed: Vec<_> = (0..bytes.len() * 8)
            .map(|bit| {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                changed
            })
            .collect();
        let [proved, _, unreadable] = assert_same_verdicts(&changed);
        assert!(proved < bytes.len() && unreadable > bytes.len(), "{proved}, {unreadable}");
    }
}

/// All checksums are right, so it is the proof that counts.
#[test]
fn other_numbers_have_the_same_verdict() {
    for file in [connect_four(&["1", "2", "2", "1"]), woodpush()] {
        let mut files = vec![file.bytes()];
        for claim in 0..file.claims.len() {
            for layer in 0..file.claims[claim].1.len() {
                let mut change = |change: &dyn Fn(&mut Vec<u8>)| {
                    let mut changed = file.clone();
                    change(&mut changed.claims[claim].1[layer]);
                    files.push(changed.bytes());
                    // With a header that names as many numbers as before.
                    files.push(changed.bytes_with(&file.header()));
                };
                change(&|numbers| numbers.truncate(numbers.len() - 1));
                change(&|numbers| numbers.push(0));
                change(&|numbers| numbers.reverse());
                let many = file.claims[claim].1[layer].len();
                for index in (0..many).step_by(1 + many / 16) {
                    for number in [0, 1, 2, 3, 4, 255] {
                        change(&|numbers| numbers[index] = number);
                    }
                }
            }
        }
        let [proved, failed, unreadable] = assert_same_verdicts(&files);
        assert!(proved > 10 && failed > 10, "{proved}, {failed}, {unreadable}");
    }
}

/// Every claim about many positions, by good moves and by the first ones.
#[test]
fn strategies_have_the_same_verdict() {
    fn files<G: Naive>(begin: G, files: &mut Vec<Vec<u8>>) {
        let mut game = begin;
        for turn in 0.. {
            files.push(true_certificate(&game).bytes());
            for bound in bounds(&game) {
                let of = |claims| Certificate { claims, ..Certificate::new(&game) };
                let first = |bound: Bound| certificate(&game, bound, &mut |_| 0).0;
                files.push(of(vec![(bound.text::<G>(), first(bound))]).bytes());
                files.push(of(vec![(bound.text::<G>(), vec![])]).bytes());
            }
            if game.outcome().is_some() {
                break;
            }
            let legal = game.legal();
            game = game.play(&legal[turn % legal.len()]);
        }
    }
    let mut all = vec![];
    files(Connect4::new(3, 4), &mut all);
    files(Connect4::new(5, 2), &mut all);
    files(connect_four_after(&["2", "3", "2", "2"]), &mut all);
    files(Woodpush::new("6"), &mut all);
    files(Woodpush::new("L..RL.R"), &mut all);
    files(Woodpush::new("RL.LR.R"), &mut all);
    let [proved, failed, unreadable] = assert_same_verdicts(&all);
    assert!(proved > 100 && failed > 100, "{proved}, {failed}, {unreadable}");
}

#[test]
fn plans_have_the_same_verdict() {
    let [proved, failed, unreadable] = assert_same_verdicts(&plans::files());
    assert!(proved > 50 && failed > 50 && unreadable > 10, "{proved}, {failed}, {unreadable}");
}

fn connect_four_after(moves: &[&str]) -> Connect4 {
    moves.iter().fold(Connect4::new(4, 4), |game, name| game.play(name))
}

/// Headers that are no header, or another's.
#[test]
fn headers_have_the_same_verdict() {
    let file = true_certificate(&Woodpush::new("L.LR.R"));
    let (header, four) = (file.header(), connect_four(&["1", "2", "2", "1", "3", "3"]));
    let mut files = vec![];
    for (from, to) in [
        ("version 1", "version 2"),
        ("version 1", "version 01"),
        ("L.LR.R", "L.LRR"),
        ("L.LR.R", "L.L..."),
        ("L.LR.R", "5"),
        ("L.LR.R", "6"),
        ("L.LR.R", "06"),
        ("L.LR.R", "33"),
        ("rules: 1", "rules: 2"),
        ("moves: ", "moves:"),
        ("moves: ", "moves: s0"),
        ("moves: ", "moves: s0s5"),
        ("moves: ", "moves: s00"),
        ("moves: ", "moves: s0 "),
        ("moves: ", "moves: s1"),
        ("moves: ", "moves: p"),
        ("moves: ", "moves: 0"),
        ("moves: ", "moves: s2s3s0s5s4s1"),
        ("full", "whole"),
        (">=", "<="),
        ("<=", ">="),
        (">=-1", ">=-2"),
        (">=-1", ">=0"),
        (">=-1", ">=3"),
        ("<=-1", "<=2"),
        (": 0000", ": 000"),
        (": 0000", ": 9999"),
        ("\n", "\r\n"),
        ("\n\n", "\nclaim: <=1, positions: 00000000000000000000\n\n"),
        ("kind: ", "kind:"),
        ("kind: full\n", ""),
    ] {
        assert!(header.contains(from), "{from} in {header}");
        files.push(file.bytes_with(&header.replacen(from, to, 1)));
    }
    let header = four.header();
    for (from, to) in [
        ("4x4", "4x04"),
        ("4x4", "0x4"),
        ("4x4", "65x1"),
        ("4x4", "4x4x4"),
        ("4x4", "5x4"),
        ("122133", "122135"),
        ("122133", "11111"),
        ("122133", "1212121"),
        ("122133", "12121213"),
        ("122133", "1-"),
        ("draw", "Draw"),
        ("draw", "win"),
        ("draw", "loss"),
    ] {
        assert!(header.contains(from), "{from} in {header}");
        files.push(four.bytes_with(&header.replacen(from, to, 1)));
    }
    let [proved, failed, unreadable] = assert_same_verdicts(&files);
    assert!(proved == 1 && failed > 3 && unreadable > 20, "{proved}, {failed}, {unreadable}");
}

/// As a program: a code, one sentence, and never a traceback.
#[test]
fn as_a_program_it_says_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let file = woodpush();
    let mut wrong = file.clone();
    wrong.claims[0].1[0][0] = 255;
    for (bytes, code, begins) in [
        (file.bytes(), 0, "proved: woodpush:L.LR.R after s0s5 is worth "),
        (wrong.bytes(), 1, "not proved: "),
        (b"\xff\xfe".to_vec(), 2, "cannot be checked: "),
    ] {
        fs::write(&path, &bytes).unwrap();
        let sha256 = checked(&bytes).map(|proved| proved.sha256).unwrap_or_default();
        assert_says(&[&path], code, begins, &sha256);
    }
    assert_says(&[&directory.path().join("none")], 2, "cannot be checked: ", "No such file");
    assert_says(&[directory.path()], 2, "cannot be checked: ", "directory");
    assert_says(&[], 2, "cannot be checked: ", "check.py FILE");
}

#[track_caller]
fn assert_says(arguments: &[&Path], code: i32, begins: &str, part: &str) {
    let checker = Path::new(CHECKER).join("check.py");
    let ended = Command::new("python3").arg("-B").arg(checker).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert_eq!(ended.status.code(), Some(code), "{said}");
    assert!(said.starts_with(begins) && said.contains(part) && said.lines().count() == 1, "{said}");
}
