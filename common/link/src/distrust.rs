//! What it means when one side of a connection does not trust the other, for people.

use std::error::Error;

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as Tls, InvalidMessage};
use tonic::Status;

use crate::causes::with_causes;

/// A connection that trying again does not bring about: what to check, and the words of the TLS
/// library.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{advice} ({cause})")]
pub struct Distrust {
    advice: &'static str,
    cause: Tls,
}

/// What to check when the coordinator does not believe this client's certificate.
const OTHER_CERT: &str = "the coordinator does not believe this client's certificate; give one with \
                          --cert and --key that the authority in its --client-ca has signed";

impl Distrust {
    /// What is to be checked after this failure; `None` for failures that may pass by themselves.
    pub fn of(cause: &Tls) -> Option<Distrust> {
        let advice = match cause {
            Tls::InvalidCertificate(error) => of_certificate(error),
            // Alerts come from the other side, and speak of our certificate.
            Tls::AlertReceived(alert) => of_alert(*alert)?,
            Tls::InvalidMessage(InvalidMessage::InvalidContentType) => {
                "the coordinator does not speak TLS; write http://HOST:PORT, or start it with \
                 --tls-cert and --tls-key"
            }
            _ => return None,
        };
        Some(Distrust { advice, cause: cause.clone() })
    }

    /// The distrust that is behind an error, if that is what it is.
    pub fn behind<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Distrust> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

fn of_certificate(error: &CertificateError) -> &'static str {
    use CertificateError::*;
    match error {
        NotValidForName | NotValidForNameContext { .. } => {
            "the coordinator's certificate is for other names than the host of the URL; write one \
             of its names into the URL, or give one with --tls-name"
        }
        Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
            "the coordinator's certificate is not valid today; make a new one, or set the clocks"
        }
        InvalidPurpose | InvalidPurposeContext { .. } => {
            "the coordinator shows a certificate that is not a coordinator's; start it with the \
             one that `jlpns keys init` made for it"
        }
        _ => {
            "the coordinator's certificate is not signed by the authority in --ca; give the \
             coordinator's CA with --ca"
        }
    }
}

fn of_alert(alert: AlertDescription) -> Option<&'static str> {
    use AlertDescription::*;
    Some(match alert {
        CertificateRequired | NoCertificate => {
            "the coordinator wants a certificate of this client; give one with --cert and --key"
        }
        CertificateExpired => {
            "this client's certificate is not valid today; make a new one, or set the clocks"
        }
        UnknownCA
        | BadCertificate
        | UnsupportedCertificate
        | CertificateUnknown
        | CertificateRevoked
        | DecryptError
        | AccessDenied => OTHER_CERT,
        _ => return None,
    })
}

/// Why a request got no answer; with what to check, if that is how it ends when a plain connection
/// meets a coordinator that speaks TLS.
pub fn lost(status: &Status) -> String {
    let Some(cause) = status.source() else { return status.message().to_owned() };
    let text = with_causes(cause);
    let hint = if ["frame with invalid size", "broken pipe"].iter().any(|part| text.contains(part))
    {
        "; a coordinator that speaks TLS wants https:// and --ca"
    } else {
        ""
    };
    format!("{text}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_no_distrust() {
        for passing in [
            Tls::AlertReceived(AlertDescription::InternalError),
            Tls::HandshakeNotComplete,
            Tls::General("busy".to_owned()),
        ] {
            assert_eq!(Distrust::of(&passing), None);
        }
    }

    #[test]
    fn each_advice_names_the_flag_to_check() {
        let certificate = |error| Tls::InvalidCertificate(error);
        for (cause, flag) in [
            (certificate(CertificateError::UnknownIssuer), "--ca"),
            (certificate(CertificateError::BadSignature), "--ca"),
            (certificate(CertificateError::NotValidForName), "--tls-name"),
            (certificate(CertificateError::Expired), "clocks"),
            (Tls::AlertReceived(AlertDescription::CertificateRequired), "--cert and --key"),
            (Tls::AlertReceived(AlertDescription::UnknownCA), "--client-ca"),
            (Tls::InvalidMessage(InvalidMessage::InvalidContentType), "http://HOST:PORT"),
        ] {
            let distrust = Distrust::of(&cause).expect("a distrust");
            let sentence = distrust.to_string();
            assert!(sentence.contains(flag), "{sentence}");
            let wrapped = std::io::Error::other(distrust.clone());
            // An io::Error hides its own inner error from the chain of sources.
            assert_eq!(Distrust::behind(&wrapped), None);
            assert_eq!(Distrust::behind(&distrust), Some(&distrust));
        }
    }
}
