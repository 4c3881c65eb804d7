//! `jlpns launch` with a stand-in for ssh that runs the commands in other homes of this machine: what is copied, started,
//! left alone, replaced and removed, and what is said where that does not work.

mod asked;
mod failures;
mod lifecycle;
mod others;
mod told;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jlpns_tests::cluster::serve;
use jlpns_tests::lab::Lab;
use jlpns_tests::{Running, jlpns_worker};
use serde_json::Value;

/// The shared secret of these tests.
const TOKEN: &str = "a-secret-of-the-lab-0123456789";

/// A solve that takes long, and what its workers are launched with.
fn coordinator(lab: &Lab) -> (Running, String, Vec<String>) {
    let token = lab.write("token", TOKEN);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("its mode is set");
    let (coordinator, url) =
        serve(&["connect4:8x7", "--job-nodes", "2000", "--token-file", &token]);
    let flags = ["--coordinator", &url, "--token-file", &token].map(str::to_owned);
    (coordinator, url.clone(), flags.to_vec())
}

/// The arguments of `launch start` for hosts, with flags that keep its workers small; what else runs on this machine does
/// not hold them up.
fn start<'a>(hosts: &'a str, flags: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    started_as(hosts, flags, &[&["--nice", "0", "--scheduling", "normal"], more].concat())
}

/// The same without a word on how the workers are scheduled.
fn started_as<'a>(hosts: &'a str, flags: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let flags = flags.iter().map(String::as_str);
    let small = ["--", "--slots=1", "--memory=64MiB"];
    ["--hosts", hosts].into_iter().chain(flags).chain(more.iter().copied()).chain(small).collect()
}

/// Another build of the worker: a program is read from its beginning, so more at its end changes nothing.
fn another_build(lab: &Lab) -> String {
    let path = lab.path("another-worker");
    let worker = jlpns_worker([""; 0]);
    fs::copy(worker.get_program(), &path).expect("it is copied");
    let mut file = OpenOptions::new().append(true).open(&path).expect("it is opened");
    file.write_all(b"another build").expect("it is written");
    path.display().to_string()
}

fn pid(report: &Value) -> u32 {
    let pid = report["pid"].as_u64().unwrap_or_else(|| panic!("no pid in {report}"));
    u32::try_from(pid).expect("a process id")
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/exe")).read_link().is_ok()
}

/// A field of `/proc/PID/stat`, as its manual page counts them.
fn stat(pid: u32, field: usize) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is alive");
    let (_, rest) = stat.rsplit_once(") ").expect("a name in parentheses");
    rest.split(' ').nth(field - 3).expect("a field").to_owned()
}

fn mode(path: PathBuf) -> u32 {
    fs::metadata(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .permissions()
        .mode()
        & 0o777
}
