//! Where the coordinator of a queue is. Its URL is the first word of a command, unless a flag, the environment or the
//! configuration file says where it is: then all words are of what the command is about.

use std::path::PathBuf;

use jlpns_link::credentials::CredentialFlags;

use super::super::{CommandError, ask};
use super::remote::RemoteQueue;

/// Which coordinator is meant.
#[derive(Debug, clap::Args)]
pub struct PlaceFlags {
    /// The coordinator, where its URL is not the first word; or several such, with commas between
    #[arg(long, value_name = "URL", env = "JLPNS_COORDINATOR")]
    coordinator: Option<String>,

    /// The file that says where the coordinator is, which `jlpns serve --listen-file` writes
    #[arg(long, value_name = "FILE", env = "JLPNS_COORDINATOR_FILE")]
    #[arg(conflicts_with = "coordinator")]
    coordinator_file: Option<PathBuf>,

    #[command(flatten)]
    credentials: CredentialFlags,
}

impl PlaceFlags {
    /// The queue that is meant, and the words that are not its URL.
    pub fn find(
        &self,
        url: Option<&str>,
        words: &[String],
    ) -> Result<(RemoteQueue, Vec<String>), CommandError> {
        let (url, words) = self.split(url, words);
        let coordinator = match url {
            Some(url) => ask::find(Some(url), None, &self.credentials)?,
            None => ask::find(
                self.coordinator.as_deref(),
                self.coordinator_file.as_deref(),
                &self.credentials,
            )?,
        };
        Ok((RemoteQueue::of(coordinator), words))
    }

    /// The URL, if it is there, and all other words.
    fn split<'a>(
        &self,
        first: Option<&'a str>,
        words: &[String],
    ) -> (Option<&'a str>, Vec<String>) {
        let is_known = self.coordinator.is_some() || self.coordinator_file.is_some();
        match first {
            Some(word) if is_known && !word.contains("://") => {
                let all = std::iter::once(word.to_owned()).chain(words.iter().cloned());
                (None, all.collect())
            }
            url => (url, words.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// A command that takes the flags.
    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        place: PlaceFlags,
        url: Option<String>,
        words: Vec<String>,
    }

    fn split(args: &[&str]) -> (Option<String>, Vec<String>) {
        let args = std::iter::once("command").chain(args.iter().copied());
        let command = Command::try_parse_from(args).expect("it is read");
        let (url, words) = command.place.split(command.url.as_deref(), &command.words);
        (url.map(str::to_owned), words)
    }

    #[test]
    fn the_first_word_is_the_url_unless_the_coordinator_is_known() {
        let url = Some("http://a:1".to_owned());
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(split(&["http://a:1", "3", "4"]), (url.clone(), words(&["3", "4"])));
        let elsewhere = ["--coordinator-file", "f"];
        assert_eq!(split(&[&elsewhere[..], &["3", "4"]].concat()), (None, words(&["3", "4"])));
        assert_eq!(split(&[&elsewhere[..], &["http://a:1", "3"]].concat()), (url, words(&["3"])));
        assert_eq!(split(&elsewhere), (None, Vec::new()));
    }
}
