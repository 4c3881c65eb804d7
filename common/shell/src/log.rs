//! What is logged, and whether in colour.

use std::{env, io};

use anstream::{AutoStream, ColorChoice};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::layers::{Setting, Source, setting};
use crate::nearest::nearest;

/// The levels, as they are written.
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// What is logged.
#[derive(Debug)]
pub struct Log {
    filter: EnvFilter,
    is_quiet: bool,
}

/// Why there is no log.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// A filter that is none.
    #[error(
        "invalid value '{filter}' for {of}: {reason}; write levels such as warn or jlpns=debug, separated by commas"
    )]
    BadFilter {
        /// The filter.
        filter: String,
        /// What has it.
        of: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Two words about the same.
    #[error("'--log' does not go with '--verbose' and '--quiet'; leave one of them out")]
    Twice,
}

impl Log {
    /// What these settings ask for, of a command that logs `usual` if they are silent. Flags come first, then
    /// JLPNS_LOG, then RUST_LOG, then the configuration file.
    pub fn of(settings: &[Setting], usual: &str) -> Result<Log, LogError> {
        let rust_log = env::var("RUST_LOG").ok().filter(|filter| !filter.is_empty());
        Log::with(settings, rust_log, usual)
    }

    fn with(settings: &[Setting], rust_log: Option<String>, usual: &str) -> Result<Log, LogError> {
        let times = |key| -> (u8, Option<&Source>) {
            let found = setting(settings, key);
            let times = found.and_then(|(times, _)| times.parse().ok());
            (times.unwrap_or(0), found.map(|(_, source)| source))
        };
        let (verbose, quiet) = (times("verbose"), times("quiet"));
        let log = setting(settings, "log").filter(|(filter, _)| !filter.is_empty());
        let counted_in = |layer: &Source| {
            let verbose = if verbose.1 == Some(layer) { verbose.0 } else { 0 };
            let quiet = if quiet.1 == Some(layer) { quiet.0 } else { 0 };
            counted(verbose, quiet)
        };
        let is_quiet = quiet.0 > 0 && (quiet.1 == Some(&Source::Flag) || verbose.0 == 0);
        let (of, filter) = match (log, counted_in(&Source::Flag)) {
            (Some((_, Source::Flag)), Some(_)) => return Err(LogError::Twice),
            (Some((filter, Source::Flag)), None) => ("'--log'".to_owned(), filter.to_owned()),
            (_, Some(filter)) => ("'--verbose'".to_owned(), filter),
            (Some((filter, Source::Environment(variable))), None) => {
                (format!("the environment variable {variable}"), filter.to_owned())
            }
            (other, None) => match (rust_log, other, counted_in(&Source::File)) {
                (Some(filter), ..) => ("the environment variable RUST_LOG".to_owned(), filter),
                (None, Some((filter, _)), _) => {
                    ("'log' in the configuration file".to_owned(), filter.to_owned())
                }
                (None, None, Some(filter)) => ("'verbose'".to_owned(), filter),
                (None, None, None) => ("the log".to_owned(), usual.to_owned()),
            },
        };
        match parsed(&filter) {
            Ok(filter) => Ok(Log { filter, is_quiet }),
            Err(reason) => {
                Err(LogError::BadFilter { filter: filter.chars().take(60).collect(), of, reason })
            }
        }
    }

    /// Whether nobody wants to see progress.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Starts the log of this process. There is one already only if a process starts two runs; it goes on then.
    pub fn start<W>(self, writer: W)
    where
        W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
    {
        let log = tracing_subscriber::fmt()
            .with_writer(writer)
            .with_ansi(is_coloured())
            .with_target(false)
            .with_env_filter(self.filter);
        let _ = log.try_init();
    }
}

/// Whether stderr is in colour: on a terminal that has colours, unless NO_COLOR or CLICOLOR say otherwise; and with
/// CLICOLOR_FORCE.
fn is_coloured() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// The filter for so many words of each kind; `None` for none.
fn counted(verbose: u8, quiet: u8) -> Option<String> {
    let filter = match (verbose, quiet) {
        (0, 0) => return None,
        (1, _) => "info,jlpns=debug",
        (2.., _) => "debug,jlpns=trace",
        (0, 1) => "warn",
        (0, 2..) => "error",
    };
    Some(filter.to_owned())
}

fn parsed(filter: &str) -> Result<EnvFilter, String> {
    // A word alone is the name of a part of a program, of which all is logged: nobody means a misspelt level by it.
    for word in filter.split(',').map(str::trim) {
        let is_level = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word));
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
        if is_plain
            && !is_level
            && let Some(near) = nearest(&word.to_lowercase(), LEVELS.into_iter())
        {
            return Err(format!("'{word}' is no level, '{near}' is one"));
        }
    }
    EnvFilter::try_new(filter).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(
        settings: &[(&str, &str, Source)],
        rust_log: Option<&str>,
    ) -> Result<(String, bool), LogError> {
        let settings: Vec<Setting> = settings
            .iter()
            .map(|(key, value, source)| Setting {
                key: (*key).to_owned(),
                values: vec![(*value).to_owned()],
                source: source.clone(),
            })
            .collect();
        let log = Log::with(&settings, rust_log.map(str::to_owned), "info")?;
        Ok((log.filter.to_string(), log.is_quiet))
    }

    fn environment() -> Source {
        Source::Environment("JLPNS_LOG".to_owned())
    }

    #[test]
    fn flags_come_before_the_environment_and_that_before_the_file() {
        let filter = |settings: &[_], rust_log| log(settings, rust_log).expect("a filter").0;
        assert_eq!(filter(&[], None), "info");
        assert_eq!(filter(&[], Some("error")), "error");
        assert_eq!(filter(&[("log", "debug", Source::File)], None), "debug");
        assert_eq!(filter(&[("log", "debug", Source::File)], Some("error")), "error");
        assert_eq!(filter(&[("log", "trace", environment())], Some("error")), "trace");
        assert_eq!(filter(&[("log", "off", Source::Flag)], Some("error")), "off");
        let quiet = ("quiet", "1", Source::Flag);
        assert_eq!(filter(&[("log", "trace", environment()), quiet], Some("error")), "warn");
        assert_eq!(filter(&[("quiet", "2", Source::File)], None), "error");
        assert!(filter(&[("verbose", "1", Source::Flag)], None).contains("jlpns=debug"));
        assert!(filter(&[("verbose", "2", Source::Flag)], None).contains("jlpns=trace"));
        let both = [("log", "off", Source::Flag), ("verbose", "1", Source::Flag)];
        assert_eq!(log(&both, None), Err(LogError::Twice));
    }

    #[test]
    fn quiet_hides_progress_unless_something_later_is_verbose() {
        let is_quiet = |settings: &[_]| log(settings, None).expect("a filter").1;
        assert!(!is_quiet(&[]));
        assert!(is_quiet(&[("quiet", "1", Source::Flag)]));
        assert!(is_quiet(&[("quiet", "1", Source::File)]));
        assert!(!is_quiet(&[("quiet", "1", Source::File), ("verbose", "1", Source::Flag)]));
    }

    #[test]
    fn a_bad_filter_is_a_sentence_that_says_where_it_is() {
        let bad = |settings: &[_], rust_log, words: &[&str]| {
            let sentence = log(settings, rust_log).expect_err("it is bad").to_string();
            for word in words {
                assert!(sentence.contains(word), "'{word}' is not in: {sentence}");
            }
        };
        bad(
            &[("log", "jlpns=loud", Source::Flag)],
            None,
            &["'jlpns=loud' for '--log'", "such as warn"],
        );
        bad(&[("log", "debgu", environment())], None, &["variable JLPNS_LOG", "'debug' is one"]);
        bad(&[], Some("a=b=c"), &["'a=b=c'", "variable RUST_LOG"]);
        bad(&[("log", "wran", Source::File)], None, &["the configuration file", "'warn' is one"]);
        log(&[], Some("hyper,h2=trace,WARN")).expect("names of parts are no levels");
    }
}
