//! `jlpns-worker systemd`: prints the unit that runs the worker with the flags in use, whether they were typed or are in
//! the environment or in the configuration file.

use std::any::TypeId;
use std::env;
use std::io::{self, Write};
use std::path::{self, Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use jlpns_search::memory;
use jlpns_shell::layers::{Setting, Source};

use self::unit::{Kind, Unit, Word};
use crate::cli::{MEMORY_OF_A_SLOT, NO_COORDINATOR};

mod quoting;
mod unit;

/// The name of the subcommand.
pub const NAME: &str = "systemd";

/// Its own flags, beside those of the worker.
const USER: &str = "user";
const PROGRAM: &str = "program";

/// The flags whose files only their owner may read: systemd hands them over.
const CREDENTIALS: [&str; 4] = ["token-file", "ca", "cert", "key"];

/// Why there is no unit.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// It is not known which program the unit is to run.
    #[error("the path of this program is not known ({0}); give the one to be run with --program")]
    Program(io::Error),
    /// A path that cannot be written in a unit.
    #[error("the path {0:?} has a line break or another control character, which no unit can hold")]
    Path(PathBuf),
    /// A path that is relative to no folder.
    #[error("the path {path:?} is relative, and the current folder is not known ({cause})")]
    Folder {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Nobody says where the coordinator is.
    #[error("{NO_COORDINATOR}")]
    NoCoordinator,
    /// The unit cannot be printed.
    #[error("the unit cannot be printed: {0}")]
    Print(io::Error),
}

/// The subcommand, which has the flags of the worker.
pub fn command(worker: &Command) -> Command {
    // Global flags come by themselves.
    let flags = worker.get_arguments().filter(|arg| !arg.is_global_set()).cloned();
    let user = Arg::new(USER)
        .long(USER)
        .action(ArgAction::SetTrue)
        .help("A unit of a user's own systemd instead of the system's: no root is needed");
    let program = Arg::new(PROGRAM)
        .long(PROGRAM)
        .value_name("PATH")
        .env("JLPNS_PROGRAM")
        .value_parser(value_parser!(PathBuf))
        .help("The worker that the unit runs [default: this one]");
    Command::new(NAME)
        .about("Print a systemd unit that runs the worker with these flags")
        .long_about(
            "Print a systemd unit that runs the worker with these flags, and with those that are in the environment \
             or in the configuration file. The unit is for /etc/systemd/system/jlpns-worker.service; with --user, for \
             ~/.config/systemd/user/jlpns-worker.service.",
        )
        .args(flags)
        .arg(user)
        .arg(program)
}

/// Prints the unit for these settings.
pub fn print(matches: &ArgMatches, settings: &[Setting]) -> Result<(), UnitError> {
    let kind = if matches.get_flag(USER) { Kind::User } else { Kind::System };
    let program = match matches.get_one::<PathBuf>(PROGRAM) {
        Some(program) => absolute(program)?,
        None => env::current_exe().map_err(UnitError::Program)?,
    };
    let unit = unit_of(&crate::cli::command(), kind, program, settings)?;
    match io::stdout().lock().write_all(unit.to_string().as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(UnitError::Print(error)),
        _ => Ok(()),
    }
}

/// The unit that runs `program` with the settings that are not at their default.
fn unit_of(
    worker: &Command,
    kind: Kind,
    program: PathBuf,
    settings: &[Setting],
) -> Result<Unit, UnitError> {
    let is_named = |setting: &Setting| {
        ["coordinator", "coordinator-file"].contains(&setting.key.as_str())
            && !setting.values.is_empty()
    };
    if !settings.iter().any(is_named) {
        return Err(UnitError::NoCoordinator);
    }
    let mut unit = Unit { kind, program: writable(program)?, words: Vec::new(), memory: None };
    let own = |setting: &&Setting| ![USER, PROGRAM].contains(&setting.key.as_str());
    let is_given = |setting: &&Setting| setting.source != Source::Default;
    for setting in settings.iter().filter(own).filter(is_given) {
        let flag = worker.get_arguments().find(|arg| arg.get_long() == Some(&setting.key));
        let is_path =
            flag.is_some_and(|flag| flag.get_value_parser().type_id() == TypeId::of::<PathBuf>());
        for value in &setting.values {
            unit.words.extend(match flag.map(Arg::get_action) {
                Some(ArgAction::SetTrue) => vec![Word::Switch(setting.key.clone())]
                    .into_iter()
                    .filter(|_| value == "true")
                    .collect(),
                Some(ArgAction::Count) => {
                    let times = value.parse().unwrap_or(0);
                    vec![Word::Switch(setting.key.clone()); times]
                }
                _ if is_path => vec![Word::File {
                    key: setting.key.clone(),
                    path: writable(absolute(Path::new(value))?)?,
                    is_secret: CREDENTIALS.contains(&setting.key.as_str()),
                }],
                _ => vec![Word::Value { key: setting.key.clone(), value: value.clone() }],
            });
        }
    }
    unit.memory = memory_of(settings);
    Ok(unit)
}

/// The memory of all searches with these settings, in bytes; `None` if the machine decides.
fn memory_of(settings: &[Setting]) -> Option<u64> {
    let given = |key: &str| {
        let setting = settings.iter().find(|setting| setting.key == key)?;
        setting.values.first().filter(|_| setting.source != Source::Default)
    };
    match (given("memory"), given("slots")) {
        (Some(memory), _) => memory::parse(memory).ok(),
        (None, Some(slots)) => Some(MEMORY_OF_A_SLOT * slots.parse::<u64>().ok()?),
        (None, None) => None,
    }
}

/// The path from the root: a unit runs elsewhere than here.
fn absolute(path: &Path) -> Result<PathBuf, UnitError> {
    path::absolute(path).map_err(|cause| UnitError::Folder { path: path.to_owned(), cause })
}

/// The path, if a unit can hold it.
fn writable(path: PathBuf) -> Result<PathBuf, UnitError> {
    let is_text = path.to_str().is_some_and(|text| !text.contains(char::is_control));
    if is_text { Ok(path) } else { Err(UnitError::Path(path)) }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use jlpns_shell::layers::layered;

    use super::*;

    /// The unit that these words ask for, with a program of its own. Without a word of its coordinator there is none.
    fn unit(words: &[&str]) -> Result<String, UnitError> {
        let by_file = words.contains(&"--coordinator-file");
        let coordinator = (!by_file).then_some("--coordinator=http://a:1");
        let words =
            ["jlpns-worker", NAME].into_iter().chain(coordinator).chain(words.iter().copied());
        let all = words.map(OsString::from).collect();
        let read = layered(crate::cli::command(), &["worker"], None, all).expect("good usage");
        let (_, matches) = read.matches.subcommand().expect("a subcommand");
        let kind = if matches.get_flag(USER) { Kind::User } else { Kind::System };
        let program = PathBuf::from("/usr/local/bin/jlpns-worker");
        Ok(unit_of(&crate::cli::command(), kind, program, &read.settings)?.to_string())
    }

    /// The lines of a unit that begin like this.
    fn lines<'a>(unit: &'a str, begin: &str) -> Vec<&'a str> {
        unit.lines().map(str::trim).filter(|line| line.starts_with(begin)).collect()
    }

    #[test]
    fn the_flags_in_use_are_in_the_command_and_no_others() {
        let text = unit(&["--slots", "4", "-vv"]).expect("a unit");
        assert_eq!(lines(&text, "ExecStart="), ["ExecStart=/usr/local/bin/jlpns-worker \\"]);
        assert_eq!(
            lines(&text, "--"),
            ["--coordinator=http://a:1 \\", "--slots=4 \\", "--verbose \\", "--verbose"]
        );
        assert_eq!(lines(&text, "LoadCredential="), Vec::<&str>::new());
        assert_eq!(lines(&unit(&[]).expect("a unit"), "--"), ["--coordinator=http://a:1"]);
    }

    #[test]
    fn which_jobs_are_taken_is_in_the_command() {
        let text = unit(&["--games", "connect4,woodpush", "--longest-job", "10m"]).expect("a unit");
        let flags = ["--games=connect4 \\", "--games=woodpush \\", "--longest-job=10m"];
        assert_eq!(lines(&text, "--")[1..], flags);
    }

    #[test]
    fn the_memory_that_is_allowed_follows_from_the_flags() {
        let most = |words: &[&str]| {
            let text = unit(words).expect("a unit");
            lines(&text, "MemoryMax=").concat().trim_start_matches("MemoryMax=").to_owned()
        };
        assert_eq!(most(&["--memory", "1GiB"]), "1536M");
        assert_eq!(most(&["--slots", "2"]), "1536M");
        assert_eq!(most(&["--slots", "2", "--memory", "4GiB"]), "5376M");
        assert_eq!(most(&[]), "90%");
    }

    #[test]
    fn secrets_are_handed_over_by_the_system_and_read_in_place_by_users() {
        let words = ["--token-file", "/etc/jlpns/token", "--coordinator-file", "/srv/lab/url"];
        let system = unit(&words).expect("a unit");
        assert_eq!(
            lines(&system, "LoadCredential="),
            ["LoadCredential=token-file:/etc/jlpns/token"]
        );
        let flags = ["--coordinator-file=/srv/lab/url \\", "--token-file=%d/token-file"];
        assert_eq!(lines(&system, "--"), flags);
        let user = unit(&[&words[..], &["--user"]].concat()).expect("a unit");
        assert_eq!(lines(&user, "LoadCredential="), Vec::<&str>::new());
        assert_eq!(lines(&user, "--t"), ["--token-file=/etc/jlpns/token"]);
        assert_eq!(lines(&user, "DynamicUser="), Vec::<&str>::new());
        assert_eq!(lines(&user, "WantedBy="), ["WantedBy=default.target"]);
    }

    #[test]
    fn what_the_system_unit_hides_is_shown_where_it_is_needed() {
        let text = unit(&["--coordinator-file", "/home/ada/shared lab/url"]).expect("a unit");
        assert_eq!(
            lines(&text, "BindReadOnlyPaths="),
            ["BindReadOnlyPaths=\"/home/ada/shared lab\""]
        );
        assert_eq!(lines(&text, "ProtectHome="), ["ProtectHome=tmpfs"]);
        let text = unit(&["--coordinator-file", "/srv/url"]).expect("a unit");
        assert_eq!(lines(&text, "BindReadOnlyPaths="), Vec::<&str>::new());
        assert_eq!(lines(&text, "ProtectHome="), ["ProtectHome=yes"]);
    }

    #[test]
    fn relative_paths_are_those_of_whoever_prints_the_unit() {
        let text = unit(&["--token-file", "lab/token"]).expect("a unit");
        let here = env::current_dir().expect("a folder").join("lab/token");
        let wanted = format!("LoadCredential=token-file:{}", here.display());
        assert_eq!(lines(&text, "LoadCredential="), [wanted]);
    }

    #[test]
    fn a_path_that_no_unit_can_hold_is_an_error() {
        let error = unit(&["--token-file", "/a\nb"]).expect_err("a line break");
        assert!(error.to_string().contains("line break"), "{error}");
    }

    #[test]
    fn values_are_quoted_as_systemd_reads_them() {
        let text = unit(&["--name", "50% of $HOME; \"a\\b\""]).expect("a unit");
        assert_eq!(lines(&text, "\"--"), ["\"--name=50%% of $$HOME; \\\"a\\\\b\\\"\""]);
    }
}
