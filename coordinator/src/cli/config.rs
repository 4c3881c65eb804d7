//! `jlpns config`: which settings are in force, and where each comes from.

use std::ffi::OsString;
use std::fmt::Write;

use clap::Command;
use jlpns_games::spec::Games;
use jlpns_shell::file::{ConfigFile, usual_place};
use jlpns_shell::layers::{Refused, Setting, Source, layered};
use jlpns_shell::reading::Program;
use serde::Serialize;

use super::output::{self, Output};
use super::{CommandError, End, commands};

/// What the other program is called here.
const WORKER: &str = jlpns_worker::cli::TABLE;

/// Commands that have no use for a configuration file.
const WITHOUT_FILE: [&str; 3] = ["completions", "man", "help"];

/// What `jlpns config` is given.
#[derive(Debug, clap::Args)]
pub struct ConfigFlags {
    /// The command whose settings are shown, such as solve, worker or keys init [default: all commands, with what is
    /// not at its default]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Flags of that command, to be shown as if they were typed
    #[arg(last = true, value_name = "FLAGS", allow_hyphen_values = true)]
    flags: Vec<OsString>,

    /// How the settings are printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// The settings, as `--output json` prints them.
#[derive(Debug, Serialize)]
struct InForce {
    /// The configuration file, if there is one.
    file: Option<String>,
    commands: Vec<OfCommand>,
}

/// The settings of a command.
#[derive(Debug, Serialize)]
struct OfCommand {
    command: String,
    settings: Vec<Shown>,
}

/// A setting.
#[derive(Debug, Serialize)]
struct Shown {
    key: String,
    /// As it would be typed; none if there is none.
    values: Vec<String>,
    /// `flag`, `environment`, `file` or `default`.
    source: &'static str,
    /// The environment variable, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
}

/// `jlpns`, whose settings are to be read.
pub fn program(games: &Games) -> Program<'static> {
    Program {
        command: commands(games),
        table: None,
        others: vec![(WORKER, jlpns_worker::cli::command())],
        without_file: &WITHOUT_FILE,
    }
}

/// Prints the settings.
pub fn run(
    flags: &ConfigFlags,
    file: Option<&ConfigFile>,
    games: &Games,
) -> Result<End, CommandError> {
    let all = commands_with_settings(&commands(games));
    let asked = flags.command.join(" ");
    let is_asked = |name: &String| {
        asked.is_empty() || *name == asked || name.starts_with(&format!("{asked} "))
    };
    let named: Vec<String> = all.iter().filter(|name| is_asked(name)).cloned().collect();
    if named.is_empty() {
        let reason = format!("the commands are {}", all.join(", "));
        return Err(CommandError::bad_value("COMMAND", &asked, reason));
    }
    if !flags.flags.is_empty() && named.len() > 1 {
        return Err(CommandError::BadInput(
            "flags are of one command; name it before '--', as in `jlpns config solve -- --slots 2`".to_owned(),
        ));
    }
    let mut in_force =
        InForce { file: file.map(|file| file.path().display().to_string()), commands: Vec::new() };
    for name in named {
        let settings = match settings_of(&name, file, &flags.flags, games) {
            Ok(settings) => settings.into_iter().map(Shown::new).collect(),
            Err(refused) => return Err(CommandError::Refused(refused)),
        };
        in_force.commands.push(OfCommand { command: name, settings });
    }
    match flags.output {
        Output::Json => output::print_json(&in_force)?,
        Output::Text => output::print_text(&in_force.text(asked.is_empty()))?,
    }
    Ok(End::Solved)
}

/// The names of all commands that do something, and the worker.
fn commands_with_settings(commands: &Command) -> Vec<String> {
    let mut names = Vec::new();
    for command in commands.get_subcommands() {
        let name = command.get_name();
        if WITHOUT_FILE.contains(&name) {
            continue;
        }
        let inner: Vec<&Command> = command.get_subcommands().collect();
        if inner.is_empty() {
            names.push(name.to_owned());
        }
        names.extend(inner.iter().map(|inner| format!("{name} {}", inner.get_name())));
    }
    names.push(WORKER.to_owned());
    names
}

/// What is in force for a command.
fn settings_of(
    name: &str,
    file: Option<&ConfigFile>,
    flags: &[OsString],
    games: &Games,
) -> Result<Vec<Setting>, Refused> {
    // What goes on with a solve is given what solves.
    let name = if name == "resume" { "solve" } else { name };
    let (command, table, words) = if name == WORKER {
        (jlpns_worker::cli::command(), Some(WORKER), Vec::new())
    } else {
        (commands(games), None, name.split(' ').map(OsString::from).collect())
    };
    let program = OsString::from(command.get_name());
    let words = [program].into_iter().chain(words).chain(flags.iter().cloned());
    let command = with_nothing_required(command);
    Ok(layered(command, table.as_slice(), file, words.collect())?.settings)
}

/// The command as it can be read without what it is about.
fn with_nothing_required(command: Command) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| arg.required(false));
    names.iter().fold(command, |command, name| command.mut_subcommand(name, with_nothing_required))
}

impl Shown {
    fn new(setting: Setting) -> Shown {
        let Setting { key, values, source } = setting;
        let (source, variable) = match source {
            Source::Flag => ("flag", None),
            Source::Environment(variable) => ("environment", Some(variable)),
            Source::File => ("file", None),
            Source::Default => ("default", None),
        };
        Shown { key, values, source, variable }
    }
}

impl InForce {
    /// A table for people.
    fn text(&self, is_without_defaults: bool) -> String {
        let mut text = match &self.file {
            Some(file) => format!("the configuration file is {file}"),
            None => match usual_place() {
                Some(place) => {
                    format!("there is no configuration file; it would be {}", place.display())
                }
                None => "there is no configuration file, and no home to look for one".to_owned(),
            },
        };
        for command in &self.commands {
            let is_shown = |shown: &&Shown| !is_without_defaults || shown.source != "default";
            let rows: Vec<[String; 3]> =
                command.settings.iter().filter(is_shown).map(row).collect();
            if rows.is_empty() {
                continue;
            }
            let width = |column: usize| {
                rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
            };
            // Writing to a string cannot fail.
            let _ = write!(text, "\n\n{}", command.command);
            for row in &rows {
                let [key, value, source] = row;
                let _ = write!(text, "\n  {key:0$}  {value:1$}  {source}", width(0), width(1));
            }
        }
        if is_without_defaults {
            text += "\n\n`jlpns config COMMAND` shows the defaults too";
        }
        text
    }
}

fn row(shown: &Shown) -> [String; 3] {
    let value = match &shown.values[..] {
        [] => "-".to_owned(),
        [one] if one.is_empty() => "''".to_owned(),
        many => many.join(","),
    };
    let source = match &shown.variable {
        Some(variable) => format!("environment variable {variable}"),
        None => shown.source.to_owned(),
    };
    [shown.key.clone(), value, source]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::Arg;
    use jlpns_shell::common::{COMMON_KEYS, TABLES};
    use jlpns_shell::values::key_of;

    use super::*;

    /// All commands that take flags of their own, by their names, with the worker.
    fn all() -> Vec<(String, Command)> {
        fn add(name: &str, command: &Command, all: &mut Vec<(String, Command)>) {
            all.push((name.to_owned(), command.clone()));
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                add(format!("{name} {}", inner.get_name()).trim(), inner, all);
            }
        }
        let mut all = Vec::new();
        for (name, mut command) in
            [("", commands(&Games::built_in())), (WORKER, jlpns_worker::cli::command())]
        {
            command.build();
            add(name, &command, &mut all);
        }
        all
    }

    #[test]
    fn every_flag_with_a_value_has_an_environment_variable_of_its_name() {
        let mut checked = 0;
        for (command, tree) in all() {
            for arg in tree.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                // An order is typed; it is no setting.
                let is_order =
                    command == "workers" && ["drain", "kick", "reinstate"].contains(&long);
                if !arg.get_action().takes_values() || is_order {
                    assert!(!is_order || key_of(arg).is_none(), "{long} has a key");
                    continue;
                }
                let variable = arg.get_env().and_then(|variable| variable.to_str());
                let variable = variable.unwrap_or_else(|| panic!("'{command}': --{long} has none"));
                let long = long.to_uppercase().replace('-', "_");
                let first = command.split(' ').next().unwrap_or_default().to_uppercase();
                let of_command = format!("JLPNS_{first}_{long}");
                let is_consistent = variable == format!("JLPNS_{long}") || variable == of_command;
                assert!(is_consistent, "'{command}': --{long} has {variable}");
                let mut shown = tree.clone();
                let help = shown.render_long_help().to_string();
                assert!(help.contains(&format!("[env: {variable}=")), "'{command}': {variable}");
                checked += 1;
            }
        }
        assert!(checked > 100, "{checked} flags");
    }

    /// The words that look like a variable of ours, in all files below a folder.
    fn variables(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                variables(&path, found);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
                let ours = words.filter(|word| word.starts_with("JLPNS_") && word.len() > 6);
                found.extend(ours.map(|word| (path.clone(), word.to_owned())));
            }
        }
    }

    #[test]
    fn what_is_deployed_sets_variables_that_there_are() {
        let known: Vec<String> = all()
            .iter()
            .flat_map(|(_, tree)| tree.get_arguments().filter_map(Arg::get_env))
            .map(|variable| variable.to_string_lossy().into_owned())
            .collect();
        // What the files themselves are given, and what a build is given.
        let own = ["JLPNS_FOLDER", "JLPNS_SPEC", "JLPNS_STAGE", "JLPNS_COMMIT"];
        let mut found = Vec::new();
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
        for folder in ["kubernetes", "slurm", "systemd"] {
            variables(&deploy.join(folder), &mut found);
        }
        assert!(found.len() > 20, "{found:?}");
        for (path, variable) in found {
            let is_known = known.contains(&variable) || own.contains(&variable.as_str());
            assert!(is_known, "{}: there is no {variable}", path.display());
        }
    }

    #[test]
    fn a_variable_is_of_one_key_everywhere() {
        let mut keys = BTreeMap::new();
        for (command, tree) in all() {
            for arg in tree.get_arguments() {
                let (Some(variable), Some(key)) = (arg.get_env(), key_of(arg)) else { continue };
                let known = keys.entry(variable.to_owned()).or_insert_with(|| key.clone());
                assert_eq!(*known, key, "'{command}': {}", variable.display());
            }
        }
    }

    #[test]
    fn the_tables_of_the_file_are_the_commands() {
        let commands = commands(&Games::built_in());
        let names = commands.get_subcommands().map(Command::get_name).chain([WORKER]);
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert_eq!(names, TABLES);
    }

    #[test]
    fn the_keys_outside_tables_are_of_several_commands() {
        for key in COMMON_KEYS {
            let all = all();
            let has =
                |tree: &Command| tree.get_arguments().any(|a| key_of(a).as_deref() == Some(key));
            let those = all.iter().filter(|(_, tree)| has(tree)).count();
            assert!(those > 1, "{key} is of {those} commands");
        }
    }
}
