//! What a connection shows of its other end: where it comes from, and its certificate.

use std::sync::Arc;

use http::Extensions;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::connection::Connection;

/// The subject of the certificate that the connection of a request has shown, if it has shown one, and
/// its address; an empty one for connections within this process.
pub fn shown(extensions: &Extensions) -> (Option<String>, String) {
    let Some(connection) = extensions.get::<Arc<Connection>>() else {
        return (None, String::new());
    };
    let address = connection.from.to_canonical().to_string();
    (connection.certificate().map(str::to_owned), address)
}

/// The subject of a certificate, on one line.
pub(super) fn subject(der: &[u8]) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    Some(certificate.subject().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::IpAddr;

    use jlpns_link::keys::{Lab, init};
    use x509_parser::pem::parse_x509_pem;

    use super::*;

    #[test]
    fn workers_with_certificates_of_their_own_have_subjects_of_their_own() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lab = Lab {
            names: vec!["localhost".to_owned()],
            addresses: vec![IpAddr::from([127, 0, 0, 1])],
            workers: vec!["ann".to_owned(), "bob".to_owned()],
            days: 30,
        };
        init(folder.path(), &lab).expect("keys");
        let subject = |name: &str| {
            let pem = fs::read(folder.path().join(format!("{name}.pem"))).expect("a certificate");
            let (_, pem) = parse_x509_pem(&pem).expect("a certificate");
            subject(&pem.contents).expect("a subject")
        };
        assert!(subject("ann").contains("ann"), "{}", subject("ann"));
        assert_ne!(subject("ann"), subject("bob"));
        assert_eq!(super::subject(b"no certificate"), None);
    }
}
