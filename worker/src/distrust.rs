//! What it means when an encrypted connection does not come about, for people.
//!
//! The causes reach us as texts of the TLS library, through layers that keep no types; the tests
//! of mTLS over real connections (`coordinator/tests/wire/door.rs`) hold these texts to it.

use std::error::Error;

use crate::connect::with_causes;

/// Parts of the texts of TLS failures that trying again does not mend, and what to check.
const CAUSES: [(&str, &str); 9] = [
    (
        "UnknownIssuer",
        "the coordinator's certificate is not signed by the authority in --ca; give the \
         coordinator's CA with --ca",
    ),
    (
        "not valid for name",
        "the coordinator's certificate is for other names than the host of the URL; write one of \
         its names into the URL, or give one with --tls-name",
    ),
    (
        "Expired",
        "the coordinator's certificate has expired; make a new one, or set this machine's clock",
    ),
    (
        "NotValidYet",
        "the coordinator's certificate is not valid yet; set the clocks of both machines",
    ),
    (
        "InvalidPurpose",
        "the coordinator shows a certificate that is not one of a server; start it with the one \
         that `jlpns keys init` made for it",
    ),
    (
        "CertificateRequired",
        "the coordinator wants a certificate of this client; give one with --cert and --key",
    ),
    (
        "UnknownCA",
        "the coordinator does not know who signed this client's certificate; give one with --cert \
         and --key that its --client-ca has signed",
    ),
    (
        "DecryptError",
        "the coordinator does not believe this client's certificate; give one with --cert and \
         --key that its --client-ca has signed",
    ),
    (
        "InvalidContentType",
        "the coordinator does not speak TLS; write http://HOST:PORT, or start it with --tls-cert \
         and --tls-key",
    ),
];

/// What to check when this error says that one side does not trust the other; `None` for errors
/// that may pass by themselves. With the error's own words at the end.
pub fn distrust(error: &dyn Error) -> Option<String> {
    let text = with_causes(error);
    let (_, advice) = CAUSES.iter().find(|(part, _)| text.contains(part))?;
    Some(format!("{advice} ({text})"))
}
