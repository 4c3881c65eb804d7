//! The server's side of TLS, from its files.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jlpns_link::causes::with_causes;
use jlpns_link::pem::{Certificates, CertifiedKey, PemError};
use jlpns_link::tls::PROTOCOL;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

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

/// The server's end of TLS that shows `cert` and, if there is a `client_ca`, ends the handshake with a
/// client that does not show a certificate signed by it.
pub fn server_tls(
    cert: &Path,
    key: &Path,
    client_ca: Option<&Path>,
) -> Result<TlsAcceptor, TlsError> {
    let identity = CertifiedKey::read(cert, key)?;
    let client_ca = client_ca.map(Certificates::read).transpose()?;
    let config = config(identity, client_ca).map_err(|error| TlsError::Unfit {
        cert: cert.to_owned(),
        key: key.to_owned(),
        reason: with_causes(error.as_ref()),
    })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn config(
    identity: CertifiedKey,
    client_ca: Option<Certificates>,
) -> Result<ServerConfig, Box<dyn Error + Send + Sync>> {
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    let builder = match client_ca {
        Some(client_ca) => {
            let mut roots = RootCertStore::empty();
            for certificate in client_ca.into_der() {
                roots.add(certificate)?;
            }
            let roots = Arc::new(roots);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build()?;
            builder.with_client_cert_verifier(verifier)
        }
        None => builder.with_no_client_auth(),
    };
    let (certificates, key) = identity.into_der();
    let mut config = builder.with_single_cert(certificates, key)?;
    config.alpn_protocols.push(PROTOCOL.to_owned());
    Ok(config)
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
        assert!(server_tls(&cert, &key, Some(&ca)).is_ok());
        let refused = |cert: &Path, key: &Path| server_tls(cert, key, None).err().expect("unfit");
        let unfit = refused(&cert, &path("worker.key"));
        assert!(matches!(unfit, TlsError::Unfit { .. }), "{unfit}");
        assert!(unfit.to_string().contains("cannot be used together"), "{unfit}");
        let swapped = refused(&key, &cert).to_string();
        assert!(swapped.contains("server.key holds no certificate"), "{swapped}");
        let no_key = refused(&cert, &ca).to_string();
        assert!(no_key.contains("ca.pem holds no private key"), "{no_key}");
    }
}
