//! A host, and how a worker runs there.

use std::fmt::{self, Display};

use serde::Serialize;

/// Where the worker's files are if nothing else is said: in the home of whoever logs in.
pub const USUAL_PATH: &str = "~/.local/state/jlpns";

/// The most characters of a host's name, as in the domain name system.
const MOST_NAME: usize = 253;

/// The largest nice value.
pub const NICEST: u8 = 19;

/// A name under which ssh finds a host: of its configuration, of the domain name system, or an address. It holds
/// nothing that ssh or a shell takes for something else, and does not begin like an option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostName(String);

/// The name of a user. It is as safe as a [`HostName`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserName(String);

/// Why a name is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is nothing.
    #[error("an empty name")]
    Empty,
    /// It begins like an option.
    #[error("'{0}', which begins with '-' as no name does")]
    Option(String),
    /// It is longer than names are.
    #[error("a name of {0} characters; the longest have {MOST_NAME}")]
    Long(usize),
    /// It holds a character that names do not have.
    #[error(
        "'{name}', which holds {character:?}; names are of letters, digits, '.', '-', '_' and ':'"
    )]
    Character {
        /// The name.
        name: String,
        /// The character.
        character: char,
    },
}

fn check(name: &str, more: &str) -> Result<(), NameError> {
    let shown = || name.chars().take(60).collect::<String>();
    let count = name.chars().count();
    if count == 0 {
        return Err(NameError::Empty);
    }
    if name.starts_with('-') {
        return Err(NameError::Option(shown()));
    }
    let is_fit = |c: &char| c.is_ascii_alphanumeric() || ".-_:".contains(*c) || more.contains(*c);
    if let Some(character) = name.chars().find(|c| !is_fit(c)) {
        return Err(NameError::Character { name: shown(), character });
    }
    if count > MOST_NAME {
        return Err(NameError::Long(count));
    }
    Ok(())
}

impl HostName {
    /// The name, if it is one.
    pub fn new(name: &str) -> Result<HostName, NameError> {
        check(name, "")?;
        Ok(HostName(name.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl UserName {
    /// The name, if it is one.
    pub fn new(name: &str) -> Result<UserName, NameError> {
        // Directories of users have names such as ann@lab.example.
        check(name, "@+")?;
        Ok(UserName(name.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the system shares its processors and disks between a worker and others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// It gets what nobody else wants.
    Idle,
    /// It is one of all, by its nice value.
    Normal,
}

impl Scheduling {
    /// All, by their names.
    pub const ALL: [(&'static str, Scheduling); 2] =
        [("idle", Scheduling::Idle), ("normal", Scheduling::Normal)];
}

/// What a worker is started by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Systemd {
    /// By the user's systemd if it is there and stays after the log-out, else detached.
    Auto,
    /// By the user's systemd, or not at all.
    Always,
    /// Detached, with a pid file.
    Never,
}

impl Systemd {
    /// All, by their names.
    pub const ALL: [(&'static str, Systemd); 3] =
        [("auto", Systemd::Auto), ("always", Systemd::Always), ("never", Systemd::Never)];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, systemd)| *systemd == self);
        found.map_or("auto", |(name, _)| name)
    }
}

/// What may be said of a host, and of all of them together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Who logs in.
    pub user: Option<UserName>,
    /// The port of its ssh.
    pub port: Option<u16>,
    /// The folder for the worker's files.
    pub path: Option<String>,
    /// The worker's `--slots`.
    pub slots: Option<String>,
    /// The worker's `--memory`.
    pub memory: Option<String>,
    /// Its nice value.
    pub nice: Option<u8>,
    /// How it is scheduled.
    pub scheduling: Option<Scheduling>,
    /// What it is started by.
    pub systemd: Option<Systemd>,
    /// More flags of the worker.
    pub flags: Option<Vec<String>>,
}

impl Settings {
    /// These, and those of `other` where these say nothing.
    pub fn or(self, other: &Settings) -> Settings {
        let Settings { user, port, path, slots, memory, nice, scheduling, systemd, flags } = self;
        Settings {
            user: user.or_else(|| other.user.clone()),
            port: port.or(other.port),
            path: path.or_else(|| other.path.clone()),
            slots: slots.or_else(|| other.slots.clone()),
            memory: memory.or_else(|| other.memory.clone()),
            nice: nice.or(other.nice),
            scheduling: scheduling.or(other.scheduling),
            systemd: systemd.or(other.systemd),
            flags: flags.or_else(|| other.flags.clone()),
        }
    }

    /// The folder for the worker's files.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(USUAL_PATH)
    }

    /// The nice value.
    pub fn nice(&self) -> u8 {
        self.nice.unwrap_or(NICEST)
    }

    /// How it is scheduled.
    pub fn scheduling(&self) -> Scheduling {
        self.scheduling.unwrap_or(Scheduling::Idle)
    }

    /// What it is started by.
    pub fn systemd(&self) -> Systemd {
        self.systemd.unwrap_or(Systemd::Auto)
    }
}

/// A folder on a host, in one line and without what no path needs.
pub fn path(text: &str) -> Result<String, String> {
    let is_fit = !text.trim().is_empty() && !text.chars().any(char::is_control);
    let is_other_home = text.starts_with('~') && text != "~" && !text.starts_with("~/");
    if is_fit && !is_other_home {
        Ok(text.to_owned())
    } else {
        Err("write a folder such as ~/.local/state/jlpns or /scratch/ann/jlpns".to_owned())
    }
}

/// A host that is named, with what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: HostName,
    /// What is said of it.
    pub settings: Settings,
}

impl Host {
    /// A host of which nothing is said but perhaps the user: `NAME` or `USER@NAME`.
    pub fn named(text: &str) -> Result<Host, NameError> {
        let (user, name) = match text.rsplit_once('@') {
            Some((user, name)) => (Some(UserName::new(user)?), name),
            None => (None, text),
        };
        let settings = Settings { user, ..Settings::default() };
        Ok(Host { name: HostName::new(name)?, settings })
    }

    /// What tells it from the others: two of the same are one folder on one machine.
    pub fn place(&self) -> (String, Option<u16>, Option<&UserName>, &str) {
        let Settings { port, user, .. } = &self.settings;
        (self.name.0.to_lowercase(), *port, user.as_ref(), self.settings.path())
    }

    /// How it is called in what is printed.
    pub fn shown(&self) -> String {
        let user = self.settings.user.as_ref().map(|user| format!("{}@", user.0));
        let port = self.settings.port.map(|port| format!(" port {port}"));
        format!("{}{}{}", user.unwrap_or_default(), self.name, port.unwrap_or_default())
    }

    /// What ssh is given to reach it: its options, and the name last.
    pub fn ssh_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(port) = self.settings.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        if let Some(user) = &self.settings.user {
            words.extend(["-l".to_owned(), user.0.clone()]);
        }
        words.extend(["--".to_owned(), self.name.0.clone()]);
        words
    }

    /// What a person types to log in there.
    pub fn login(&self) -> String {
        let port = self.settings.port.map(|port| format!("-p {port} ")).unwrap_or_default();
        let user = self.settings.user.as_ref().map(|user| format!("{}@", user.0));
        format!("{port}{}{}", user.unwrap_or_default(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_have_users_and_are_shown_as_they_are_typed() {
        let host = Host::named("ann@node-1.lab.example").expect("a host");
        assert_eq!(host.ssh_words(), ["-l", "ann", "--", "node-1.lab.example"]);
        assert_eq!(host.shown(), "ann@node-1.lab.example");
        let host = Host::named("ann@lab.example@node1").expect("a user of a directory");
        assert_eq!(host.ssh_words(), ["-l", "ann@lab.example", "--", "node1"]);
        assert_eq!(Host::named("fd00::1").expect("an address").login(), "fd00::1");
    }

    #[test]
    fn what_no_host_is_called_is_refused() {
        for (bad, words) in [
            ("", "an empty name"),
            ("ann@", "an empty name"),
            ("@node", "an empty name"),
            ("-oProxyCommand=touch", "begins with '-'"),
            ("ann@-node", "begins with '-'"),
            ("-l@node", "begins with '-'"),
            ("node 1", "holds ' '"),
            ("node;id", "holds ';'"),
            ("$(id)", "holds '$'"),
            ("node\n", "holds '\\n'"),
            ("a/b", "holds '/'"),
            ("%h", "holds '%'"),
            ("nöde", "holds 'ö'"),
            ("`id`@node", "holds '`'"),
        ] {
            let sentence = Host::named(bad).expect_err(bad).to_string();
            assert!(sentence.contains(words), "{bad}: {sentence}");
        }
        assert!(Host::named(&"a".repeat(254)).is_err());
    }

    #[test]
    fn a_host_comes_before_what_is_said_of_all() {
        let own = Settings { nice: Some(5), ..Settings::default() };
        let all = Settings { nice: Some(7), slots: Some("2".to_owned()), ..Settings::default() };
        let both = own.or(&all);
        assert_eq!((both.nice(), both.slots.as_deref()), (5, Some("2")));
        assert_eq!((both.path(), both.scheduling()), (USUAL_PATH, Scheduling::Idle));
    }

    #[test]
    fn paths_are_of_one_line() {
        assert!(path("/scratch/with space").is_ok() && path("~/x").is_ok() && path("x").is_ok());
        for bad in ["", " ", "a\nb", "~ann/x", "a\0"] {
            assert!(path(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_let_through_is_no_option_and_nothing_for_a_shell(text in ".{0,20}") {
            if let Ok(host) = Host::named(&text) {
                let words = host.ssh_words();
                let name = words.last().expect("the name is the last word");
                prop_assert!(!name.starts_with('-'));
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:".contains(c)));
            }
        }
    }
}
