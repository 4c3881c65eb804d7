//! The cluster of `deploy/compose.yaml`, driven by the command-line tools of Docker.
//!
//! The image must be there: `docker compose --file deploy/compose.yaml build`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A compose project. It is taken down, volumes and all, when this value is dropped.
#[derive(Debug)]
pub struct Compose {
    program: Vec<&'static str>,
    project: String,
    files: Vec<PathBuf>,
}

impl Compose {
    /// A project of `deploy/compose.yaml` and the file `more`, which changes some of it; nothing
    /// runs yet. `None` if Docker does not answer.
    pub fn new(name: &str, more: &Path) -> Option<Compose> {
        said("docker", ["info"])?;
        let program = match said("docker-compose", ["version"]) {
            Some(_) => vec!["docker-compose"],
            None => vec!["docker", "compose"],
        };
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/compose.yaml");
        let project = format!("jlpns-{name}-{}", std::process::id());
        Some(Compose { program, project, files: vec![deploy, more.to_owned()] })
    }

    /// Runs a command of docker-compose; what it says.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let mut command = self.command();
        command.args(args);
        let output = command.output().expect("docker-compose can be run");
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program[0]);
        command.args(&self.program[1..]).args(["--project-name", &self.project]);
        for file in &self.files {
            command.arg("--file").arg(file);
        }
        command.stdin(Stdio::null());
        command
    }

    /// The containers of a service.
    pub fn containers(&self, service: &str) -> Vec<Container> {
        let ids = self.run(["ps", "--quiet", service]);
        ids.lines().map(|id| Container { id: id.to_owned() }).collect()
    }

    /// The network of the project.
    pub fn network(&self) -> String {
        format!("{}_default", self.project)
    }
}

impl Drop for Compose {
    fn drop(&mut self) {
        let mut down = self.command();
        down.args(["down", "--volumes", "--remove-orphans", "--timeout", "1"]);
        let _ = down.output();
    }
}

/// A container.
#[derive(Clone, Debug)]
pub struct Container {
    id: String,
}

impl Container {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What `docker inspect` says of it, in this format.
    ///
    /// # Panics
    ///
    /// If there is no such container.
    pub fn inspect(&self, format: &str) -> String {
        let told = docker(["inspect", "--format", format, &self.id]);
        told.trim().to_owned()
    }

    /// The state of its process: `T` if it stands still.
    ///
    /// # Panics
    ///
    /// If there is no such process.
    pub fn process_state(&self) -> char {
        let stat = format!("/proc/{}/stat", self.inspect("{{.State.Pid}}"));
        let stat = std::fs::read_to_string(stat).expect("a process");
        let after_name = stat.rsplit_once(')').expect("a name").1;
        after_name.trim_start().chars().next().expect("a state")
    }

    /// Its state: `running`, `exited`.
    pub fn state(&self) -> String {
        self.inspect("{{.State.Status}}")
    }

    /// The exit code, once it has ended.
    pub fn exit_code(&self) -> String {
        self.inspect("{{.State.ExitCode}}")
    }

    /// All that it has written, to stdout and to stderr.
    pub fn log(&self) -> (String, String) {
        let output = Command::new("docker").args(["logs", &self.id]).output();
        let output = output.expect("docker can be run");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    }

    /// The state of the solve, if this is a coordinator that answers.
    pub fn solve(&self) -> Option<Value> {
        let ask = ["/jlpns", "status", "http://127.0.0.1:7070", "--output", "json"];
        let told = said("docker", [&["exec", &self.id][..], &ask].concat())?;
        serde_json::from_str(&told).ok()
    }
}

/// Runs a command of Docker; what it says.
///
/// # Panics
///
/// If it fails.
pub fn docker<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    let mut command = Command::new("docker");
    command.args(args).stdin(Stdio::null());
    let output = command.output().expect("docker can be run");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a program says on stdout; `None` if it is not there or fails.
fn said<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(said)
}
