//! The client's side of encrypted connections.

use std::error::Error;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::distrust::Distrust;
use crate::pem::{Certificates, CertifiedKey};

/// What is spoken inside, by both ends.
pub const PROTOCOL: &[u8] = b"h2";

/// How connections are encrypted: whom to believe, what to show, and the name to look for.
#[derive(Clone, Debug)]
pub struct Encryption {
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

/// Why a connection did not come about.
pub type ConnectError = Box<dyn Error + Send + Sync>;

impl Encryption {
    /// Believes `ca`, and shows `identity` to a server that asks for it. `name` is what stands in the
    /// coordinator's certificate, if that is not the host of the URL.
    pub fn new(
        ca: Certificates,
        identity: Option<CertifiedKey>,
        name: Option<ServerName<'static>>,
    ) -> Result<Encryption, tokio_rustls::rustls::Error> {
        let mut roots = RootCertStore::empty();
        for certificate in ca.into_der() {
            roots.add(certificate)?;
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = match identity {
            Some(identity) => {
                let (certificates, key) = identity.into_der();
                builder.with_client_auth_cert(certificates, key)?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols.push(PROTOCOL.to_owned());
        Ok(Encryption { config: Arc::new(config), name })
    }

    /// The name to look for at this host.
    pub fn name_at(&self, host: &str) -> Result<ServerName<'static>, InvalidDnsNameError> {
        match &self.name {
            Some(name) => Ok(name.clone()),
            None => server_name(host),
        }
    }

    /// Connects, and waits until the coordinator has said something: only then is it known that it
    /// has accepted our certificate.
    pub async fn connect(
        &self,
        host: &str,
        port: u16,
        name: ServerName<'static>,
    ) -> Result<BufReader<TlsStream<TcpStream>>, ConnectError> {
        let stream = TcpStream::connect((unbracketed(host), port)).await?;
        stream.set_nodelay(true)?;
        let connector = TlsConnector::from(self.config.clone());
        let stream = connector.connect(name, stream).await.map_err(explained)?;
        let mut stream = BufReader::new(stream);
        if stream.fill_buf().await.map_err(explained)?.is_empty() {
            return Err("the coordinator hung up before it said anything".into());
        }
        Ok(stream)
    }
}

/// The name of a host in certificates.
pub fn server_name(host: &str) -> Result<ServerName<'static>, InvalidDnsNameError> {
    ServerName::try_from(unbracketed(host).to_owned())
}

fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn explained(error: io::Error) -> ConnectError {
    let distrust = error.get_ref().and_then(|inner| Distrust::of(inner.downcast_ref()?));
    distrust.map_or_else(|| error.into(), Into::into)
}
