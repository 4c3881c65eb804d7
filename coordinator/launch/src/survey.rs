//! A host that was looked at.

use crate::answer::Answer;

/// What there is on a host, and what runs there. What it did not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The system, as `uname -s` names it.
    pub system: String,
    /// The processor, as `uname -m` names it.
    pub machine: String,
    /// The machine's own name.
    pub host: String,
    /// The folder of the worker.
    pub folder: String,
    /// Its clock, in seconds since 1970.
    pub clock: Option<i64>,
    /// How many processors may be used.
    pub cores: Option<u32>,
    /// The memory that is free for programs, in bytes.
    pub memory: Option<u64>,
    /// The room on the disk of the folder, in bytes.
    pub free: Option<u64>,
    /// Tools that the scripts need and that are not there.
    pub missing: Vec<String>,
    /// What a user's systemd is there.
    pub manager: Manager,
    /// Whether it stays after the log-out.
    pub lingers: bool,
    /// The worker that runs, by its pid file.
    pub pid: Option<u32>,
    /// Workers of the same folder that no pid file names.
    pub strays: Vec<u32>,
    /// The SHA-256 of the worker's file, if there is one.
    pub file: Option<String>,
    /// What was last started.
    pub launched: Launched,
    /// The slots of the worker that runs, as it has told its coordinator.
    pub slots: Option<u32>,
    /// The last line of its log.
    pub said: Option<String>,
}

/// What was last started in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// The SHA-256 of the worker.
    pub build: Option<String>,
    /// Its version, in its own words.
    pub version: Option<String>,
    /// What tells its flags and credentials from others.
    pub settings: Option<String>,
    /// When, in seconds since 1970 by the host's clock.
    pub since: Option<i64>,
    /// What it was started by: `systemd` or `detached`.
    pub under: Option<String>,
}

/// A user's systemd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manager {
    /// It answers.
    Usable,
    /// The system has one, and it does not answer.
    Unreachable,
    /// The system has none.
    #[default]
    Absent,
}

impl Survey {
    /// What an answer says of the host.
    pub fn of(answer: &Answer) -> Survey {
        let text = |name: &str| answer.fact(name).map(str::to_owned);
        let words = |name: &str| answer.fact(name).into_iter().flat_map(str::split_whitespace);
        let bytes = |name: &str| answer.number::<u64>(name).map(|kib| kib.saturating_mul(1024));
        Survey {
            system: text("system").unwrap_or_default(),
            machine: text("machine").unwrap_or_default(),
            host: text("host").unwrap_or_default(),
            folder: text("folder").unwrap_or_default(),
            clock: answer.number("clock"),
            cores: answer.number("cores"),
            memory: bytes("memory"),
            free: bytes("free"),
            missing: words("missing").map(str::to_owned).collect(),
            manager: match answer.fact("manager") {
                Some("usable") => Manager::Usable,
                Some("unreachable") => Manager::Unreachable,
                _ => Manager::Absent,
            },
            lingers: answer.fact("lingers").is_some(),
            pid: answer.number("pid"),
            strays: words("strays").filter_map(|pid| pid.parse().ok()).collect(),
            file: text("file"),
            launched: Launched {
                build: text("build"),
                version: text("version"),
                settings: text("settings"),
                since: answer.number("since"),
                under: text("under"),
            },
            slots: answer.number("slots"),
            said: text("said"),
        }
    }

    /// The worker that runs, with a pid file or without.
    pub fn running(&self) -> Option<u32> {
        self.pid.or_else(|| self.strays.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_far_as_it_goes() {
        let text = "jlpns-launch 1\nfact system Linux\nfact free 10\nfact strays 5 6\nfact cores x\nfact manager usable\n\
                    fact missing dd sed\n";
        let survey = Survey::of(&Answer::read(text));
        assert_eq!(
            (survey.system.as_str(), survey.free, survey.cores),
            ("Linux", Some(10_240), None)
        );
        assert_eq!((survey.running(), survey.pid), (Some(5), None));
        assert_eq!((survey.manager, survey.lingers), (Manager::Usable, false));
        assert_eq!(survey.missing, ["dd", "sed"]);
    }
}
