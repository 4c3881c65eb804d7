//! What the programs say of themselves: `--version`, completions and manual pages.

use std::fs;
use std::time::Duration;

use jlpns_tests::{Ended, command, jlpns, run};

const LIMIT: Duration = Duration::from_secs(60);

const PROGRAMS: [&str; 3] = ["jlpns", "jlpns-worker", "jlpns-verify"];

fn good(program: &str, args: &[&str]) -> Ended {
    let ended = run(&mut command(program, args), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

#[test]
fn a_program_names_its_version_its_commit_and_what_it_speaks() {
    let lines = |program| {
        let said = good(program, &["--version"]).stdout;
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        assert_eq!(lines[0], format!("{program} {}", env!("CARGO_PKG_VERSION")));
        assert!(lines[1].starts_with("commit ") && lines[1].len() > "commit ".len(), "{said}");
        lines[1..].to_vec()
    };
    let (jlpns, worker, verify) = (lines("jlpns"), lines("jlpns-worker"), lines("jlpns-verify"));
    assert_eq!(jlpns, worker, "both are of one build");
    let protocol = format!("protocol {}", jlpns_proto::PROTOCOL_VERSION);
    assert_eq!(jlpns[1..], [protocol, format!("journal {}", jlpns_journal::FORMAT)]);
    assert_eq!(verify[1..], ["certificate 1"]);
    for program in PROGRAMS {
        let short = good(program, &["-V"]).stdout;
        assert_eq!(short.trim(), format!("{program} {}", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn each_program_has_completions_and_manual_pages() {
    for program in PROGRAMS {
        let script = good("jlpns", &["completions", "bash", "--program", program]).stdout;
        assert!(script.contains(&format!(" {program}\n")), "{program}: {script}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ended = run(jlpns(["man"]).arg(folder.path()), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for page in ["jlpns", "jlpns-serve", "jlpns-worker", "jlpns-worker-systemd", "jlpns-verify"] {
        let text = fs::read_to_string(folder.path().join(format!("{page}.1")));
        let text = text.unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".SH NAME"), "{page}");
    }
}
