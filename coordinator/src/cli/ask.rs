//! Questions to a running coordinator, and streams of answers.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jlpns_link::causes::with_causes;
use jlpns_link::connect::{Connector, TokenChannel};
use jlpns_link::credentials::CredentialFlags;
use jlpns_link::distrust::{Distrust, lost};
use jlpns_link::whereabouts::Whereabouts;
use tokio::time::timeout;
use tonic::{Code, Response, Status, Streaming};

use super::{CommandError, values};

/// Which coordinator is asked.
#[derive(Debug, clap::Args)]
pub struct CoordinatorFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between
    #[arg(env = "JLPNS_COORDINATOR")]
    url: Option<String>,

    /// The file that says where the coordinator is, which `jlpns serve --listen-file` writes
    #[arg(long, value_name = "FILE", env = "JLPNS_COORDINATOR_FILE", conflicts_with = "url")]
    coordinator_file: Option<PathBuf>,
}

/// The same of a command that knows what to tell of a solve that is not running.
#[derive(Debug, clap::Args)]
pub struct CoordinatorOrKeptFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between; or the
    /// directory that --data named, of a solve that is not running
    #[arg(env = "JLPNS_COORDINATOR")]
    url: Option<String>,

    /// The file that says where the coordinator is, which `jlpns serve --listen-file` writes
    #[arg(long, value_name = "FILE", env = "JLPNS_COORDINATOR_FILE", conflicts_with = "url")]
    coordinator_file: Option<PathBuf>,
}

/// A coordinator that can be asked.
pub struct Coordinator {
    /// As it was named.
    name: String,
    place: Whereabouts,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// No connection came about.
    #[error("no coordinator can be reached at {name}: {why}")]
    Unreached {
        /// The coordinator, as it was named.
        name: String,
        /// What went wrong.
        why: String,
        /// Whether trying again may help.
        may_pass: bool,
    },
    /// The connection was lost after something had been asked.
    #[error("no coordinator can be reached at {name}: {why}")]
    Lost {
        /// The coordinator, as it was named.
        name: String,
        /// What went wrong.
        why: String,
    },
    /// It took too long.
    #[error("the coordinator at {name} gave no answer in {limit:?}")]
    Late {
        /// The coordinator, as it was named.
        name: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The coordinator does not want to answer.
    #[error("the coordinator at {name} refused to answer: {why}")]
    Refused {
        /// The coordinator, as it was named.
        name: String,
        /// The kind of refusal.
        code: Code,
        /// In the coordinator's words.
        why: String,
    },
}

impl NoAnswer {
    /// Whether there may be an answer to the same question a little later.
    pub fn may_pass(&self) -> bool {
        match self {
            NoAnswer::Unreached { may_pass, .. } => *may_pass,
            NoAnswer::Lost { .. } | NoAnswer::Late { .. } => true,
            NoAnswer::Refused { code, .. } => *code == Code::Unavailable,
        }
    }
}

/// Answers that come one after the other.
pub struct Answers<'a, T> {
    coordinator: &'a Coordinator,
    stream: Streaming<T>,
    /// The connection, which is there as long as somebody holds it.
    _line: TokenChannel,
}

impl<T> Answers<'_, T> {
    /// The next answer, whenever it comes; none after the last.
    pub async fn next(&mut self) -> Result<Option<T>, NoAnswer> {
        self.stream.message().await.map_err(|status| self.coordinator.unanswered(&status))
    }

    /// The same of answers that are there already and only have to be sent.
    pub async fn next_within(&mut self, limit: Duration) -> Result<Option<T>, NoAnswer> {
        let name = self.coordinator.name.clone();
        timeout(limit, self.next()).await.unwrap_or(Err(NoAnswer::Late { name, limit }))
    }
}

/// The coordinator at a URL or where a file says, with what the files of the flags hold.
pub fn find(
    url: Option<&str>,
    file: Option<&Path>,
    credentials: &CredentialFlags,
) -> Result<Coordinator, CommandError> {
    let credentials = values::credentials(credentials)?;
    match (url, file) {
        (None, Some(file)) => Ok(Coordinator {
            name: file.display().to_string(),
            place: Whereabouts::in_file(file, credentials),
        }),
        (Some(url), _) => {
            let place = values::coordinator(url, credentials)?;
            Ok(Coordinator { name: url.to_owned(), place })
        }
        (None, None) => Err(CommandError::BadInput(
            "the following required arguments were not provided: <URL> or --coordinator-file <FILE>, \
             one of which says where the coordinator is"
                .to_owned(),
        )),
    }
}

impl CoordinatorFlags {
    /// The coordinator that is meant.
    pub fn find(&self, credentials: &CredentialFlags) -> Result<Coordinator, CommandError> {
        find(self.url.as_deref(), self.coordinator_file.as_deref(), credentials)
    }
}

impl CoordinatorOrKeptFlags {
    /// The directory of a solve that is kept, if that is what is meant.
    pub fn directory(&self) -> Option<&Path> {
        self.url.as_deref().map(Path::new).filter(|directory| directory.is_dir())
    }

    /// The coordinator that is meant.
    pub fn find(&self, credentials: &CredentialFlags) -> Result<Coordinator, CommandError> {
        find(self.url.as_deref(), self.coordinator_file.as_deref(), credentials)
    }
}

impl Coordinator {
    /// What it was called by whoever asks.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why a question or a stream that was under way has no answer.
    fn unanswered(&self, status: &Status) -> NoAnswer {
        let name = self.name.clone();
        match status.source() {
            // Errors of the connection have a cause, refusals have none.
            Some(_) => NoAnswer::Lost { name, why: lost(status) },
            None => {
                NoAnswer::Refused { name, code: status.code(), why: status.message().to_owned() }
            }
        }
    }

    async fn connect(&self) -> Result<TokenChannel, NoAnswer> {
        self.place.connect().await.map_err(|error| {
            let distrust = Distrust::behind(&error);
            NoAnswer::Unreached {
                name: self.name.clone(),
                why: distrust.map_or_else(|| with_causes(&error), Distrust::to_string),
                may_pass: distrust.is_none(),
            }
        })
    }

    async fn answered<T>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(TokenChannel) -> Result<Response<T>, Status>,
    ) -> Result<(TokenChannel, T), NoAnswer> {
        let answer = async {
            let line = self.connect().await?;
            let response =
                question(line.clone()).await.map_err(|status| self.unanswered(&status))?;
            Ok::<(TokenChannel, T), NoAnswer>((line, response.into_inner()))
        };
        let late = || NoAnswer::Late { name: self.name.clone(), limit };
        timeout(limit, answer).await.unwrap_or_else(|_| Err(late()))
    }

    /// Connects and asks, within a runtime; both together may take `limit`.
    pub async fn question<T>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(TokenChannel) -> Result<Response<T>, Status>,
    ) -> Result<T, NoAnswer> {
        self.answered(limit, question).await.map(|(_, answer)| answer)
    }

    /// Connects and asks for a stream of answers, within a runtime; both together may take `limit`. The answers may
    /// take as long as they like.
    pub async fn stream<T>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(TokenChannel) -> Result<Response<Streaming<T>>, Status>,
    ) -> Result<Answers<'_, T>, NoAnswer> {
        let (line, stream) = self.answered(limit, question).await?;
        Ok(Answers { coordinator: self, stream, _line: line })
    }

    /// Connects and asks; both together may take `limit`.
    pub fn ask<T>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(TokenChannel) -> Result<Response<T>, Status>,
    ) -> anyhow::Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(self.question(limit, question))?)
    }
}
