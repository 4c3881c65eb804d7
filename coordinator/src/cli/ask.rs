//! One question to a running coordinator.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use jlpns_link::causes::with_causes;
use jlpns_link::connect::{Connector, TokenChannel};
use jlpns_link::credentials::CredentialFlags;
use jlpns_link::distrust::{Distrust, lost};
use jlpns_link::whereabouts::Whereabouts;
use tonic::{Response, Status};

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

fn find(
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

    /// Connects and asks; both together may take `limit`.
    pub fn ask<T>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(TokenChannel) -> Result<Response<T>, Status>,
    ) -> anyhow::Result<T> {
        let name = &self.name;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let answer = async {
            let unreached = |why: String| anyhow!("no coordinator can be reached at {name}: {why}");
            let line = self.place.connect().await.map_err(|error| {
                unreached(
                    Distrust::behind(&error)
                        .map_or_else(|| with_causes(&error), Distrust::to_string),
                )
            })?;
            let response = question(line).await.map_err(|status| match status.source() {
                // Errors of the connection have a cause, refusals have none.
                Some(_) => unreached(lost(&status)),
                None => {
                    anyhow!("the coordinator at {name} refused to answer: {}", status.message())
                }
            })?;
            Ok(response.into_inner())
        };
        let in_time = runtime.block_on(async { tokio::time::timeout(limit, answer).await });
        in_time.with_context(|| format!("the coordinator at {name} gave no answer in {limit:?}"))?
    }
}
