//! The flags of who is let in.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use jlpns_admission::tls::server_tls;
use jlpns_admission::{Door, Limits};
use jlpns_link::readers::readable_by_all;
use jlpns_link::token::Token;
use tracing::warn;

use super::CommandError;

/// The most workers that can be asked for.
const MOST_WORKERS: u32 = 1 << 20;

/// Who is let in.
#[derive(Debug, clap::Args)]
pub struct DoorFlags {
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

/// The door that the flags ask for, and what there is to say of it.
pub struct ReadDoor {
    /// The door.
    pub door: Door,
    warnings: Vec<String>,
}

impl DoorFlags {
    /// Reads the files, and builds the door for a coordinator that listens on `listen`.
    pub fn door(&self, listen: SocketAddr) -> Result<ReadDoor, CommandError> {
        let bad = |error: &dyn std::error::Error| CommandError::BadInput(error.to_string());
        let mut warnings = Vec::new();
        let strangers_can_come = !listen.ip().to_canonical().is_loopback();
        let all_are_let_in = self.token_file.is_none() && self.client_ca.is_none();
        if strangers_can_come && all_are_let_in {
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
        if strangers_can_come && token.is_some() && tls.is_none() {
            warnings.push(format!(
                "connections to {listen} are not encrypted: who can listen on the network can \
                 read the token; --tls-cert and --tls-key encrypt them"
            ));
        }
        let limits = Limits::for_workers(self.max_workers as usize);
        Ok(ReadDoor { door: Door::new(token, tls, limits), warnings })
    }
}

impl ReadDoor {
    /// Says in the log what there is to say.
    pub fn tell(&self) {
        for warning in &self.warnings {
            warn!("{warning}");
        }
    }

    /// How URLs to this door begin.
    pub fn scheme(&self) -> &'static str {
        if self.door.tls().is_some() { "https" } else { "http" }
    }
}
