use super::*;

/// The flags of a command that was given none.
fn defaults() -> EntryFlags {
    EntryFlags {
        moves: None,
        goal: None,
        priority: 10,
        most_nodes: None,
        most_time: None,
        certificate: false,
        label: None,
    }
}

fn entry_with(defaults: &EntryFlags, line: &str) -> Result<Option<NewEntry>, String> {
    let games = Games::built_in();
    let read = Line::read(line)
        .and_then(|line| line.map(|line| Checker::new(&games, defaults).entry(line)).transpose());
    read.map_err(|error| match error {
        CommandError::BadInput(sentence) => sentence,
        other => panic!("{line}: {other:?}"),
    })
}

fn entry(line: &str) -> NewEntry {
    entry_with(&defaults(), line).expect(line).expect("it is an entry")
}

fn plain(moves: &str) -> NewEntry {
    NewEntry {
        spec: "connect4:7x6".to_owned(),
        moves: moves.to_owned(),
        priority: 10,
        ..NewEntry::default()
    }
}

#[test]
fn lines_of_words_are_read() {
    assert_eq!(entry("connect4:7x6"), plain(""));
    assert_eq!(entry("  Connect4:7X6 44 4,1 # four moves"), plain("4441"));
    assert_eq!(entry("connect4:7x6 --moves 444"), plain("444"));
    let full = NewEntry {
        goal: Some(">=draw".to_owned()),
        priority: 20,
        most_nodes: 5_000_000,
        most_time_ms: 600_000,
        certificate: true,
        label: "the first".to_owned(),
        ..plain("444")
    };
    let line = "connect4:7x6 444 --goal '>=draw' --priority 20 --most-nodes=5000000 --most-time 10m \
                --certificate --label \"the first\"";
    assert_eq!(entry(line), full);
    let line = "--label='the first' --goal >=draw --certificate connect4:7x6 --priority=20 444 \
                --most-time=10m --most-nodes 5000000";
    assert_eq!(entry(line), full);
    for blank in ["", "   ", "# connect4:7x6", "  # a comment"] {
        assert_eq!(entry_with(&defaults(), blank), Ok(None), "{blank}");
    }
}

#[test]
fn lines_of_json_are_read() {
    assert_eq!(entry(r#"{"spec":"connect4:7x6"}"#), plain(""));
    let line = r#" {"spec": "connect4:7x6", "moves": "444", "goal": "<=draw", "priority": 1000,
        "most_nodes": 7, "most_time": "1s 500ms", "certificate": true, "label": "a # b"}"#;
    let full = NewEntry {
        goal: Some("<=draw".to_owned()),
        priority: 1000,
        most_nodes: 7,
        most_time_ms: 1500,
        certificate: true,
        label: "a # b".to_owned(),
        ..plain("444")
    };
    assert_eq!(entry(&line.replace('\n', " ")), full);
}

#[test]
fn what_a_line_does_not_say_is_as_in_the_flags() {
    let flags = EntryFlags {
        moves: Some("12".to_owned()),
        goal: Some(">=win".to_owned()),
        priority: 3,
        most_nodes: Some(9),
        most_time: Some(Duration::from_secs(1)),
        certificate: true,
        label: Some("all".to_owned()),
    };
    let entry = |line: &str| entry_with(&flags, line).expect(line).expect("it is an entry");
    let by_flags = NewEntry {
        goal: Some(">=win".to_owned()),
        priority: 3,
        most_nodes: 9,
        most_time_ms: 1000,
        certificate: true,
        label: "all".to_owned(),
        ..plain("12")
    };
    assert_eq!(entry("connect4:7x6"), by_flags);
    let own = NewEntry { moves: "4".to_owned(), priority: 5, ..by_flags.clone() };
    assert_eq!(entry("connect4:7x6 4 --priority 5"), own);
    let without = NewEntry { certificate: false, label: "one".to_owned(), ..by_flags };
    let line = r#"{"spec":"connect4:7x6","certificate":false,"label":"one"}"#;
    assert_eq!(entry(line), without);
}

#[test]
fn a_bad_line_is_told_with_what_would_be_right() {
    let long = format!("connect4:7x6 --label {}", "x".repeat(129));
    let bad: &[(&str, &[&str])] = &[
        ("chess:8x8", &["invalid value 'chess:8x8' for 'SPEC'", "connect4:COLUMNSxROWS"]),
        ("connect4:7x6 8", &["for '--moves'", "move 1, '8', is not legal"]),
        ("connect4:7x6 --goal draw", &["invalid value 'draw' for '--goal'", ">="]),
        ("connect4:7x6 --goal", &["'--goal' has no value"]),
        ("connect4:7x6 --priority 0", &["'0' for '--priority'", "from 1 to 1000"]),
        ("connect4:7x6 --priority 1001", &["from 1 to 1000"]),
        ("connect4:7x6 --most-nodes 0", &["'0' for '--most-nodes'", "from 1 to"]),
        ("connect4:7x6 --most-time 10", &["'10' for '--most-time'", "90s"]),
        ("connect4:7x6 --most-time 0s", &["'0s' for '--most-time'", "from 1ms"]),
        ("connect4:7x6 --certificate=yes", &["'--certificate'", "takes no value"]),
        (&long, &["for '--label'", "at most 128 characters"]),
        ("connect4:7x6 --prioriti 5", &["no flag '--prioriti'", "'--priority' is one"]),
        ("connect4:7x6 --xyzzy", &["no flag '--xyzzy'", "--most-nodes"]),
        ("connect4:7x6 --goal >=win --goal >=draw", &["'--goal' is given twice"]),
        ("connect4:7x6 4 --moves 4", &["'--moves' is given twice"]),
        ("--priority 5", &["the spec is missing", "write it first"]),
        ("connect4:7x6 '444", &["a quote is not closed"]),
        ("{", &["no JSON object of an entry", "\"spec\""]),
        (r#"{"moves":"4"}"#, &["no JSON object of an entry", "missing field `spec`"]),
        (r#"{"spec":"connect4:7x6","prio":1}"#, &["unknown field `prio`", "priority"]),
        (r#"{"spec":"connect4:7x6","priority":0}"#, &["'0' for 'priority'", "from 1 to 1000"]),
        (r#"{"spec":"connect4:7x6","most_nodes":0}"#, &["'0' for 'most_nodes'", "from 1 to"]),
        (r#"{"spec":"connect4:7x6","most_time":"10"}"#, &["'10' for 'most_time'", "90s"]),
        (r#"{"spec":"connect4:7x6","label":"a\u0007"}"#, &["for 'label'", "control character"]),
    ];
    for (line, parts) in bad {
        let sentence = entry_with(&defaults(), line).expect_err(line);
        for part in *parts {
            assert!(sentence.contains(part), "'{part}' is not in: {sentence}");
        }
    }
}
