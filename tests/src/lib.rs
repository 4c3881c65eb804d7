//! What the end-to-end tests share: the binaries, built once with the profile of the tests, and
//! processes that are given a time limit and never outlive their test.

pub mod cluster;
pub mod compose;
pub mod faults;
pub mod lab;
#[path = "../../common/search/tests/searches/third_game/noughts.rs"]
pub mod noughts;
pub mod slurm;
pub mod terminal;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use wait_timeout::ChildExt;

/// The command `jlpns` with these arguments.
pub fn jlpns<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Command {
    command("jlpns", args)
}

/// The command `jlpns-worker` with these arguments.
pub fn jlpns_worker<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Command {
    command("jlpns-worker", args)
}

/// Another program of this workspace with these arguments.
pub fn command<S: AsRef<str>>(binary: &str, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = bare(binaries().join(binary));
    command.args(args.into_iter().map(|arg| arg.as_ref().to_owned()));
    command
}

/// A program at a path, without arguments.
pub fn bare(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    // The settings of whoever runs the tests must not reach into them.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("JLPNS_")) {
        command.env_remove(name);
    }
    for name in ["RUST_LOG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/no/such/folder");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The folder of the binaries. They are built here, into the folder that holds the test itself and
/// with its profile, because Cargo builds no binaries of other packages for a test.
fn binaries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().expect("a running test has a path");
        let folder = test.ancestors().nth(2).expect("tests are in TARGET/PROFILE/deps");
        let target = folder.parent().expect("tests are in TARGET/PROFILE/deps");
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a profile's name");
        let profile = if name == "debug" { "dev" } else { name };
        let mut build = Command::new(env!("CARGO"));
        // What Cargo tells the test of its package: build scripts that look at the same variables
        // would run anew, and with them nearly everything, in each build outside and inside a test.
        let own =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars().filter(|(name, _)| own(name)) {
            build.env_remove(name);
        }
        let status = build
            .args(["build", "--quiet", "--workspace", "--bins", "--profile", profile])
            // With the tests, as `cargo test --workspace` builds them: the features of dependencies
            // are other ones without, and nearly everything would be built a second time.
            .args((profile == "dev").then_some("--tests"))
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo can be run");
        assert!(status.success(), "the binaries do not build");
        folder.to_owned()
    })
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// All that it wrote to stdout.
    pub stdout: String,
    /// All that it wrote to stderr.
    pub stderr: String,
}

impl Ended {
    /// The one JSON object on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON on stdout ({error}): {self:?}"))
    }
}

/// Runs a command to its end. It must end within `limit`.
pub fn run(command: &mut Command, limit: Duration) -> Ended {
    Running::start(command).end(limit)
}

/// How long a command may take that answers about a small board.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// The JSON object of a command of `jlpns` that must end with 0.
pub fn answered(args: &[&str]) -> Value {
    let ended = run(jlpns(args).args(["--output", "json"]), ANSWER_LIMIT);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    ended.json()
}

/// A process that runs; it is killed when this value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    command: String,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    lines: Receiver<String>,
}

impl Running {
    /// Starts a command.
    pub fn start(command: &mut Command) -> Running {
        let text = format!("{command:?}");
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut stdout = child.stdout.take().expect("stdout is piped");
        let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let (sender, lines) = mpsc::channel();
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).expect("stdout is text");
            text
        });
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            for line in stderr.lines() {
                let line = line.expect("stderr is text");
                text += &line;
                text.push('\n');
                // The test may have stopped listening.
                let _ = sender.send(line);
            }
            text
        });
        Running { child, command: text, stdout: Some(stdout), stderr: Some(stderr), lines }
    }

    /// Waits for a line on stderr of which `wanted` makes something. Each line is seen once.
    pub fn wait_for<T>(&self, limit: Duration, wanted: impl Fn(&str) -> Option<T>) -> T {
        let end = Instant::now() + limit;
        let mut seen = Vec::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => match wanted(&line) {
                    Some(found) => return found,
                    None => seen.push(line),
                },
                Err(error) => panic!("{}: {error}; stderr so far: {seen:#?}", self.command),
            }
        }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end, which must come within `limit`.
    pub fn end(mut self, limit: Duration) -> Ended {
        let status = self.child.wait_timeout(limit).expect("a child can be waited for");
        let in_time = status.is_some();
        if !in_time {
            self.kill();
        }
        let text = |handle: Option<JoinHandle<String>>| {
            handle.expect("joined once").join().expect("the reader does not panic")
        };
        let stdout = text(self.stdout.take());
        let stderr = text(self.stderr.take());
        let code = status.and_then(|status| status.code());
        let signal = status.and_then(|status| status.signal());
        assert!(in_time, "{} ran for {limit:?}\n{stdout}\n{stderr}", self.command);
        Ended { code, signal, stdout, stderr }
    }

    /// Kills the process as `kill -9` does.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}
