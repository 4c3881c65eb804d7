//! The server's side of TLS, from its files.

use std::path::{Path, PathBuf};

use jlpns_link::connect::with_causes;
use jlpns_link::pem::{Certificates, Identity, PemError};
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

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use jlpns_link::keys::{Lab, init};

    use super::*;

    #[test]
    fn the_servers_files_are_checked_before_they_are_used() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lab = Lab {
            names: vec!["localhost".to_owned()],
            addresses: vec![IpAddr::from([127, 0, 0, 1])],
            workers: vec!["worker".to_owned()],
            days: 30,
        };
        init(folder.path(), &lab).expect("keys");
        let path = |name: &str| folder.path().join(name);
        let (cert, key, ca) = (path("server.pem"), path("server.key"), path("ca.pem"));
        server_tls(&cert, &key, Some(&ca)).expect("they fit");
        let unfit = server_tls(&cert, &path("worker.key"), None).expect_err("another's key");
        assert!(matches!(unfit, TlsError::Unfit { .. }), "{unfit}");
        assert!(unfit.to_string().contains("cannot be used together"), "{unfit}");
        let swapped = server_tls(&key, &cert, None).expect_err("the wrong way round").to_string();
        assert!(swapped.contains("server.key holds no certificate"), "{swapped}");
        let no_key = server_tls(&cert, &ca, None).expect_err("no key").to_string();
        assert!(no_key.contains("ca.pem holds no private key"), "{no_key}");
    }
}
