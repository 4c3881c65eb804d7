//! What a client shows to a coordinator, and what it believes a coordinator by: the flags for it,
//! and the files behind them.

use std::path::PathBuf;

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::pem::{self, PemError};
use crate::readers::readable_by_all;
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
    #[arg(long, value_name = "FILE", env = "JLPNS_CERT", requires = "key")]
    pub cert: Option<PathBuf>,

    /// The private key of --cert
    #[arg(long, value_name = "FILE", env = "JLPNS_KEY", requires = "cert")]
    pub key: Option<PathBuf>,

    /// The name in the coordinator's certificate, if it is not the host of the URL
    #[arg(long, value_name = "NAME", env = "JLPNS_TLS_NAME")]
    pub tls_name: Option<String>,
}

/// What a client shows and believes.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// What it shows with every request.
    pub token: Option<Token>,
    /// The authority that it believes.
    pub ca: Option<Certificate>,
    /// The certificate that it shows.
    pub identity: Option<Identity>,
    /// The name that it wants in the coordinator's certificate, if not the host of the URL.
    pub tls_name: Option<String>,
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
}

impl CredentialFlags {
    /// Reads the files; gives sentences of warning beside what they hold.
    pub fn read(&self) -> Result<(Credentials, Vec<String>), CredentialError> {
        let mut warnings = Vec::new();
        let mut credentials =
            Credentials { tls_name: self.tls_name.clone(), ..Credentials::default() };
        if let Some(path) = &self.token_file {
            let (token, warning) = Token::read(path)?;
            credentials.token = Some(token);
            warnings.extend(warning);
        }
        if let Some(path) = &self.ca {
            credentials.ca = Some(pem::certificates(path)?);
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            credentials.identity = Some(pem::identity(cert, key)?);
            warnings.extend(readable_by_all(key));
        }
        Ok((credentials, warnings))
    }
}

impl Credentials {
    /// Whether any of them is of use over encrypted connections only.
    pub fn want_encryption(&self) -> bool {
        self.ca.is_some() || self.identity.is_some() || self.tls_name.is_some()
    }

    /// The settings of an encrypted connection; `None` without an authority to believe.
    pub fn tls(&self) -> Option<ClientTlsConfig> {
        let mut tls = ClientTlsConfig::new().ca_certificate(self.ca.clone()?);
        if let Some(identity) = &self.identity {
            tls = tls.identity(identity.clone());
        }
        if let Some(name) = &self.tls_name {
            tls = tls.domain_name(name);
        }
        Some(tls)
    }
}
