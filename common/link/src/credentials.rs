//! What a client shows to a coordinator, and what it believes a coordinator by: the flags for it,
//! and the files behind them.

use std::path::PathBuf;

use tokio_rustls::rustls;

use crate::pem::{Certificates, CertifiedKey, PemError};
use crate::readers::readable_by_all;
use crate::tls::{Encryption, server_name};
use crate::token::{Token, TokenError};

/// The flags of every command that connects to a coordinator.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CredentialFlags {
    /// The file with the token that the coordinator and its workers share
    #[arg(long, value_name = "FILE", env = "JLPNS_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// The certificate of the authority that has signed the coordinator's; for https://
    #[arg(long, value_name = "FILE", env = "JLPNS_CA")]
    pub ca: Option<PathBuf>,

    /// This client's certificate, if the coordinator wants one
    #[arg(long, value_name = "FILE", env = "JLPNS_CERT", requires_all = ["key", "ca"])]
    pub cert: Option<PathBuf>,

    /// The private key of --cert
    #[arg(long, value_name = "FILE", env = "JLPNS_KEY", requires = "cert")]
    pub key: Option<PathBuf>,

    /// The name in the coordinator's certificate, if it is not the host of the URL
    #[arg(long, value_name = "NAME", env = "JLPNS_TLS_NAME", requires = "ca")]
    pub tls_name: Option<String>,
}

/// What a client shows and believes.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// What it shows with every request.
    pub token: Option<Token>,
    /// How it encrypts, if it knows whom to believe.
    pub encryption: Option<Encryption>,
}

/// Why the files of the flags are refused.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The token's file.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A certificate or a key.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// A name that no certificate can hold.
    #[error("'{0}' is no name for --tls-name; write a host name or an IP address")]
    Name(String),
    /// Certificates that cannot be used, or not together.
    #[error("the files of --ca, --cert and --key cannot be used together: {0}")]
    Tls(#[from] rustls::Error),
}

impl CredentialFlags {
    /// Reads the files; gives sentences of warning beside what they hold.
    pub fn read(&self) -> Result<(Credentials, Vec<String>), CredentialError> {
        let mut warnings = Vec::new();
        let mut credentials = Credentials::default();
        if let Some(path) = &self.token_file {
            let (token, warning) = Token::read(path)?;
            credentials.token = Some(token);
            warnings.extend(warning);
        }
        if let Some(path) = &self.ca {
            let ca = Certificates::read(path)?;
            let identity = match (&self.cert, &self.key) {
                (Some(cert), Some(key)) => {
                    warnings.extend(readable_by_all(key));
                    Some(CertifiedKey::read(cert, key)?)
                }
                _ => None,
            };
            let no_name = |name: &String| CredentialError::Name(name.clone());
            let name = self.tls_name.as_ref();
            let name = name.map(|name| server_name(name).map_err(|_| no_name(name))).transpose()?;
            credentials.encryption = Some(Encryption::new(ca, identity, name)?);
        }
        Ok((credentials, warnings))
    }
}
