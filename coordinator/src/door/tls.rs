//! The server's side of TLS, from its files.

use std::path::{Path, PathBuf};

use jlpns_worker::connect::with_causes;
use jlpns_worker::pem::{Certificates, Identity, PemError};
use tonic::transport::{self, Server, ServerTlsConfig};

/// Why the server's files are refused.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is unfit by itself.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The files do not fit each other.
    #[error(
        "the certificate {} and the private key {} cannot be used together: {reason}",
        cert.display(),
        key.display()
    )]
    Unfit {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the private key.
        key: PathBuf,
        /// What the TLS library said.
        reason: String,
    },
}

/// The settings of a server that shows `cert` and, if there is a `client_ca`, lets in only clients
/// that show a certificate signed by it.
pub fn server_tls(
    cert: &Path,
    key: &Path,
    client_ca: Option<&Path>,
) -> Result<ServerTlsConfig, TlsError> {
    let identity = Identity::read(cert, key)?;
    let (cert_pem, key_pem) = identity.pem();
    let identity = transport::Identity::from_pem(cert_pem, key_pem);
    let mut tls = ServerTlsConfig::new().identity(identity);
    if let Some(path) = client_ca {
        tls = tls.client_ca_root(transport::Certificate::from_pem(Certificates::read(path)?.pem()));
    }
    // Tried here, where the files can be named.
    if let Err(error) = Server::builder().tls_config(tls.clone()) {
        let (cert, key) = (cert.to_owned(), key.to_owned());
        return Err(TlsError::Unfit { cert, key, reason: with_causes(&error) });
    }
    Ok(tls)
}
