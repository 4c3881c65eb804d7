//! The flags that say which connections are admitted.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use jlpns_admission::tls::server_tls;
use jlpns_admission::{Admission, Limits};
use jlpns_link::readers::readable_by_all;
use jlpns_link::token::Token;
use tracing::warn;

use super::values::Listen;
use super::{CommandError, files};

/// The most workers that can be asked for.
const MOST_WORKERS: u32 = 1 << 20;

/// Which connections are admitted.
#[derive(Debug, clap::Args)]
pub struct AdmissionFlags {
    /// The file with the token that workers must show
    #[arg(long, value_name = "FILE", env = "JLPNS_TOKEN_FILE")]
    token_file: Option<PathBuf>,

    /// The coordinator's certificate; with it, connections are encrypted
    #[arg(long, value_name = "FILE", env = "JLPNS_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert
    #[arg(long, value_name = "FILE", env = "JLPNS_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Let in only workers that show a certificate that this authority has signed
    #[arg(long, value_name = "FILE", env = "JLPNS_CLIENT_CA", requires = "tls_cert")]
    client_ca: Option<PathBuf>,

    /// Listen to other machines although everybody there is let in
    #[arg(long, env = "JLPNS_INSECURE", value_parser = BoolishValueParser::new())]
    insecure: bool,

    /// The most workers at a time
    #[arg(long, value_name = "N", default_value = "1024", env = "JLPNS_MAX_WORKERS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_WORKERS)))]
    #[arg(allow_hyphen_values = true)]
    max_workers: u32,
}

/// The admission that the flags ask for, and what there is to say of it.
pub struct ReadAdmission {
    /// The admission.
    pub admission: Admission,
    warnings: Vec<String>,
}

impl AdmissionFlags {
    /// Reads the files, and builds the admission to a coordinator that listens on `listen`.
    pub fn admission(&self, listen: &Listen) -> Result<ReadAdmission, CommandError> {
        let bad = |error: &dyn std::error::Error| CommandError::BadInput(error.to_string());
        let mut warnings = Vec::new();
        let is_local = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
        let is_reachable = !listen.addresses.iter().all(is_local);
        let all_are_admitted = self.token_file.is_none() && self.client_ca.is_none();
        if is_reachable && all_are_admitted {
            if !self.insecure {
                return Err(CommandError::BadInput(format!(
                    "whoever reaches {listen} could join this solve; give a --token-file, or \
                     --tls-cert, --tls-key and --client-ca (`jlpns keys init` makes all of them), \
                     or --insecure if that is meant"
                )));
            }
            warnings.push(format!("--insecure: whoever reaches {listen} can join this solve"));
        }
        let token = match &self.token_file {
            Some(path) => {
                let (token, warning) = Token::read(path).map_err(|error| bad(&error))?;
                warnings.extend(warning);
                Some(token)
            }
            None => None,
        };
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(cert), Some(key)) => {
                warnings.extend(readable_by_all(key));
                let tls = server_tls(cert, key, self.client_ca.as_deref());
                Some(tls.map_err(|error| bad(&error))?)
            }
            _ => None,
        };
        if is_reachable && token.is_some() && tls.is_none() {
            warnings.push(format!(
                "connections to {listen} are not encrypted: who can listen on the network can \
                 read the token; --tls-cert and --tls-key encrypt them"
            ));
        }
        let limits = Limits::for_workers(self.max_workers as usize);
        let (connections, warning) = files::connections_within(limits.connections);
        warnings.extend(warning);
        let limits = limits.with_connections(connections);
        Ok(ReadAdmission { admission: Admission::new(token, tls, limits), warnings })
    }
}

impl ReadAdmission {
    /// Says in the log what there is to say.
    pub fn tell(&self) {
        for warning in &self.warnings {
            warn!("{warning}");
        }
    }

    /// How URLs to this coordinator begin.
    pub fn scheme(&self) -> &'static str {
        if self.admission.tls().is_some() { "https" } else { "http" }
    }
}
