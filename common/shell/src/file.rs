//! The configuration file: where it is, and whether each of its keys is one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clap::{Arg, Command};
use toml::{Table, Value};

use crate::common::{COMMON_KEYS, TABLES};
use crate::nearest::nearest;
use crate::values::{key_of, shown, typed};

/// A configuration file that was read.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    path: PathBuf,
    table: Table,
}

/// Why a configuration file is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is not there, or may not be read.
    #[error("the configuration file {} cannot be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It is no TOML.
    #[error("the configuration file {} is no TOML: {message} in line {line}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
        /// Where.
        line: usize,
    },
    /// A key or table that there is not.
    #[error("the configuration file {} has {what}; {hint}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What it has.
        what: String,
        /// What would be right.
        hint: String,
    },
    /// A value that the flag of its key does not take.
    #[error("invalid value '{value}' for '{key}' {of} the configuration file {}: {reason}", path.display())]
    BadValue {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// Where in the file.
        of: String,
        /// The value.
        value: String,
        /// What would be right.
        reason: String,
    },
}

/// Where the file is looked for if none is named; `None` if there is no home.
pub fn usual_place() -> Option<PathBuf> {
    let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    // A relative path is to be ignored, says the standard.
    let folder = xdg.filter(|folder| folder.is_absolute());
    let home = || Some(env::home_dir()?.join(".config"));
    Some(folder.or_else(home)?.join("jlpns").join("config.toml"))
}

impl ConfigFile {
    /// Reads the file that is named, or else the one in the usual place, if there is one.
    pub fn find(named: Option<&Path>) -> Result<Option<ConfigFile>, ConfigError> {
        if let Some(path) = named {
            return ConfigFile::read(path).map(Some);
        }
        let Some(path) = usual_place() else { return Ok(None) };
        match ConfigFile::read(&path) {
            Err(ConfigError::Unreadable { cause, .. })
                if matches!(
                    cause.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn read(path: &Path) -> Result<ConfigFile, ConfigError> {
        let path = path.to_owned();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) => return Err(ConfigError::Unreadable { path, cause }),
        };
        match text.parse() {
            Ok(table) => Ok(ConfigFile { path, table }),
            Err(error) => {
                let error: toml::de::Error = error;
                let begin = error.span().map_or(0, |span| span.start.min(text.len()));
                let line = text.as_bytes()[..begin].iter().filter(|&&byte| byte == b'\n').count();
                let message = error.message().replace('\n', ", ");
                Err(ConfigError::Malformed { path, message, line: line + 1 })
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same file without a key of a table.
    pub fn without(mut self, table: &str, key: &str) -> ConfigFile {
        if let Some(Value::Table(table)) = self.table.get_mut(table) {
            table.remove(key);
        }
        self
    }

    /// The value of a key for a command: the one in its own table, or else in a table around that, or else the common
    /// one.
    pub fn value(&self, tables: &[&str], key: &str) -> Option<&Value> {
        let within = |tables: &[&str]| {
            tables.iter().try_fold(&self.table, |table, name| table.get(*name)?.as_table())
        };
        let is_value = |value: &&Value| !value.is_table();
        let mut own =
            (1..=tables.len()).rev().filter_map(|depth| within(&tables[..depth])?.get(key));
        own.find(is_value).or_else(|| {
            let common = self.table.get(key).filter(is_value);
            common.filter(|_| COMMON_KEYS.contains(&key))
        })
    }

    /// Checks that each key is one, and that its flag takes its value, as far as these commands go: each with the table
    /// of its flags. Tables of others are left alone.
    pub fn check(&self, commands: &[(&str, &Command)]) -> Result<(), ConfigError> {
        for (key, value) in &self.table {
            if let Value::Table(table) = value {
                if !TABLES.contains(&key.as_str()) {
                    return Err(self.unknown_table(key));
                }
                for (_, command) in commands.iter().filter(|(name, _)| name == key) {
                    self.check_table(&format!("[{key}]"), table, command)?;
                }
            } else if !COMMON_KEYS.contains(&key.as_str()) {
                return Err(self.unknown_common_key(key, commands));
            } else {
                for (_, command) in commands {
                    self.check_common(key, value, command)?;
                }
            }
        }
        Ok(())
    }

    /// Checks a key outside all tables against each command that has it.
    fn check_common(&self, key: &str, value: &Value, command: &Command) -> Result<(), ConfigError> {
        if let Some(arg) = arg_of(command, key) {
            self.check_value(arg, key, value, "of")?;
        }
        command.get_subcommands().try_for_each(|command| self.check_common(key, value, command))
    }

    fn check_table(&self, name: &str, table: &Table, command: &Command) -> Result<(), ConfigError> {
        for (key, value) in table {
            if let (Some(inner), Value::Table(table)) = (command.find_subcommand(key), value) {
                let name = format!("[{}.{key}]", name.trim_matches(['[', ']']));
                self.check_table(&name, table, inner)?;
            } else if let Some(arg) = arg_of(command, key) {
                self.check_value(arg, key, value, &format!("in {name} of"))?;
            } else {
                let known: Vec<String> = command.get_arguments().filter_map(key_of).collect();
                let inner = command.get_subcommands().map(Command::get_name);
                let names = known.iter().map(String::as_str).chain(inner);
                let names: Vec<&str> = names.filter(|name| *name != "help").collect();
                let hint = match nearest(key, names.iter().copied()) {
                    Some(near) => format!("'{near}' is one"),
                    None => format!("the keys there are {}", names.join(", ")),
                };
                return Err(self.unknown(format!("an unknown key '{key}' in {name}"), hint));
            }
        }
        Ok(())
    }

    fn check_value(
        &self,
        arg: &Arg,
        key: &str,
        value: &Value,
        of: &str,
    ) -> Result<(), ConfigError> {
        typed(arg, value).map(|_| ()).map_err(|reason| ConfigError::BadValue {
            path: self.path.clone(),
            key: key.to_owned(),
            of: of.to_owned(),
            value: shown(value),
            reason,
        })
    }

    fn unknown(&self, what: String, hint: String) -> ConfigError {
        ConfigError::Unknown { path: self.path.clone(), what, hint }
    }

    fn unknown_table(&self, name: &str) -> ConfigError {
        let hint = match nearest(name, TABLES.into_iter()) {
            Some(near) => format!("[{near}] is one"),
            None => format!("there is one for each command: {}", TABLES.join(", ")),
        };
        self.unknown(format!("an unknown table [{name}]"), hint)
    }

    fn unknown_common_key(&self, key: &str, commands: &[(&str, &Command)]) -> ConfigError {
        let of = commands.iter().filter(|(_, command)| arg_of(command, key).is_some());
        let of: Vec<String> = of.map(|(table, _)| format!("[{table}]")).collect();
        let hint = match nearest(key, COMMON_KEYS.into_iter()) {
            _ if !of.is_empty() => format!("it belongs in a table: {}", of.join(", ")),
            Some(near) => format!("'{near}' is one"),
            None => format!("the keys outside tables are {}", COMMON_KEYS.join(", ")),
        };
        self.unknown(format!("an unknown key '{key}' outside its tables"), hint)
    }
}

/// The argument of a command that has this key.
pub fn arg_of<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| key_of(arg).as_deref() == Some(key))
}

/// Whether there is such an environment variable.
pub fn is_set(variable: &OsStr) -> bool {
    env::var_os(variable).is_some()
}
