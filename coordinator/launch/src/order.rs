//! What is sent to a host: a script, its values, and what follows them.
//!
//! All of it goes over stdin. The command that ssh gives to the login shell, which may be of any kind, only reads the
//! script: it holds nothing that was given by anybody. Values are lines that the script reads, so they are never
//! words of a command line, and never quoted.

use crate::host::{Settings, Systemd};
use crate::run_script::Credential;

/// What all scripts begin with.
const COMMON: &str = include_str!("scripts/common.sh");
const SURVEY: &str = include_str!("scripts/survey.sh");
const EXAMINE: &str = include_str!("scripts/examine.sh");
const START: &str = include_str!("scripts/start.sh");
const END: &str = include_str!("scripts/end.sh");
const LOGS: &str = include_str!("scripts/logs.sh");

/// What is sent to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The command for ssh.
    pub command: String,
    /// What goes to its stdin. The worker follows it, where it is sent.
    pub stdin: Vec<u8>,
}

/// How a worker is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draining {
    /// How long it may take.
    pub seconds: u64,
    /// Whether it is made to end after that.
    pub aborts: bool,
}

/// What an ended worker leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removing {
    /// All but its pid file.
    Nothing,
    /// What is secret or tells that it runs.
    Credentials,
    /// All that belongs to it.
    All,
}

/// What a worker is started with.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The SHA-256 of the worker.
    pub build: &'a str,
    /// What tells these flags and credentials from others.
    pub settings: &'a str,
    /// What it is started by.
    pub systemd: Systemd,
    /// How an old worker is asked to end.
    pub draining: Draining,
    /// The script that becomes the worker.
    pub run: &'a str,
    /// Its credentials.
    pub credentials: &'a [(Credential, Vec<u8>)],
    /// How many bytes of the worker follow, if it is not there yet.
    pub bytes: Option<u64>,
}

/// A script that is put together.
struct Lines {
    script: String,
    stdin: Vec<u8>,
}

impl Lines {
    /// Scripts that follow each other; the first value of all is the worker's folder.
    fn new(scripts: &[&str], host: &Settings) -> Lines {
        let script = [&[COMMON], scripts].concat().concat();
        Lines { script, stdin: Vec::new() }.value(host.path())
    }

    fn value(mut self, value: &str) -> Lines {
        // A value is one line, whatever was given.
        self.stdin.extend(value.chars().filter(|c| !c.is_control()).collect::<String>().bytes());
        self.stdin.push(b'\n');
        self
    }

    fn draining(self, draining: Draining) -> Lines {
        self.value(&draining.seconds.to_string()).value(if draining.aborts { "yes" } else { "no" })
    }

    fn bytes(mut self, bytes: &[u8]) -> Lines {
        self.stdin.extend(bytes);
        self
    }

    fn order(self) -> Order {
        // Byte by byte, as what follows the script is for those that it starts.
        let count = self.script.len();
        let command = format!("sh -c 'eval \"$(dd bs=1 count={count} 2>/dev/null)\"'");
        let stdin = [self.script.into_bytes(), self.stdin].concat();
        Order { command, stdin }
    }
}

/// Looks at a host, and at what runs there.
pub fn survey(host: &Settings) -> Order {
    Lines::new(&[SURVEY, "done_with surveyed\n"], host).order()
}

/// The same, and looks for what could keep a worker from running there; also whether it reaches a coordinator.
pub fn examine(host: &Settings, coordinator: Option<(&str, u16)>) -> Order {
    let (address, port) = coordinator.unwrap_or_default();
    Lines::new(&[SURVEY, EXAMINE], host).value(address).value(&port.to_string()).order()
}

/// Starts a worker, after an old one has drained.
pub fn start(host: &Settings, start: &Start<'_>) -> Order {
    let mut lines = Lines::new(&[START], host)
        .value(start.build)
        .value(start.settings)
        .value(start.systemd.name())
        .draining(start.draining)
        .value(&start.run.len().to_string())
        .value(&start.credentials.len().to_string())
        .value(&start.bytes.unwrap_or(0).to_string())
        .bytes(start.run.as_bytes());
    for (credential, bytes) in start.credentials {
        lines = lines.value(credential.file()).value(&bytes.len().to_string()).bytes(bytes);
    }
    lines.order()
}

/// Ends a worker.
pub fn end(host: &Settings, draining: Draining, removing: Removing) -> Order {
    let removing = match removing {
        Removing::Nothing => "nothing",
        Removing::Credentials => "credentials",
        Removing::All => "all",
    };
    Lines::new(&[END], host).draining(draining).value(removing).order()
}

/// Reads the last lines of a worker's log.
pub fn logs(host: &Settings, lines: u32) -> Order {
    Lines::new(&[LOGS], host).value(&lines.to_string()).order()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn nothing_that_was_given_is_in_the_command() {
        let host =
            Settings { path: Some("/x'; touch /tmp/y; '".to_owned()), ..Settings::default() };
        let token = (Credential::Token, b"secret-secret-secret".to_vec());
        let start_with = Start {
            build: "b",
            settings: "s",
            systemd: Systemd::Auto,
            draining: Draining { seconds: 5, aborts: false },
            run: "run",
            credentials: &[token],
            bytes: None,
        };
        let draining = start_with.draining;
        for order in [
            survey(&host),
            examine(&host, Some(("coordinator", 7070))),
            start(&host, &start_with),
            end(&host, draining, Removing::All),
            logs(&host, 10),
        ] {
            let (before, after) = order.command.split_once("count=").expect("it counts");
            assert_eq!(before, "sh -c 'eval \"$(dd bs=1 ");
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            assert_eq!(after, format!("{digits} 2>/dev/null)\"'"));
            let script = &order.stdin[..digits.parse().expect("a number")];
            let script = String::from_utf8_lossy(script);
            assert!(!script.contains("secret-secret") && !script.contains("touch"), "{script}");
        }
    }

    #[test]
    fn a_value_stays_in_its_line() {
        let host = Settings { path: Some("/a\nb".to_owned()), ..Settings::default() };
        assert!(logs(&host, 7).stdin.ends_with(b"\n/ab\n7\n"));
    }

    #[test]
    fn the_scripts_are_those_of_a_plain_shell() {
        for script in [SURVEY, EXAMINE, START, END, LOGS] {
            for shell in ["sh", "dash", "bash"] {
                let child = Command::new(shell).arg("-n").stdin(Stdio::piped()).spawn();
                // The first is on every machine.
                let mut child = match child {
                    Ok(child) => child,
                    Err(error) => {
                        assert_ne!(shell, "sh", "{error}");
                        continue;
                    }
                };
                let mut stdin = child.stdin.take().expect("it is piped");
                stdin.write_all([COMMON, script].concat().as_bytes()).expect("it is read");
                drop(stdin);
                assert!(child.wait().expect("it ends").success(), "{shell}");
            }
        }
    }
}
