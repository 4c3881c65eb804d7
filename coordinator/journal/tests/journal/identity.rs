//! Other solves, other versions, two processes, `solve.json` damaged or gone.

use std::fs;

use jlpns_journal::{Header, Journal, JournalError};

use crate::stage::{directory, files, header, header_of, numbers, open, open_whole, records};

#[test]
fn the_stored_header_wins() {
    let (_parent, directory) = directory();
    drop(open_whole(&directory));
    let given = Header { solve_id: "another".to_owned(), ..header() };
    let opened = Journal::open(&directory, &given).expect("the same solve");
    assert_eq!(opened.header, header());
    assert!(opened.resumed);
}

#[test]
fn another_solve_is_refused_and_nothing_is_touched() {
    let (_parent, directory) = directory();
    open_whole(&directory).journal.append(&records(1..=3)).expect("appended");
    let before = files(&directory);
    let given = header_of(&[("game", "connect4:7x6"), ("goal", ">=draw")]);
    let error = Journal::open(&directory, &given).expect_err("refused").to_string();
    let expected = "is the journal of another solve: its game is connect4:6x5, not connect4:7x6";
    assert!(error.contains(expected), "{error}");
    assert_eq!(files(&directory), before);
    assert_eq!(numbers(&open_whole(&directory).records), [1, 2, 3]);
}

#[test]
fn another_version_is_refused() {
    let (_parent, directory) = directory();
    drop(open_whole(&directory));
    let path = directory.join("solve.json");
    let json = fs::read_to_string(&path).expect("a file");
    fs::write(&path, json.replace("\"format\": 1", "\"format\": 2")).expect("written");
    let error = open(&directory).expect_err("refused").to_string();
    assert!(error.contains("version 2 of the journal's format"), "{error}");
}

#[test]
fn a_second_opening_is_refused() {
    let (_parent, directory) = directory();
    let first = open_whole(&directory);
    let error = open(&directory).expect_err("refused");
    assert!(matches!(error, JournalError::InUse { .. }), "{error}");
    drop(first);
    open_whole(&directory);
}

#[test]
fn a_damaged_header_is_found_elsewhere() {
    for only_a_snapshot in [false, true] {
        for damage in [None, Some(""), Some("{}"), Some("{\"format\": 7}")] {
            let (_parent, directory) = directory();
            let mut journal = open_whole(&directory).journal;
            if only_a_snapshot {
                journal.snapshot(0, true, b"all").expect("a snapshot");
            } else {
                journal.append(&records(1..=3)).expect("appended");
            }
            drop(journal);
            let path = directory.join("solve.json");
            let whole = fs::read(&path).expect("a file");
            match damage {
                None => fs::remove_file(&path).expect("removed"),
                Some(damage) => fs::write(&path, damage).expect("written"),
            }
            let opened = open(&directory).expect("recovered");
            assert_eq!(opened.header, header());
            assert_eq!(opened.repairs.len(), 1, "{:?}", opened.repairs);
            assert!(opened.repairs[0].starts_with("solve.json is "), "{:?}", opened.repairs);
            assert_eq!(numbers(&opened.records).len(), if only_a_snapshot { 0 } else { 3 });
            assert_eq!(fs::read(&path).expect("a file"), whole);
            drop(opened);
            open_whole(&directory);
        }
    }
}

#[test]
fn a_segment_of_another_solve_is_refused() {
    let (_parent, directory) = directory();
    let (_other_parent, other) = crate::stage::directory();
    open_whole(&directory).journal.append(&records(1..=3)).expect("appended");
    let given = Header { solve_id: "solve-2".to_owned(), ..header() };
    let opened = Journal::open(&other, &given);
    opened.expect("a journal").journal.append(&records(1..=3)).expect("appended");
    fs::copy(other.join("records-000001.redb"), directory.join("records-000002.redb"))
        .expect("a copy");
    let error = open(&directory).expect_err("refused").to_string();
    assert!(error.contains("it is of the solve solve-2, not of solve-1"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_new_directory_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let (_parent, directory) = directory();
    drop(open_whole(&directory));
    let mode = fs::metadata(&directory).expect("a directory").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
