//! Hosts for `jlpns launch`: homes in a folder, each behind a stand-in for ssh that runs the command there; and what runs
//! in a folder.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::cluster::LIMIT;
use crate::{Ended, jlpns, run};

/// The stand-in for ssh: the last two words that it is given are the host and the command. Programs in the home's `bin`
/// come before those of the system. What `door` says of a host is done instead of the command.
const SSH: &str = r#"#!/bin/sh
echo "$*" >>"@LAB@/calls"
while [ $# -gt 2 ]; do shift; done
home=@LAB@/homes/$1
if [ -f "$home.door" ]; then . "$home.door"; fi
if [ ! -d "$home" ]; then
    echo "ssh: Could not resolve hostname $1: Name or service not known" >&2
    exit 255
fi
echo 'Welcome to this host!'
cd "$home"
# The systemd of whoever runs the tests is not the host's.
export XDG_RUNTIME_DIR=/no/such/folder
HOME=$home PATH=$home/../$1.bin:$PATH exec sh -c "$2"
"#;

/// A lab of hosts on this machine. What still runs in it is killed when this value is dropped.
#[derive(Debug)]
pub struct Lab {
    folder: TempDir,
}

impl Default for Lab {
    fn default() -> Lab {
        Lab::new()
    }
}

impl Lab {
    /// A lab without hosts.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn new() -> Lab {
        let lab = Lab { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(lab.path("homes")).expect("a folder");
        lab.program("ssh", SSH);
        lab
    }

    /// A path in the lab.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same as an argument.
    pub fn arg(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The home of whoever logs in on a host.
    pub fn home(&self, host: &str) -> PathBuf {
        self.path("homes").join(host)
    }

    /// The folder of the worker on a host.
    ///
    /// # Panics
    ///
    /// If there is none, or there are several.
    pub fn worker_folder(&self, host: &str) -> PathBuf {
        let all = fs::read_dir(self.home(host).join(".local/state/jlpns")).expect("a folder");
        let all: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    /// Makes hosts; gives back the path of the file that names them.
    ///
    /// # Panics
    ///
    /// If there is no room for them.
    pub fn hosts(&self, names: &[&str]) -> String {
        for name in names {
            fs::create_dir_all(self.home(name)).expect("a home");
        }
        self.write("hosts", &names.join("\n"))
    }

    /// Writes a file; gives back its path.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).expect("it is written");
        self.arg(name)
    }

    /// Has the stand-in for ssh do this for a host, in the words of a shell, instead of the command.
    pub fn door(&self, host: &str, does: &str) {
        self.write(&format!("homes/{host}.door"), does);
    }

    /// Puts a program before the system's, on one host.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn tool(&self, host: &str, name: &str, text: &str) {
        fs::create_dir_all(self.path(&format!("homes/{host}.bin"))).expect("a folder");
        self.program(&format!("homes/{host}.bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, &text.replace("@LAB@", &self.folder.path().display().to_string()));
        let mode = Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), mode).expect("its mode is set");
    }

    /// A command of `jlpns launch`, with the stand-in for ssh.
    pub fn launch(&self, command: &str, args: &[&str]) -> Command {
        let ssh = self.arg("ssh");
        let mut launch = jlpns(["launch", command, "--ssh", &ssh, "--output", "json"]);
        launch.args(args);
        launch
    }

    /// What comes of such a command.
    pub fn launched(&self, command: &str, args: &[&str]) -> Ended {
        run(&mut self.launch(command, args), LIMIT)
    }

    /// What came of it on each host, of a command that must end with this code.
    ///
    /// # Panics
    ///
    /// If it ends with another one.
    pub fn reported(&self, command: &str, args: &[&str], code: i32) -> Vec<Value> {
        let ended = self.launched(command, args);
        assert_eq!(ended.code, Some(code), "{command} {args:?}: {ended:?}");
        ended.json()["hosts"].as_array().expect("a list of hosts").clone()
    }

    /// How often ssh was run.
    pub fn calls(&self) -> usize {
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().count()
    }

    /// What runs on the hosts of the lab.
    pub fn processes(&self) -> Vec<Process> {
        processes_in(&self.path("homes"))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for process in self.processes() {
            crate::faults::signals::send(process.id, crate::faults::signals::Signal::KILL);
        }
    }
}

/// A process that was found.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// Its words, with blanks between them.
    pub words: String,
}

/// The processes whose program is in a folder, that work there, or whose words name it; but those that have ended and
/// wait to be reaped.
///
/// # Panics
///
/// If the system does not list its processes.
pub fn processes_in(folder: &Path) -> Vec<Process> {
    let text = folder.display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("the processes").flatten() {
        let id = entry.file_name().to_string_lossy().parse::<u32>();
        let Ok(id) = id else { continue };
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        let is_in = |link: &str| {
            fs::read_link(entry.path().join(link)).is_ok_and(|path| path.starts_with(folder))
        };
        if id != std::process::id() && (words.contains(&text) || is_in("exe") || is_in("cwd")) {
            found.push(Process { id, words: words.trim().to_owned() });
        }
    }
    found
}

/// All files and folders below a folder, from it, in order.
///
/// # Panics
///
/// If it cannot be read.
pub fn below(folder: &Path) -> Vec<String> {
    fn add(folder: &Path, from: &Path, all: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            all.push(path.strip_prefix(from).expect("below it").display().to_string());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                add(&path, from, all);
            }
        }
    }
    let mut all = Vec::new();
    add(folder, folder, &mut all);
    all.sort();
    all
}
