//! A process that is killed while it writes: what it was told is durable is there afterwards.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use jlpns_journal::{Opened, WriteRequest, Writer, WriterEvent};

use crate::stage::{directory, numbers, open, open_whole, record, records};

/// Says where the journal is, to the process that is killed.
const DIRECTORY: &str = "JLPNS_TEST_JOURNAL";

/// Not a test, but what runs in the process that is killed.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn writes_until_it_is_killed() {
    let directory = std::env::var_os(DIRECTORY).expect("a directory");
    let opened = open_sound(Path::new(&directory));
    let mut next = opened.journal.last() + 1;
    let (tell, told) = mpsc::channel();
    let writer = Writer::start(opened.journal, move |notice| {
        if let WriterEvent::Durable { through } = notice {
            println!("durable {through}");
            let _ = tell.send(through);
        }
    })
    .expect("a thread");
    loop {
        for _ in 0..20 {
            writer.request(WriteRequest::Append(vec![record(next)]));
            next += 1;
        }
        let through = told.recv().expect("a notice");
        if next.is_multiple_of(3) {
            let settled = next.is_multiple_of(9);
            writer.request(WriteRequest::Snapshot { through, settled, bytes: vec![1; 5000] });
        }
    }
}

/// Opens a journal in which nothing is damaged, but some files may not have been closed: that is
/// said each time they are read.
fn open_sound(directory: &Path) -> Opened {
    let opened = open(directory).expect("a journal");
    let sound = opened.repairs.iter().all(|it| it.contains("was not closed"));
    assert!(sound, "{:?}", opened.repairs);
    opened
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kills::writes_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

#[test]
fn what_was_durable_survives_kills() {
    let (_parent, directory) = directory();
    let mut durable = 0;
    for notices in [1, 2, 3, 5, 8, 40, 13, 27] {
        let mut child = start(&directory);
        let mut told = BufReader::new(child.stdout.take().expect("its output"))
            .lines()
            .map(|line| line.expect("a line"))
            .filter_map(|line| line.strip_prefix("durable ").map(|it| it.parse::<u64>()));
        durable = told.nth(notices - 1).expect("a notice").expect("a number");
        child.kill().expect("killed");
        // What it said before it died counts as well.
        durable = told.last().map_or(durable, |last| last.expect("a number"));
        child.wait().expect("gone");

        let opened = open_sound(&directory);
        assert!(opened.journal.last() >= durable, "{} of {durable}", opened.journal.last());
        let found = numbers(&opened.records);
        let first = found.first().copied().unwrap_or(durable + 1);
        assert_eq!(found, (first..=opened.journal.last()).collect::<Vec<u64>>());
    }
    assert!(durable > 100);
}

#[test]
fn a_journal_that_is_not_closed_is_whole() {
    let (_parent, directory) = directory();
    let mut journal = open_whole(&directory).journal;
    journal.append(&records(1..=30)).expect("appended");
    let (_copy_parent, copy) = crate::stage::copy(&directory);
    // The copy is what a crash would leave, as the database of the first one is still open.
    assert_eq!(open_whole(&copy).records, records(1..=30));
    drop(journal);
}
