//! The worker and the credentials that are copied to hosts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use jlpns_launch::binary::Build;
use jlpns_launch::run_script::Credential;
use jlpns_link::credentials::CredentialFlags;

use super::super::CommandError;

/// The worker's name among programs.
const WORKER: &str = "jlpns-worker";

/// The worker that is copied.
#[derive(Clone, Debug)]
pub struct Worker {
    /// What it is.
    pub build: Build,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

impl Worker {
    /// The worker in a file, or else the one beside this program or on the PATH.
    pub fn read(named: Option<&Path>) -> Result<Worker, CommandError> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => usual_place().ok_or_else(|| {
                CommandError::BadInput(format!(
                    "there is no {WORKER} beside this program and none on the PATH; name one with --worker-binary"
                ))
            })?,
        };
        let refused = |reason: &dyn std::fmt::Display| {
            CommandError::BadInput(format!("the worker {} {reason}", path.display()))
        };
        let bytes =
            fs::read(&path).map_err(|error| refused(&format!("cannot be read: {error}")))?;
        let build = Build::of(&bytes).map_err(|error| refused(&error))?;
        Ok(Worker { build, bytes: bytes.into() })
    }
}

/// Where the worker is if nobody says it.
pub fn usual_place() -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|this| Some(this.parent()?.join(WORKER)));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join(WORKER));
    beside.into_iter().chain(on_path).find(|place| place.is_file())
}

/// The files of credentials that the flags name. They have been checked before.
pub fn credentials(flags: &CredentialFlags) -> Result<Vec<(Credential, Vec<u8>)>, CommandError> {
    let named = [
        (Credential::Token, &flags.token_file),
        (Credential::Ca, &flags.ca),
        (Credential::Certificate, &flags.cert),
        (Credential::Key, &flags.key),
    ];
    let mut read = Vec::new();
    for (credential, path) in named {
        let Some(path) = path else { continue };
        let bytes = fs::read(path).map_err(|error| {
            CommandError::BadInput(format!("{} cannot be read: {error}", path.display()))
        })?;
        read.push((credential, bytes));
    }
    Ok(read)
}
