//! What went wrong on a host, and what would help.

use serde::Serialize;

use crate::answer::fit;
use crate::host::Host;

/// What went wrong, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// There is no host of this name.
    UnknownHost,
    /// Nothing answers at its address.
    Unreachable,
    /// Nothing listens on its port.
    ConnectionRefused,
    /// Its key is not known here.
    UnknownHostKey,
    /// It has another key than before.
    ChangedHostKey,
    /// It takes none of the user's keys.
    KeyRefused,
    /// It takes none of the user's keys, and would ask for a password.
    PasswordWanted,
    /// ssh refuses its own configuration.
    SshConfiguration,
    /// There is no ssh here.
    NoSsh,
    /// The connection broke off.
    ConnectionLost,
    /// It took longer than it may.
    TimedOut,
    /// It lets nobody run commands.
    NoShell,
    /// Tools that every system has are not there.
    ToolsMissing,
    /// The worker is for other machines.
    Architecture,
    /// There is no room on its disk.
    DiskFull,
    /// Its files cannot be written.
    Unwritable,
    /// Programs on its disk may not be run.
    NoExec,
    /// The worker does not run there for another reason.
    DoesNotRun,
    /// An old worker does not end.
    StillRunning,
    /// Another launch is at work there.
    Busy,
    /// The worker ended as soon as it was started.
    Ended,
    /// There is no systemd of the user.
    NoSystemd,
    /// What was sent did not arrive as it was.
    Damaged,
    /// There is no log.
    NoLog,
    /// It was not tried, as the run was stopped before.
    NotTried,
    /// It said something that is not understood.
    Unclear,
}

/// What went wrong on a host, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// What went wrong, for programs.
    pub cause: Cause,
    /// The same as a sentence.
    pub message: String,
    /// What would help.
    pub remedy: String,
}

impl Trouble {
    /// Trouble, with a sentence and a remedy.
    pub fn new(cause: Cause, message: String, remedy: String) -> Trouble {
        Trouble { cause, message, remedy }
    }

    /// In one line for people.
    pub fn line(&self) -> String {
        format!("{}; {}", self.message, self.remedy)
    }

    /// A disk without room.
    pub fn disk_full(detail: &str) -> Trouble {
        Trouble::new(
            Cause::DiskFull,
            format!("there is no room for the worker there: {detail}"),
            "make room, or give it another folder with path or --path".to_owned(),
        )
    }

    /// A host that was not tried.
    pub fn not_tried() -> Trouble {
        let message = "it was not tried, as the run was stopped before".to_owned();
        Trouble::new(Cause::NotTried, message, "give the same command again".to_owned())
    }

    /// A host that took longer than it may.
    pub fn timed_out(seconds: u64) -> Trouble {
        Trouble::new(
            Cause::TimedOut,
            format!("it had not answered to the end after {seconds} s"),
            "see whether its disk hangs, or allow more with --host-limit".to_owned(),
        )
    }

    /// What a script refused, by its word and what it said beside.
    pub fn of_script(word: &str, detail: &str, host: &Host) -> Trouble {
        let detail = fit(detail);
        let said = if detail.is_empty() { "nothing".to_owned() } else { detail.clone() };
        let path = host.settings.path();
        let new =
            |cause, message: String, remedy: &str| Trouble::new(cause, message, remedy.to_owned());
        match word {
            "write" => unwritable(&detail, path),
            "run" => does_not_run(&said, path),
            "still-running" => {
                let one = !detail.contains(' ');
                let (which, ends) = if one { ("pid", "does") } else { ("pids", "do") };
                new(
                    Cause::StillRunning,
                    format!(
                        "the old worker ({which} {detail}) is asked to drain, and {ends} not end in time"
                    ),
                    "it is not replaced; allow more time with --drain-limit, or make it end with --abort",
                )
            }
            "busy" => new(
                Cause::Busy,
                "another jlpns launch is at work there".to_owned(),
                "wait until it has ended, and give the command again",
            ),
            "ended" => new(
                Cause::Ended,
                format!("the worker ended as soon as it was started; it said: {said}"),
                "put that right, and launch again",
            ),
            "no-manager" => new(
                Cause::NoSystemd,
                match detail.as_str() {
                    "" => "the user's systemd does not answer there".to_owned(),
                    detail => format!("the user's systemd does not take the worker: {detail}"),
                },
                "run `loginctl enable-linger` there, or leave systemd = \"always\" out",
            ),
            "cut-off" | "damaged" => new(
                Cause::Damaged,
                format!("what was sent did not arrive as it was ({said})"),
                "launch again; nothing was changed there",
            ),
            "no-log" => new(
                Cause::NoLog,
                format!("there is no log at {said}"),
                "no worker was started there, or `jlpns launch stop` has removed it",
            ),
            _ => new(
                Cause::Unclear,
                format!("it says {word}: {said}"),
                "launch from the same version as before",
            ),
        }
    }
}

fn unwritable(detail: &str, path: &str) -> Trouble {
    let is = |words: &[&str]| words.iter().any(|word| detail.contains(word));
    if is(&["No space left", "Disk quota exceeded", "File too large"]) {
        return Trouble::disk_full(&format!("{detail}; nothing was changed"));
    }
    let remedy = "give it a folder that its user may write to, with path or --path";
    Trouble::new(
        Cause::Unwritable,
        format!("the folder {path} cannot be written to: {detail}"),
        remedy.to_owned(),
    )
}

fn does_not_run(detail: &str, path: &str) -> Trouble {
    let is = |words: &[&str]| words.iter().any(|word| detail.contains(word));
    let message = format!("the worker does not run there: {detail}");
    if is(&["Permission denied", "Operation not permitted"]) {
        return Trouble::new(
            Cause::NoExec,
            format!("no program may be run from {path}: {detail}"),
            "its disk is mounted with noexec; give it another folder with path or --path"
                .to_owned(),
        );
    }
    if is(&["Exec format error", "cannot execute binary", "syntax error"]) {
        let remedy = "give a jlpns-worker for its processor with --worker-binary".to_owned();
        return Trouble::new(Cause::Architecture, message, remedy);
    }
    // A program that wants a newer system, or another one.
    let remedy =
        "give a static jlpns-worker with --worker-binary: it needs nothing of the host's libraries";
    Trouble::new(Cause::DoesNotRun, message, remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(word: &str, detail: &str) -> Trouble {
        Trouble::of_script(word, detail, &Host::named("node1").expect("a host"))
    }

    #[test]
    fn what_a_script_refuses_is_named() {
        let cases = [
            ("write", "cat: write error: No space left on device", Cause::DiskFull),
            ("write", "mkdir: cannot create directory: Permission denied", Cause::Unwritable),
            ("write", "dd: error writing 'x': Disk quota exceeded 0+0 records", Cause::DiskFull),
            ("write", "sh: 1: cannot create /x: Read-only file system", Cause::Unwritable),
            ("run", "sh: 1: /x/jlpns-worker: Permission denied", Cause::NoExec),
            ("run", "sh: 1: /x/jlpns-worker: Exec format error", Cause::Architecture),
            ("run", "version `GLIBC_2.39' not found", Cause::DoesNotRun),
            ("still-running", "12", Cause::StillRunning),
            ("busy", "", Cause::Busy),
            ("ended", "error: invalid value", Cause::Ended),
            ("no-manager", "", Cause::NoSystemd),
            ("damaged", "/x", Cause::Damaged),
            ("cut-off", "", Cause::Damaged),
            ("no-log", "/x", Cause::NoLog),
            ("else", "", Cause::Unclear),
        ];
        for (word, detail, cause) in cases {
            let trouble = of(word, detail);
            assert_eq!(trouble.cause, cause, "{word} {detail}");
            assert!(!trouble.remedy.is_empty() && !trouble.message.contains("  "), "{trouble:?}");
        }
        assert!(of("still-running", "12 13").message.contains("(pids 12 13)"));
    }

    proptest! {
        #[test]
        fn no_answer_reaches_the_terminal_as_it_is(word in ".{0,12}", detail in ".{0,40}") {
            let line = of(&fit(&word), &detail).line();
            prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
