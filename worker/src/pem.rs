//! Certificates and private keys from PEM files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::zeroize::Zeroizing;
use tonic::transport::{Certificate, Identity};

/// The most bytes of a PEM file.
const MOST_BYTES: u64 = 1 << 20;

/// Why a PEM file is refused.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not hold what it should.
    #[error("{} holds no {wanted}; give a file in PEM form, as `jlpns keys init` makes it", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
    },
}

/// The certificates in a file; there is at least one.
pub fn certificates(path: &Path) -> Result<Certificate, PemError> {
    let pem = read(path)?;
    let found: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    if found.is_ok_and(|found| !found.is_empty()) {
        Ok(Certificate::from_pem(&*pem))
    } else {
        Err(PemError::Unfit { path: path.to_owned(), wanted: "certificate" })
    }
}

/// A certificate with its private key, each from its own file. Whether they belong together shows
/// when they are used.
pub fn identity(certificate: &Path, key: &Path) -> Result<Identity, PemError> {
    let certificate = certificates(certificate)?;
    let pem = read(key)?;
    match PrivateKeyDer::from_pem_slice(&pem) {
        Ok(_) => Ok(Identity::from_pem(certificate, &*pem)),
        Err(_) => Err(PemError::Unfit { path: key.to_owned(), wanted: "private key" }),
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
            let refused = certificates(file.path()).expect_err(content).to_string();
            assert!(refused.contains("holds no certificate"), "{refused}");
            assert!(!refused.contains("hush"), "{refused}");
        }
        let missing = certificates(Path::new("/no/such.pem")).expect_err("missing").to_string();
        assert!(missing.contains("/no/such.pem cannot be read: No such file"), "{missing}");
        assert!(certificates(Path::new("/dev/zero")).is_err());
    }
}
