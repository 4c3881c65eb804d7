//! What a program was given, of all layers; and what it says where that is wrong.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Command;

use crate::file::ConfigFile;
use crate::layers::{Layered, Refused, innermost, layered, probe};

/// A program whose settings are read.
#[derive(Debug)]
pub struct Program<'a> {
    /// Its command.
    pub command: Command,
    /// The table of its own flags, if they are not in those of its subcommands.
    pub table: Option<&'a str>,
    /// Commands of another program with their tables, which are checked too.
    pub others: Vec<(&'a str, Command)>,
    /// Subcommands that have no use for the file, and work though it is wrong.
    pub without_file: &'a [&'a str],
}

impl Program<'_> {
    /// Reads the words, of which the first is the program; gives the configuration file too, if there is one.
    pub fn read(&self, words: Vec<OsString>) -> Result<(Layered, Option<ConfigFile>), Refused> {
        let file = self.file(&words)?;
        let table = self.table.as_slice();
        Ok((layered(self.command.clone(), table, file.as_ref(), words)?, file))
    }

    /// The file that the words ask for, with all keys checked.
    pub fn file(&self, words: &[OsString]) -> Result<Option<ConfigFile>, Refused> {
        // Help comes before anything that is wrong.
        let Some(typed) = probe(&self.command, words) else { return Ok(None) };
        let (names, inner) = innermost(&typed);
        if names.iter().any(|name| self.without_file.contains(name)) {
            return Ok(None);
        }
        let named = inner.try_get_one::<PathBuf>("config").ok().flatten();
        let named = named.filter(|path| !path.as_os_str().is_empty());
        let file = ConfigFile::find(named.map(PathBuf::as_path))?;
        if let Some(file) = &file {
            let mut command = self.command.clone();
            command.build();
            let mut others = self.others.clone();
            others.iter_mut().for_each(|(_, command)| command.build());
            let mut all: Vec<(&str, &Command)> = match self.table {
                Some(table) => vec![(table, &command)],
                None => command.get_subcommands().map(|inner| (inner.get_name(), inner)).collect(),
            };
            all.extend(others.iter().map(|(table, command)| (*table, command)));
            file.check(&all)?;
        }
        Ok(file)
    }
}

impl Refused {
    /// Prints what there is to say. Gives whether anything is wrong: help that was asked for is not.
    pub fn tell(&self) -> bool {
        match self {
            Refused::File(error) => {
                eprintln!("error: {error}");
                true
            }
            Refused::Usage(error, note) => {
                // If even this cannot be printed, there is nobody left to tell.
                let _ = error.print();
                if let Some(note) = note {
                    eprintln!("\nnote: {note}");
                }
                error.use_stderr()
            }
        }
    }
}
