//! The script that becomes the worker: it writes its own pid, steps back behind others, and is replaced by the worker.

use std::fmt::Write;

use crate::host::{Scheduling, Settings};
use crate::quote::quoted;

/// What the script begins with. It is started in the folder of the worker.
const HEAD: &str = r#"#!/bin/sh
umask 077
folder=$(pwd -P) || exit 1
stat=$(cat "/proc/$$/stat") || exit 1
set -- ${stat##*) }
{ printf '%s %s %s\n' "$$" "${20}" "$(cat /proc/sys/kernel/random/boot_id)" >worker.pid.new; } 2>/dev/null &&
    [ -s worker.pid.new ] && mv -f worker.pid.new worker.pid || {
    rm -f worker.pid.new
    echo 'the pid file cannot be written' >>worker.log
    exit 1
}
exec </dev/null >>worker.log 2>&1
"#;

/// The same without rights that another user needs: idle classes where the tools for them are.
const IDLE: &str = r#"if chrt -i 0 true 2>/dev/null; then set -- chrt -i 0 "$@"; fi
if ionice -c 3 true 2>/dev/null; then set -- ionice -c 3 "$@"; fi
"#;

/// A file that the worker shows or believes its coordinator by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Credential {
    /// The shared token.
    Token,
    /// The authority that has signed the coordinator's certificate.
    Ca,
    /// The worker's certificate.
    Certificate,
    /// Its private key.
    Key,
}

impl Credential {
    /// The worker's flag for it.
    pub fn flag(self) -> &'static str {
        match self {
            Credential::Token => "--token-file",
            Credential::Ca => "--ca",
            Credential::Certificate => "--cert",
            Credential::Key => "--key",
        }
    }

    /// The name of its file on a host.
    pub fn file(self) -> &'static str {
        match self {
            Credential::Token => "token",
            Credential::Ca => "ca.pem",
            Credential::Certificate => "worker.pem",
            Credential::Key => "worker.key",
        }
    }
}

/// What the worker of one host is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerFlags {
    /// Its flags, but those that name files of credentials.
    pub words: Vec<String>,
    /// The credentials that it gets.
    pub credentials: Vec<Credential>,
}

impl WorkerFlags {
    /// The flags for a coordinator, with those of the host, and those that all hosts get.
    pub fn new(
        coordinator: &str,
        tls_name: Option<&str>,
        credentials: Vec<Credential>,
        host: &Settings,
        all: &[String],
    ) -> WorkerFlags {
        let mut words = vec!["--coordinator".to_owned(), coordinator.to_owned()];
        let valued = [("--tls-name", tls_name), ("--slots", host.slots.as_deref())];
        let valued = valued.into_iter().chain([("--memory", host.memory.as_deref())]);
        for (flag, value) in valued {
            // One word, so that a value that begins like a flag is none.
            words.extend(value.map(|value| format!("{flag}={value}")));
        }
        words.extend(host.flags.iter().flatten().chain(all).cloned());
        let has_config =
            words.iter().any(|word| word == "--config" || word.starts_with("--config="));
        if !has_config {
            // What is in force on all hosts is said here, not by what lies in their homes.
            words.push("--config=/dev/null".to_owned());
        }
        WorkerFlags { words, credentials }
    }

    /// The flags as the worker reads them, with its credentials in `folder`.
    pub fn in_folder(&self, folder: &str) -> Vec<String> {
        let named = self.credentials.iter();
        let named = named.map(|one| format!("{}={folder}/{}", one.flag(), one.file()));
        self.words.iter().cloned().chain(named).collect()
    }

    /// The script that becomes the worker with these flags.
    pub fn run_script(&self, host: &Settings) -> String {
        let mut text = HEAD.to_owned();
        // Writing to a string cannot fail.
        let _ = write!(text, "set -- \"$folder/jlpns-worker\"");
        for word in &self.words {
            let _ = write!(text, " {}", quoted(word));
        }
        for one in &self.credentials {
            let _ = write!(text, " {}=\"$folder\"/credentials/{}", one.flag(), one.file());
        }
        text.push('\n');
        if host.scheduling() == Scheduling::Idle {
            text += IDLE;
        }
        if host.nice() > 0 {
            let _ = writeln!(text, "set -- nice -n {} \"$@\"", host.nice());
        }
        text + "exec \"$@\"\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(host: &Settings, all: &[&str]) -> WorkerFlags {
        let all: Vec<String> = all.iter().map(|word| (*word).to_owned()).collect();
        let credentials = vec![Credential::Token];
        WorkerFlags::new("http://c:7070", None, credentials, host, &all)
    }

    #[test]
    fn the_flags_of_a_host_come_before_those_of_all() {
        let host = Settings {
            slots: Some("4".to_owned()),
            flags: Some(vec!["--name".to_owned(), "left".to_owned()]),
            ..Settings::default()
        };
        let words = flags(&host, &["-v"]).in_folder("credentials");
        let expected = [
            "--coordinator",
            "http://c:7070",
            "--slots=4",
            "--name",
            "left",
            "-v",
            "--config=/dev/null",
            "--token-file=credentials/token",
        ];
        assert_eq!(words, expected);
        assert!(!flags(&host, &["--config", "x"]).words.contains(&"--config=/dev/null".to_owned()));
    }

    #[test]
    fn the_script_quotes_what_it_is_given_and_steps_back() {
        let script =
            flags(&Settings::default(), &["--name", "it's $HOME"]).run_script(&Settings::default());
        assert!(script.contains(r"--name 'it'\''s $HOME'"), "{script}");
        assert!(
            script.contains("nice -n 19")
                && script.contains("chrt -i 0")
                && script.contains("ionice -c 3")
        );
        let host =
            Settings { nice: Some(0), scheduling: Some(Scheduling::Normal), ..Settings::default() };
        let script = flags(&host, &[]).run_script(&host);
        assert!(!script.contains("nice"), "{script}");
    }
}
