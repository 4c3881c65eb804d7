//! The text of a unit.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use super::quoting;

/// Whose systemd runs the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The machine's: it gives the worker a user of its own.
    System,
    /// A user's: without any rights beyond those that the user has.
    User,
}

/// A flag of the worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// One without a value.
    Switch(String),
    /// One with a value.
    Value {
        /// Its long name.
        key: String,
        /// The value.
        value: String,
    },
    /// One with a file.
    File {
        /// Its long name.
        key: String,
        /// The file, from the root.
        path: PathBuf,
        /// Whether only its owner may read it.
        is_secret: bool,
    },
}

/// A unit that runs a worker.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Whose it is.
    pub kind: Kind,
    /// The worker, from the root.
    pub program: PathBuf,
    /// Its flags.
    pub words: Vec<Word>,
    /// The memory of all searches in bytes, if it is known.
    pub memory: Option<u64>,
}

/// What is neither of the searches nor in proportion to them, in bytes.
const BESIDE_SEARCHES: u64 = 256 << 20;

/// How it ends: a first signal drains, and bad usage does not become better.
const LIFE: &str = "\
Type=exec
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2
KillSignal=SIGTERM
TimeoutStopSec=60
";

/// It makes way for whatever else the machine has to do.
const POLITENESS: &str = "\
Nice=19
CPUSchedulingPolicy=idle
IOSchedulingClass=idle
CPUWeight=1
IOWeight=1
OOMScoreAdjust=500
";

/// What only the machine's systemd can do.
const OF_THE_SYSTEM: &str = "\
DynamicUser=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateDevices=yes
PrivateTmp=yes
RemoveIPC=yes
RestrictNamespaces=yes
UMask=0077
";

/// What needs no rights.
const OF_ALL: &str = "\
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
";

/// Folders that the sandbox of the system's unit hides.
const HIDDEN: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];

fn is_hidden(path: &Path) -> bool {
    HIDDEN.iter().any(|folder| path.starts_with(folder))
}

impl Unit {
    /// The files that must be seen though they are where the sandbox hides things. Of a file that is replaced, the
    /// folder must be seen.
    fn hidden(&self) -> Vec<&Path> {
        let of_words = self.words.iter().filter_map(|word| match word {
            Word::File { path, is_secret: false, .. } => path.parent(),
            _ => None,
        });
        let all = of_words.chain([self.program.as_path()]).filter(|path| is_hidden(path));
        all.collect()
    }

    /// The most memory, as systemd reads it: what the searches take, a quarter more, and what is beside them.
    fn most_memory(&self) -> String {
        match self.memory {
            Some(bytes) => {
                format!(
                    "{}M",
                    (bytes.saturating_add(bytes / 4 + BESIDE_SEARCHES)).div_ceil(1 << 20)
                )
            }
            None => "90%".to_owned(),
        }
    }

    fn write_word(&self, word: &Word, f: &mut Formatter<'_>) -> fmt::Result {
        match word {
            Word::Switch(key) => write!(f, "--{key}"),
            Word::Value { key, value } => {
                f.write_str(&quoting::argument(&format!("--{key}={value}")))
            }
            Word::File { key, is_secret: true, .. } if self.kind == Kind::System => {
                write!(f, "--{key}=%d/{key}")
            }
            Word::File { key, path, .. } => {
                f.write_str(&quoting::argument(&format!("--{key}={}", path.display())))
            }
        }
    }

    fn write_sandbox(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.kind == Kind::System {
            f.write_str(OF_THE_SYSTEM)?;
            let hidden = self.hidden();
            let home = if hidden.is_empty() { "yes" } else { "tmpfs" };
            writeln!(f, "ProtectHome={home}")?;
            for path in hidden {
                writeln!(f, "BindReadOnlyPaths={}", quoting::path_in_list(path))?;
            }
        }
        f.write_str(OF_ALL)
    }
}

impl Display for Unit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (folder, target) = match self.kind {
            Kind::System => ("/etc/systemd/system", "multi-user.target"),
            Kind::User => ("~/.config/systemd/user", "default.target"),
        };
        writeln!(f, "# {folder}/jlpns-worker.service, as `jlpns-worker systemd` prints it.")?;
        writeln!(f, "\n[Unit]\nDescription=A worker of jlpns")?;
        if self.kind == Kind::System {
            writeln!(f, "Wants=network-online.target\nAfter=network-online.target")?;
        }
        write!(f, "\n[Service]\nExecStart={}", quoting::program(&self.program))?;
        for word in &self.words {
            f.write_str(" \\\n    ")?;
            self.write_word(word, f)?;
        }
        writeln!(f)?;
        for word in &self.words {
            if let Word::File { key, path, is_secret: true } = word
                && self.kind == Kind::System
            {
                writeln!(f, "LoadCredential={key}:{}", quoting::path_to_the_end(path))?;
            }
        }
        write!(f, "{LIFE}\n{POLITENESS}MemoryMax={}\n\n", self.most_memory())?;
        self.write_sandbox(f)?;
        writeln!(f, "\n[Install]\nWantedBy={target}")
    }
}
