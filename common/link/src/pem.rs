//! Certificates and private keys from PEM files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::readers::refusal;

/// The most bytes of a PEM file.
const MOST_BYTES: u64 = 1 << 20;

/// Why a PEM file is refused. The sentences do not repeat what it holds.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// The file cannot be read.
    #[error("{} cannot be read: {}", path.display(), refusal(path, source, "give a PEM file"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not hold what it should.
    #[error(
        "{} holds no {wanted}; give a file in PEM form, as `jlpns keys init` makes them",
        path.display()
    )]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
    },
}

/// One certificate or more.
#[derive(Clone, Debug)]
pub struct Certificates {
    pem: Vec<u8>,
    der: Vec<CertificateDer<'static>>,
}

impl Certificates {
    /// The certificates in a file.
    pub fn read(path: &Path) -> Result<Certificates, PemError> {
        let pem = read(path)?;
        let der: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(&pem).collect();
        match der {
            Ok(der) if !der.is_empty() => Ok(Certificates { pem: pem.to_vec(), der }),
            _ => Err(PemError::Unfit { path: path.to_owned(), wanted: "certificate" }),
        }
    }

    /// As text.
    pub fn pem(&self) -> &[u8] {
        &self.pem
    }

    /// One by one.
    pub fn into_der(self) -> Vec<CertificateDer<'static>> {
        self.der
    }
}

/// A certificate with its private key. Whether they belong together shows when they are used.
#[derive(Debug)]
pub struct CertifiedKey {
    certificates: Certificates,
    key_pem: Zeroizing<Vec<u8>>,
    key: PrivateKeyDer<'static>,
}

impl CertifiedKey {
    /// A certificate and its private key, each from its own file.
    pub fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, PemError> {
        let certificates = Certificates::read(certificate)?;
        let key_pem = read(key)?;
        let unfit = |_| PemError::Unfit { path: key.to_owned(), wanted: "private key" };
        let key = PrivateKeyDer::from_pem_slice(&key_pem).map_err(unfit)?;
        Ok(CertifiedKey { certificates, key_pem, key })
    }

    /// As texts: the certificate and the key.
    pub fn pem(&self) -> (&[u8], &[u8]) {
        (self.certificates.pem(), &self.key_pem)
    }

    /// The certificate with those behind it, and the key.
    pub fn into_der(self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (self.certificates.into_der(), self.key)
    }
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, PemError> {
    let unreadable = |source| PemError::Unreadable { path: path.to_owned(), source };
    let mut pem = Zeroizing::new(Vec::new());
    let file = File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES).read_to_end(&mut pem).map_err(unreadable)?;
    Ok(pem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_something_else_are_refused_without_repeating_them() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        for content in ["", "hush", "-----BEGIN CERTIFICATE-----\nhush\n"] {
            std::fs::write(file.path(), content).expect("written");
            let refused = Certificates::read(file.path()).expect_err(content).to_string();
            assert!(refused.contains("holds no certificate"), "{refused}");
            assert!(!refused.contains("hush"), "{refused}");
        }
        let missing = Certificates::read(Path::new("/no/such.pem")).expect_err("missing");
        let missing = missing.to_string();
        assert!(missing.contains("/no/such.pem cannot be read: No such file"), "{missing}");
        assert!(Certificates::read(Path::new("/dev/zero")).is_err());
    }
}
