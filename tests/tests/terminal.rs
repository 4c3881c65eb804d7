//! What commands leave on a terminal: a line of progress that fits and goes away; colours where they are wanted.

use std::process::Command;
use std::time::Duration;

use jlpns_tests::terminal::{Shown, on_terminal};
use jlpns_tests::{jlpns, run};

const LIMIT: Duration = Duration::from_secs(120);

/// Searches that take longer than a line of progress needs to come up, and what is in that line alone.
const LONG: [(&[&str], &str); 4] = [
    (&["search", "connect4:7x6", "--algorithm", "pns", "--max-nodes", "5000000"], "root"),
    (&["search", "connect4:6x5", "--algorithm", "dfpn", "--max-nodes", "5000000"], "root"),
    (&["solve", "connect4:6x5", "--slots", "1", "--sub-search", "pn2"], "out on"),
    (
        &["simulate", "connect4:6x5", "--workers", "1", "--rate", "1000000", "--sub-search", "pn2"],
        "virtual seconds, ",
    ),
];

/// The lines of a screen with this text.
fn lines<'a>(screen: &'a str, text: &str) -> Vec<&'a str> {
    screen.lines().filter(|line| line.contains(text)).collect()
}

#[test]
fn progress_is_one_line_that_fits_and_leaves_nothing_behind() {
    for (args, of_progress) in LONG {
        for columns in [100, 40] {
            let shown = on_terminal(&jlpns(args), 24, columns, LIMIT);
            assert!(matches!(shown.code, 0 | 3), "{args:?}: {}", shown.last());
            // On a narrow terminal its end is cut off.
            let of_progress = if columns == 100 { of_progress } else { " nodes" };
            let is_progress = |screen: &&String| {
                screen.lines().any(|line| line.starts_with(|c: char| is_spinner(c)))
            };
            let while_running: Vec<&String> = shown.screens.iter().filter(is_progress).collect();
            assert!(!while_running.is_empty(), "{args:?}: no progress in {:?}", shown.screens);
            for screen in &while_running {
                let spinning = screen.lines().filter(|line| line.starts_with(is_spinner));
                assert_eq!(spinning.count(), 1, "{args:?}: {screen}");
                // Nothing below it, as there would be of a line that is too long.
                let last = screen.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
                assert!(last.starts_with(is_spinner), "{args:?} in {columns}: {screen}");
            }
            assert!(
                !shown.last().lines().any(|line| line.starts_with(is_spinner)),
                "{}",
                shown.last()
            );
            if columns == 100 {
                let some =
                    while_running.iter().any(|screen| !lines(screen, of_progress).is_empty());
                assert!(some, "{args:?}: {while_running:?}");
            }
        }
    }
}

fn is_spinner(c: char) -> bool {
    "⠁⠂⠄⡀⢀⠠⠐⠈⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⠉⠒⠓⠔⠕⠖⠗⠘⠚⠛⠜⠝⠞⠟⠡⠢⠣⠤⠥⠨⠩⠪⠫⠬⠭⠮⠯⠰⠱⠲⠳⠵⠶⠷⠺⠻⠽⠾⠿".contains(c)
}

#[test]
fn quiet_shows_no_progress() {
    let (args, _) = LONG[0];
    let shown = on_terminal(jlpns(args).arg("--quiet"), 24, 100, LIMIT);
    let any = shown.screens.iter().any(|screen| screen.starts_with(is_spinner));
    assert!(!any, "{:?}", shown.screens);
}

/// A command that logs something.
fn logging() -> Command {
    jlpns(["simulate", "connect4:3x4", "--workers", "1", "--rate", "1000000"])
}

/// Whether there is an escape sequence of a colour.
fn is_coloured(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.split("\x1b[").skip(1).any(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ';'));
        end.is_some_and(|end| end > 0 && rest[end..].starts_with('m'))
    })
}

#[test]
fn the_log_is_coloured_where_that_is_wanted() {
    let on = |name: &str, value: &str| -> Shown {
        on_terminal(logging().env(name, value), 24, 100, LIMIT)
    };
    assert!(is_coloured(&on("JLPNS_LOG", "info").bytes));
    assert!(!is_coloured(&on("NO_COLOR", "1").bytes));
    assert!(!is_coloured(&on("CLICOLOR", "0").bytes));
    let piped = |name: &str, value: &str| run(logging().env(name, value), LIMIT).stderr;
    assert!(!is_coloured(piped("JLPNS_LOG", "info").as_bytes()));
    assert!(is_coloured(piped("CLICOLOR_FORCE", "1").as_bytes()));
    // Help is too.
    let help = |name: &str| run(jlpns(["--help"]).env(name, "1"), LIMIT).stdout;
    assert!(
        is_coloured(help("CLICOLOR_FORCE").as_bytes()) && !is_coloured(help("NO_COLOR").as_bytes())
    );
}
