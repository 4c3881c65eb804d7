//! What came of a run of ssh: the answer of a script, or what went wrong on the way.

use crate::answer::{Answer, fit};
use crate::host::Host;
use crate::trouble::{Cause, Trouble};

/// The exit code of ssh that is its own, and no command's.
const OF_SSH: i32 = 255;
/// The most characters of ssh's own words that are repeated.
const MOST_SHOWN: usize = 300;

/// What came of a run of ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: RunEnd,
    /// All that it wrote to stdout.
    pub stdout: String,
    /// All that it wrote to stderr.
    pub stderr: String,
}

/// How a run of ssh ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With this exit code; `None` if a signal ended it.
    Exited(Option<i32>),
    /// It took longer than so many seconds, and was ended.
    TimedOut(u64),
    /// It could not be started, for this reason.
    NotStarted(String),
}

/// The answer of a script that came to its end, or why there is none.
pub fn understood(ran: &Ran, host: &Host) -> Result<Answer, Trouble> {
    let answer = Answer::read(&ran.stdout);
    if let Some((word, detail)) = &answer.trouble {
        return Err(Trouble::of_script(word, detail, host));
    }
    if answer.done.is_some() {
        return Ok(answer);
    }
    Err(match &ran.end {
        RunEnd::NotStarted(reason) => Trouble::new(
            Cause::NoSsh,
            format!("ssh cannot be started: {reason}"),
            "install OpenSSH's client, or name it with --ssh".to_owned(),
        ),
        RunEnd::TimedOut(seconds) => Trouble::timed_out(*seconds),
        RunEnd::Exited(Some(OF_SSH)) => refused_by_ssh(&ran.stderr, host),
        RunEnd::Exited(_) if answer.has_begun => {
            // The script was stopped in the middle.
            let said = last_words(&ran.stderr);
            Trouble::new(
                Cause::ConnectionLost,
                format!("the command there was ended before it had come to its end{said}"),
                "see what ended it, and give the command again".to_owned(),
            )
        }
        RunEnd::Exited(code) => no_shell(*code, ran, host),
    })
}

/// The words of ssh, each with the cause, what to say and what would help.
fn refused_by_ssh(stderr: &str, host: &Host) -> Trouble {
    let login = host.login();
    let has = |words: &[&str]| words.iter().any(|word| stderr.contains(word));
    let (cause, message, remedy) = if has(&["REMOTE HOST IDENTIFICATION HAS CHANGED", "Offending "])
    {
        (
            Cause::ChangedHostKey,
            "its host key is another than before".to_owned(),
            format!(
                "if it was installed anew, run `ssh-keygen -R '{}'` and log in once with `ssh {login}`",
                known_as(host)
            ),
        )
    } else if has(&["Host key verification failed", "host key is known for"]) {
        (
            Cause::UnknownHostKey,
            "its host key is not known here".to_owned(),
            format!("log in once with `ssh {login}` and compare the fingerprint"),
        )
    } else if has(&["Could not resolve hostname", "Name or service not known"]) {
        (
            Cause::UnknownHost,
            "there is no host of this name".to_owned(),
            "spell it as ssh knows it, or give it a HostName in ~/.ssh/config".to_owned(),
        )
    } else if has(&[
        "Permission denied",
        "Too many authentication failures",
        "No more authentication methods",
    ]) {
        key_refused(stderr, &login)
    } else if has(&["Connection refused"]) {
        (
            Cause::ConnectionRefused,
            "nothing listens on its port of ssh".to_owned(),
            "start its ssh server, or give the right port".to_owned(),
        )
    } else if has(&["timed out", "No route to host", "Network is unreachable", "Host is down"]) {
        (
            Cause::Unreachable,
            "it does not answer".to_owned(),
            "see whether it is switched on and on the network; the others go on without it"
                .to_owned(),
        )
    } else if has(&[
        "Bad configuration option",
        "Bad owner or permissions",
        "Can't open user config",
        "unsupported option",
    ]) {
        (
            Cause::SshConfiguration,
            "ssh refuses its configuration".to_owned(),
            format!("put right what it says{}", last_words(stderr)),
        )
    } else if has(&[
        "Connection closed",
        "Connection reset",
        "closed by remote host",
        "not responding",
        "Broken pipe",
        "kex_exchange_identification",
        "banner exchange",
        "lost connection",
        "Connection to",
    ]) {
        (
            Cause::ConnectionLost,
            "the connection broke off".to_owned(),
            "give the command again when it is back; a worker that runs there goes on".to_owned(),
        )
    } else {
        (
            Cause::Unclear,
            format!("ssh failed{}", last_words(stderr)),
            format!("see what `ssh -o BatchMode=yes {login} true` says"),
        )
    };
    Trouble::new(cause, message, remedy)
}

/// How ssh writes a host among those that it knows.
fn known_as(host: &Host) -> String {
    match host.settings.port {
        None | Some(22) => host.name.to_string(),
        Some(port) => format!("[{}]:{port}", host.name),
    }
}

/// A host that lets nobody in with the keys that there are.
fn key_refused(stderr: &str, login: &str) -> (Cause, String, String) {
    // What it would have taken is in parentheses at the end.
    let line = stderr.lines().rfind(|line| line.contains("Permission denied")).unwrap_or_default();
    let methods = line.rsplit_once('(').map_or("", |(_, methods)| methods);
    let remedy =
        format!("make it take a key with `ssh-copy-id {login}`, and have that key in the agent");
    if methods.contains("password") || methods.contains("keyboard-interactive") {
        let message = "it takes none of your keys and wants a password, which nobody is asked for";
        (Cause::PasswordWanted, message.to_owned(), remedy)
    } else {
        (Cause::KeyRefused, "it takes none of your keys".to_owned(), remedy)
    }
}

/// A host that let somebody in, and did not run the script.
fn no_shell(code: Option<i32>, ran: &Ran, host: &Host) -> Trouble {
    let said = last_words(&format!("{}\n{}", ran.stdout, ran.stderr));
    let ended = match code {
        Some(code) => format!("with code {code}"),
        None => "by a signal".to_owned(),
    };
    Trouble::new(
        Cause::NoShell,
        format!("it ran no command: ssh ended {ended}{said}"),
        format!("see what `ssh {} sh -c true` says", host.login()),
    )
}

/// The last line that says something, to go on after a sentence.
fn last_words(text: &str) -> String {
    let line = text.lines().map(fit).rfind(|line| !line.trim().is_empty());
    line.map_or_else(String::new, |line| {
        format!(": {}", line.trim().chars().take(MOST_SHOWN).collect::<String>())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host() -> Host {
        Host::named("ann@node1").expect("a host")
    }

    fn ran(code: i32, stdout: &str, stderr: &str) -> Ran {
        Ran {
            end: RunEnd::Exited(Some(code)),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    fn cause(stderr: &str) -> Cause {
        understood(&ran(255, "", stderr), &host()).expect_err(stderr).cause
    }

    #[test]
    fn what_ssh_says_is_understood() {
        let cases = [
            ("Host key verification failed.", Cause::UnknownHostKey),
            (
                "No ED25519 host key is known for node1 and you have requested strict checking.\r\nHost key verification failed.",
                Cause::UnknownHostKey,
            ),
            (
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key verification failed.",
                Cause::ChangedHostKey,
            ),
            ("ann@node1: Permission denied (publickey).", Cause::KeyRefused),
            ("ann@node1: Permission denied (publickey,password).", Cause::PasswordWanted),
            (
                "ann@node1: Permission denied (publickey,keyboard-interactive).",
                Cause::PasswordWanted,
            ),
            (
                "ssh: Could not resolve hostname node1: Name or service not known",
                Cause::UnknownHost,
            ),
            ("ssh: connect to host node1 port 22: Connection refused", Cause::ConnectionRefused),
            ("ssh: connect to host node1 port 22: No route to host", Cause::Unreachable),
            ("ssh: connect to host node1 port 22: Connection timed out", Cause::Unreachable),
            ("Connection timed out during banner exchange", Cause::Unreachable),
            ("Timeout, server node1 not responding.", Cause::ConnectionLost),
            ("Connection closed by 10.0.0.1 port 22", Cause::ConnectionLost),
            ("kex_exchange_identification: read: Connection reset by peer", Cause::ConnectionLost),
            (
                "/home/ann/.ssh/config: line 3: Bad configuration option: hots",
                Cause::SshConfiguration,
            ),
            ("", Cause::Unclear),
            ("something else", Cause::Unclear),
        ];
        for (stderr, expected) in cases {
            assert_eq!(cause(stderr), expected, "{stderr}");
        }
        let trouble = understood(&ran(255, "", "Host key verification failed."), &host());
        assert!(trouble.expect_err("unknown").remedy.contains("`ssh ann@node1`"));
    }

    #[test]
    fn a_script_that_came_to_its_end_is_believed_whatever_ssh_says() {
        let good = "hello\njlpns-launch 1\nfact pid 3\ndone surveyed\n";
        assert!(understood(&ran(0, good, ""), &host()).is_ok());
        let bad = "jlpns-launch 1\ntrouble busy \n";
        assert_eq!(understood(&ran(1, bad, "x"), &host()).expect_err("busy").cause, Cause::Busy);
    }

    #[test]
    fn a_script_that_did_not_is_told_from_one_that_never_ran() {
        let half = "jlpns-launch 1\nfact pid 3\n";
        let of = |ran: Ran| understood(&ran, &host()).expect_err("no end").cause;
        assert_eq!(of(ran(137, half, "")), Cause::ConnectionLost);
        assert_eq!(
            of(ran(255, half, "Timeout, server node1 not responding.")),
            Cause::ConnectionLost
        );
        assert_eq!(of(ran(1, "This account is currently not available.\n", "")), Cause::NoShell);
        assert_eq!(of(ran(0, "", "")), Cause::NoShell);
        let ended = |end| Ran { end, stdout: half.to_owned(), stderr: String::new() };
        assert_eq!(of(ended(RunEnd::TimedOut(9))), Cause::TimedOut);
        assert_eq!(of(ended(RunEnd::NotStarted("no such file".to_owned()))), Cause::NoSsh);
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_one_line(code in any::<i32>(), stdout in ".{0,40}", stderr in "(?s).{0,80}") {
            if let Err(trouble) = understood(&ran(code, &stdout, &stderr), &host()) {
                prop_assert!(!trouble.line().chars().any(char::is_control), "{trouble:?}");
            }
        }
    }
}
