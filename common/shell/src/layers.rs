//! Flag before environment before file before default; and where each value comes from.
//!
//! What the file sets is given to clap as flags in front of those that were typed, unless the same setting was typed or
//! is in the environment. So clap checks it all as one: which flags need or exclude each other, and what is required.

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::file::{ConfigError, ConfigFile, is_set};
use crate::values::{is_switch, key_of, typed};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It was typed.
    Flag,
    /// This environment variable.
    Environment(String),
    /// The configuration file.
    File,
    /// Nobody said anything else.
    Default,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key in the file.
    pub key: String,
    /// Its values, as they would be typed; none if there is no default.
    pub values: Vec<String>,
    /// Where they come from.
    pub source: Source,
}

/// What a command was given, of all layers.
#[derive(Clone, Debug)]
pub struct Layered {
    /// All arguments.
    pub matches: ArgMatches,
    /// The settings of the command that was named, in the order of its help.
    pub settings: Vec<Setting>,
}

/// Why there is nothing to run.
#[derive(Debug)]
pub enum Refused {
    /// The file is wrong.
    File(ConfigError),
    /// What was typed, or the whole of it all, is wrong; or it asks for help. With the file's flags that
    /// took part.
    Usage(clap::Error, Option<String>),
}

impl From<ConfigError> for Refused {
    fn from(error: ConfigError) -> Refused {
        Refused::File(error)
    }
}

/// What was typed, as far as it can be read: what is missing may be in the file.
pub fn probe(command: &Command, words: &[OsString]) -> Option<ArgMatches> {
    command.clone().ignore_errors(true).try_get_matches_from(words).ok()
}

/// The names of the subcommands in it, and the arguments of the last.
pub fn innermost(matches: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let (mut names, mut inner) = (Vec::new(), matches);
    while let Some((name, more)) = inner.subcommand() {
        names.push(name);
        inner = more;
    }
    (names, inner)
}

/// Reads the words with what the file sets; the first word is the program. The settings of the command are in the
/// table `table`, or else in the one of the subcommand that the words name.
pub fn layered(
    command: Command,
    table: &[&str],
    file: Option<&ConfigFile>,
    words: Vec<OsString>,
) -> Result<Layered, Refused> {
    let mut whole = command.clone();
    whole.build();
    let usage = |error: clap::Error| Refused::Usage(error, None);
    let Some(typed_words) = probe(&command, &words) else {
        let matches = command.try_get_matches_from(words).map_err(usage)?;
        return Ok(Layered { matches, settings: Vec::new() });
    };
    let (names, inner) = innermost(&typed_words);
    let mut of = &whole;
    for name in &names {
        of = of.find_subcommand(name).unwrap_or(of);
    }
    let tables = [table, &names[..]].concat();
    let was_typed = |arg: &Arg| {
        inner.try_contains_id(arg.get_id().as_str()).is_ok()
            && inner.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let is_given = |arg: &Arg| was_typed(arg) || arg.get_env().is_some_and(is_set);
    let mut from_file = FromFile::default();
    for arg in of.get_arguments().filter(|arg| !is_given(arg)) {
        let excludes = |one: &Arg, other: &Arg| of.get_arg_conflicts_with(one).contains(&other);
        let is_excluded = |other: &Arg| excludes(arg, other) || excludes(other, arg);
        if of.get_arguments().any(|other| is_given(other) && is_excluded(other)) {
            continue;
        }
        let value = key_of(arg).and_then(|key| Some((file?.value(&tables, &key)?, key)));
        let Some((value, key)) = value else { continue };
        // The file was checked: a value that is not taken here is of no command.
        let Ok(values) = typed(arg, value) else { continue };
        from_file.add(arg, &key, &values);
    }
    let place = place_of_flags(&whole, &words, names.len());
    let mut all = words;
    all.splice(place..place, from_file.flags.iter().map(OsString::from));
    all.extend(from_file.positional.iter().map(OsString::from));
    let matches = command.try_get_matches_from(all).map_err(|error| {
        let note = file.and_then(|file| from_file.note(&error, file));
        Refused::Usage(error, note)
    })?;
    let settings = settings(of, innermost(&matches).1, &from_file.keys, &was_typed);
    Ok(Layered { matches, settings })
}

/// What the file sets of a command, as it would be typed.
#[derive(Debug, Default)]
struct FromFile {
    keys: Vec<String>,
    flags: Vec<String>,
    positional: Vec<String>,
}

impl FromFile {
    fn add(&mut self, arg: &Arg, key: &str, values: &[String]) {
        self.keys.push(key.to_owned());
        for value in values {
            if arg.is_positional() {
                self.positional.push(value.clone());
            } else if is_switch(arg) {
                self.flags.extend((value == "true").then(|| format!("--{key}")));
            } else if matches!(arg.get_action(), ArgAction::Count) {
                let times = value.parse().unwrap_or(0);
                self.flags.extend(std::iter::repeat_n(format!("--{key}"), times));
            } else {
                self.flags.push(format!("--{key}={value}"));
            }
        }
    }

    /// Which flags of the file an error is about.
    fn note(&self, error: &clap::Error, file: &ConfigFile) -> Option<String> {
        if !matches!(error.kind(), ErrorKind::ArgumentConflict | ErrorKind::MissingRequiredArgument)
        {
            return None;
        }
        let named: Vec<&String> = self
            .keys
            .iter()
            .filter(|key| {
                let flag = format!("--{key}");
                let mut text = error.to_string();
                text.truncate(text.find("Usage:").unwrap_or(text.len()));
                text.split(['\'', ' ', '\n']).any(|word| word == flag)
            })
            .collect();
        // What is missing may be asked for by any of them.
        let named: Vec<&str> = match named.is_empty() {
            true => self.keys.iter().map(String::as_str).collect(),
            false => named.into_iter().map(String::as_str).collect(),
        };
        let path = file.path().display();
        (!named.is_empty())
            .then(|| format!("the configuration file {path} sets {}", named.join(", ")))
    }
}

/// Where flags of the innermost command can be added: after its name.
fn place_of_flags(whole: &Command, words: &[OsString], depth: usize) -> usize {
    let (mut place, mut of) = (1, whole);
    for _ in 0..depth {
        while let Some(word) = words.get(place).and_then(|word| word.to_str()) {
            place += 1;
            if let Some(inner) = of.find_subcommand(word) {
                of = inner;
                break;
            }
            let flag = word.strip_prefix("--");
            let flag =
                flag.and_then(|flag| of.get_arguments().find(|a| a.get_long() == Some(flag)));
            // The value of a flag may be a subcommand's name.
            place += usize::from(flag.is_some_and(|flag| flag.get_action().takes_values()));
        }
    }
    place.min(words.len())
}

/// Where the values of a command come from.
fn settings(
    of: &Command,
    matches: &ArgMatches,
    from_file: &[String],
    was_typed: &dyn Fn(&Arg) -> bool,
) -> Vec<Setting> {
    let keyed = of.get_arguments().filter_map(|arg| Some((arg, key_of(arg)?)));
    let all = keyed.map(|(arg, key)| {
        let variable = arg.get_env().filter(|variable| is_set(variable)).and_then(OsStr::to_str);
        let source = match variable {
            _ if was_typed(arg) => Source::Flag,
            Some(variable) => Source::Environment(variable.to_owned()),
            None if from_file.contains(&key) => Source::File,
            None => Source::Default,
        };
        let id = arg.get_id().as_str();
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        let values: Vec<String> = match arg.get_action() {
            ArgAction::Count => vec![matches.get_count(id).to_string()],
            ArgAction::SetTrue => vec![matches.get_flag(id).to_string()],
            _ => matches.get_raw(id).into_iter().flatten().map(text).collect(),
        };
        Setting { key, values, source }
    });
    all.collect()
}

/// The value of a setting and where it comes from, if it has one.
pub fn setting<'a>(settings: &'a [Setting], key: &str) -> Option<(&'a str, &'a Source)> {
    let found = settings.iter().find(|setting| setting.key == key)?;
    Some((found.values.first()?, &found.source))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::value_parser;

    use super::*;
    use crate::reading::Program;

    /// A program with a command that has flags of each kind.
    fn command() -> Command {
        macro_rules! flag {
            ($name:literal) => {
                Arg::new($name).long($name).env(concat!("JLPNS_TEST_", $name))
            };
        }
        macro_rules! switch {
            ($name:literal) => {
                flag!($name).action(ArgAction::SetTrue)
            };
        }
        let solve = Command::new("solve")
            .arg(Arg::new("spec").required(true))
            .arg(flag!("memory").default_value("2GiB"))
            .arg(
                flag!("slots")
                    .value_parser(value_parser!(u32).range(1..=8))
                    .env("JLPNS_TEST_SLOTS"),
            )
            .arg(flag!("cert").requires("key"))
            .arg(flag!("key").requires("cert"))
            .arg(switch!("minimize").conflicts_with("compact"))
            .arg(switch!("compact"))
            // An order, which is typed each time.
            .arg(Arg::new("kick").long("kick"))
            .arg(flag!("name").action(ArgAction::Append))
            .arg(flag!("share").num_args(0..=1).require_equals(true).default_missing_value("true"));
        let verbose = flag!("verbose").short('v').action(ArgAction::Count).global(true);
        let config = flag!("config").value_parser(value_parser!(std::path::PathBuf)).global(true);
        let keys = Command::new("keys").subcommand(Command::new("init").arg(flag!("memory")));
        let status =
            Command::new("status").arg(Arg::new("url").required(true).env("JLPNS_COORDINATOR"));
        Command::new("jlpns")
            .subcommand_required(true)
            .arg(verbose)
            .arg(config)
            .subcommands([solve, keys, status])
    }

    /// What comes of these words with a file of this text.
    fn read(file: &str, words: &[&str]) -> Result<Layered, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        fs::write(&path, file).expect("the file is written");
        let program =
            Program { command: command(), table: None, others: Vec::new(), without_file: &["man"] };
        let words = words.iter().map(OsString::from);
        let config = [OsString::from("--config"), path.clone().into()];
        let words = [OsString::from("jlpns")].into_iter().chain(config).chain(words).collect();
        let path = path.display().to_string();
        match program.read(words) {
            Ok((layered, _)) => Ok(layered),
            Err(Refused::File(error)) => Err(error.to_string().replace(&path, "FILE")),
            Err(Refused::Usage(error, note)) => {
                Err(format!("{error}{}", note.unwrap_or_default()).replace(&path, "FILE"))
            }
        }
    }

    fn value_of(file: &str, words: &[&str], key: &str) -> (Option<String>, Source) {
        let layered = read(file, words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let found = layered.settings.iter().find(|setting| setting.key == key);
        let found = found.unwrap_or_else(|| panic!("{key} is a setting"));
        ((!found.values.is_empty()).then(|| found.values.join(",")), found.source.clone())
    }

    #[test]
    fn a_flag_comes_before_the_file_and_the_file_before_the_default() {
        let file = "memory = '3GiB'\n[solve]\nslots = 4\n";
        let all = |words: &[&str], key: &str| value_of(file, words, key);
        assert_eq!(all(&["solve", "x"], "memory"), (Some("3GiB".to_owned()), Source::File));
        assert_eq!(all(&["solve", "x"], "slots"), (Some("4".to_owned()), Source::File));
        let typed = ["solve", "--memory", "1GiB", "x"];
        assert_eq!(all(&typed, "memory"), (Some("1GiB".to_owned()), Source::Flag));
        assert_eq!(all(&["keys", "init"], "memory"), (Some("3GiB".to_owned()), Source::File));
        let default = value_of("", &["solve", "x"], "memory");
        assert_eq!(default, (Some("2GiB".to_owned()), Source::Default));
        assert_eq!(value_of("", &["solve", "x"], "slots"), (None, Source::Default));
        let own = "memory = '3GiB'\n[solve]\nmemory = '5GiB'\n[keys.init]\nmemory = '6GiB'\n";
        assert_eq!(value_of(own, &["solve", "x"], "memory").0.as_deref(), Some("5GiB"));
        assert_eq!(value_of(own, &["keys", "init"], "memory").0.as_deref(), Some("6GiB"));
    }

    #[test]
    fn flags_of_every_kind_can_be_in_the_file() {
        let file = "coordinator = 'http://host:1'\nverbose = 2\n\
                    [solve]\nminimize = true\nname = ['a', 'b']\nshare = false\n";
        let solve = |key: &str| value_of(file, &["solve", "x"], key).0.unwrap_or_default();
        assert_eq!(solve("minimize"), "true");
        assert_eq!(solve("name"), "a,b");
        assert_eq!(solve("share"), "false");
        assert_eq!(solve("verbose"), "2");
        let url = value_of(file, &["status"], "coordinator");
        assert_eq!(url, (Some("http://host:1".to_owned()), Source::File));
        let url = value_of(file, &["status", "http://other:1"], "coordinator");
        assert_eq!(url, (Some("http://other:1".to_owned()), Source::Flag));
        let after_dashes = value_of(file, &["solve", "--", "solve"], "share");
        assert_eq!(after_dashes, (Some("false".to_owned()), Source::File));
    }

    #[test]
    fn what_needs_and_what_excludes_each_other_is_checked_with_the_file() {
        let lone = read("[solve]\ncert = 'a'\n", &["solve", "x"]).expect_err("the key is missing");
        assert!(lone.contains("--key") && lone.contains("FILE sets cert"), "{lone}");
        let both = read("[solve]\ncert = 'a'\n", &["solve", "x", "--key", "b"]);
        both.expect("one is in the file, one was typed");
        let clash = read("[solve]\nminimize = true\ncompact = true\n", &["solve", "x"]);
        let clash = clash.expect_err("they exclude each other");
        assert!(clash.contains("cannot be used with") && clash.contains("FILE sets"), "{clash}");
        // What was typed comes before what it excludes.
        let file = "[solve]\nminimize = true\n";
        let minimize = value_of(file, &["solve", "x", "--compact"], "minimize");
        assert_eq!(minimize, (Some("false".to_owned()), Source::Default));
    }

    #[test]
    fn what_is_wrong_in_the_file_is_one_sentence_that_names_it() {
        let refused = |file: &str, words: &[&str]| {
            let sentence = read(file, &["solve", "x"]).expect_err(file);
            assert!(sentence.contains("FILE") && !sentence.contains('\n'), "{sentence}");
            for word in words {
                assert!(sentence.contains(word), "'{word}' is not in: {sentence}");
            }
        };
        refused("[solve]\nmemroy = '1GiB'\n", &["'memroy' in [solve]", "'memory' is one"]);
        refused(
            "[solve]\nxyzzy = 1\n",
            &["'xyzzy' in [solve]", "the keys there are memory, slots"],
        );
        refused("[sovle]\nmemory = 1\n", &["table [sovle]", "[solve] is one"]);
        refused("[xyzzy]\n", &["table [xyzzy]", "bench"]);
        refused("memroy = '1GiB'\n", &["'memroy' outside its tables", "'memory' is one"]);
        refused("[solve]\nkick = 'one'\n", &["unknown key 'kick'"]);
        refused("name = 'a'\n", &["'name' outside its tables", "a table: [solve]"]);
        refused("[keys]\nmemory = 1\n", &["'memory' in [keys]", "init"]);
        refused("[keys.init]\nmemroy = 1\n", &["'memroy' in [keys.init]", "'memory' is one"]);
        refused("[solve]\nslots = 9\n", &["'9' for 'slots' in [solve]", "1..=8"]);
        refused("[solve]\nslots = true\n", &["'true' for 'slots'", "invalid digit"]);
        refused("slots = 'many'\n", &["'many' for 'slots' of", "invalid digit"]);
        refused("[solve]\nslots = [1]\n", &["'slots'", "one value, not a list"]);
        refused("[solve.slots]\na = 1\n", &["'slots'", "a number"]);
        refused("[solve]\nminimize = 'yes'\n", &["'minimize'", "true or false"]);
        refused("verbose = true\n", &["'verbose'", "from 0 to 9"]);
        refused("[solve]\nslots = \n", &["is no TOML", "line 2"]);
        refused("[solve]\nslots = 1\nslots = 2\n", &["is no TOML", "line 3"]);
    }
}
