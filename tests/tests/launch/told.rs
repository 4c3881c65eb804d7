//! What people are told: by the doctor, and on a terminal.

use jlpns_tests::cluster::LIMIT;
use jlpns_tests::jlpns;
use jlpns_tests::lab::{Lab, below};
use jlpns_tests::terminal::InTerminal;
use serde_json::Value;

use crate::coordinator;

#[test]
fn the_doctor_names_what_is_wrong_and_what_would_help() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["fine", "late", "arm", "locked", "full"]);
    lab.tool("late", "date", "echo $(($(/bin/date +%s) - 3 * 3600))");
    lab.tool(
        "arm",
        "uname",
        "if [ \"$1\" = -m ]; then echo aarch64; else exec /bin/uname \"$@\"; fi",
    );
    lab.tool("full", "df", "echo Filesystem; echo disk 1000 1000 0 100% /");
    lab.door("locked", "echo 'locked: Permission denied (publickey).' >&2; exit 255");
    let (coordinator, url, _) = coordinator(&lab);
    let reports = lab.reported("doctor", &["--hosts", &hosts, "--coordinator", &url], 1);
    let states: Vec<&str> = reports.iter().filter_map(|report| report["state"].as_str()).collect();
    assert_eq!(states, ["fine", "problems", "problems", "failed", "problems"], "{reports:?}");
    for (report, words) in reports.iter().zip([
        None,
        Some("its clock is 3 hours behind"),
        Some("its processor is aarch64"),
        None,
        Some("there is no room for the worker"),
    ]) {
        let Some(words) = words else { continue };
        let found = report["findings"].as_array().expect("findings");
        let is_it =
            |finding: &Value| finding["message"].as_str().is_some_and(|text| text.contains(words));
        assert!(
            found.iter().any(|finding| is_it(finding) && finding["is_problem"] == true),
            "{report}"
        );
    }
    assert_eq!(reports[3]["error"]["cause"], "key-refused");
    drop(coordinator);
    let reports = lab.reported("doctor", &["--hosts", &hosts, "--coordinator", &url, "fine"], 1);
    let text = reports[0]["findings"].to_string();
    assert!(
        text.contains("does not reach the coordinator") && text.contains("Connection refused"),
        "{text}"
    );
    // Nothing of it is left anywhere.
    for host in ["fine", "late", "arm", "full"] {
        assert_eq!(below(&lab.home(host)), [""; 0], "{host}");
    }
}

#[test]
fn on_a_terminal_each_host_has_a_row_and_none_can_ask_for_a_password() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1", "asks", "waits"]);
    // What asks at the terminal of whoever launches would wait for ever.
    let asks = "printf 'Password: ' >/dev/tty && read word </dev/tty; \
                echo 'Permission denied (publickey,password).' >&2; exit 255";
    lab.door("asks", asks);
    lab.door("waits", &format!("until [ -e {} ]; do /bin/sleep 0.05; done", lab.arg("go")));
    let ssh = lab.arg("ssh");
    let status = jlpns(["launch", "status", "--ssh", &ssh, "--hosts", &hosts]);
    let mut terminal = InTerminal::start(&status, (100, 24), &[]);
    let shown = terminal.wait_for(LIMIT, "2 of 3 hosts done, 1 of them failed");
    assert!(!shown.contains("Password"), "{shown}");
    for row in ["node1 not running", "asks  failed: it takes none of your keys", "waits connecting"]
    {
        assert!(shown.contains(row), "'{row}' is not in\n{shown}");
    }
    lab.write("go", "");
    assert_eq!(terminal.end(LIMIT), 1);
    let last = terminal.screen().contents();
    assert!(last.starts_with("node1  not running"), "{last}");
    assert!(last.contains("3 hosts: 1 failed, 2 not running"), "{last}");
    assert!(!last.contains("hosts done") && !last.contains("connecting"), "{last}");
    assert!(terminal.is_as_before());
}
