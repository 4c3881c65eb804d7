//! Ways to a coordinator: over the network, or through a pipe within this process.

use std::future::Future;
use std::io;
use std::time::Duration;

use http::Uri;
use http::uri::Authority;
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_rustls::rustls::pki_types::ServerName;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{self, Channel, Endpoint};
use tonic::{Request, Status};
use tower::service_fn;

use crate::credentials::Credentials;
use crate::tls::Encryption;
use crate::token::Token;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a silent connection is tried, and how long the answer may take: what finds out that
/// the other end is gone without a word.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// The port of https:// URLs that name none.
const HTTPS_PORT: u16 = 443;
/// How much a pipe holds before its writer waits, in bytes.
const PIPE_BYTES: usize = 1 << 16;

/// An open connection, whose requests show the token if there is one.
pub type TokenChannel = InterceptedService<Channel, TokenInterceptor>;

/// Shows the token with every request.
#[derive(Clone, Debug, Default)]
pub struct TokenInterceptor(Option<Token>);

impl Interceptor for TokenInterceptor {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            token.show(request.metadata_mut());
        }
        Ok(request)
    }
}

/// A way to a coordinator. The client connects anew after each loss.
pub trait Connector: Send + Sync {
    /// Opens a new connection.
    fn connect(&self) -> impl Future<Output = Result<TokenChannel, transport::Error>> + Send;
}

/// The way to a coordinator over TCP.
#[derive(Clone, Debug)]
pub struct Dial {
    endpoint: Endpoint,
    interceptor: TokenInterceptor,
    /// How it is encrypted, if it is, and the name to look for.
    encryption: Option<(Encryption, ServerName<'static>)>,
}

/// Why the address of a coordinator is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No URL, or none of the right kind.
    #[error("'{0}' is no coordinator address; write http://HOST:PORT or https://HOST:PORT")]
    Malformed(String),
    /// A URL for an encrypted connection, and nothing to know the coordinator by.
    #[error(
        "'{0}' asks for an encrypted connection; give the coordinator's CA with --ca, or write \
         http://HOST:PORT"
    )]
    NoAuthority(String),
    /// A URL for a plain connection, and credentials for an encrypted one.
    #[error(
        "'{0}' asks for a plain connection, where --ca, --cert and --tls-name are of no use; write \
         https://HOST:PORT"
    )]
    Plain(String),
}

impl Dial {
    /// The way to `http://HOST:PORT`, without credentials.
    pub fn new(url: &str) -> Result<Dial, AddressError> {
        Dial::with(url, Credentials::default())
    }

    /// The way to `http://HOST:PORT` or `https://HOST:PORT` with these credentials.
    pub fn with(url: &str, credentials: Credentials) -> Result<Dial, AddressError> {
        let malformed = || AddressError::Malformed(url.to_owned());
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|_| malformed())?;
        let uri = endpoint.uri();
        let encrypted = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(malformed()),
        };
        if uri.host().is_none_or(str::is_empty) || !matches!(uri.path(), "" | "/") {
            return Err(malformed());
        }
        let encryption = match (encrypted, credentials.encryption) {
            (false, None) => None,
            (false, Some(_)) => return Err(AddressError::Plain(url.to_owned())),
            (true, None) => return Err(AddressError::NoAuthority(url.to_owned())),
            (true, Some(encryption)) => {
                let name = encryption.name_at(uri.host().unwrap_or_default());
                let name = name.map_err(|_| malformed())?;
                Some((encryption, name))
            }
        };
        // What is below is encrypted by us: the endpoint is to take it for plain.
        let plain = Uri::builder()
            .scheme("http")
            .authority(uri.authority().map_or("", Authority::as_str))
            .path_and_query("/")
            .build()
            .map_err(|_| malformed())?;
        let endpoint = Endpoint::from(plain)
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true);
        Ok(Dial { endpoint, interceptor: TokenInterceptor(credentials.token), encryption })
    }
}

impl Connector for Dial {
    async fn connect(&self) -> Result<TokenChannel, transport::Error> {
        let channel = match &self.encryption {
            None => self.endpoint.connect().await?,
            Some(encryption) => encrypted(&self.endpoint, encryption).await?,
        };
        Ok(InterceptedService::new(channel, self.interceptor.clone()))
    }
}

/// An encrypted connection to the host of `endpoint`.
async fn encrypted(
    endpoint: &Endpoint,
    (encryption, name): &(Encryption, ServerName<'static>),
) -> Result<Channel, transport::Error> {
    let (encryption, name) = (encryption.clone(), name.clone());
    let connect = service_fn(move |uri: Uri| {
        let (encryption, name) = (encryption.clone(), name.clone());
        async move {
            let port = uri.port_u16().unwrap_or(HTTPS_PORT);
            let host = uri.host().unwrap_or_default();
            encryption.connect(host, port, name).await.map(TokioIo::new)
        }
    });
    endpoint.connect_with_connector(connect).await
}

/// The way to a coordinator in this process: each connection is an in-memory pipe, whose far end
/// goes to the coordinator through a channel.
#[derive(Clone, Debug)]
pub struct Pipe {
    to_coordinator: mpsc::Sender<DuplexStream>,
}

impl Pipe {
    /// A way that hands the far ends of its pipes to `to_coordinator`.
    pub fn new(to_coordinator: mpsc::Sender<DuplexStream>) -> Pipe {
        Pipe { to_coordinator }
    }
}

impl Connector for Pipe {
    async fn connect(&self) -> Result<TokenChannel, transport::Error> {
        let to_coordinator = self.to_coordinator.clone();
        // The address is never looked up: it only fills the requests' headers.
        let channel = Endpoint::from_static("http://in-process")
            .connect_with_connector(service_fn(move |_| {
                let to_coordinator = to_coordinator.clone();
                async move {
                    let (near, far) = tokio::io::duplex(PIPE_BYTES);
                    to_coordinator.send(far).await.map_err(|_| {
                        io::Error::new(
                            io::ErrorKind::ConnectionRefused,
                            "the coordinator in this process has gone",
                        )
                    })?;
                    Ok::<_, io::Error>(TokioIo::new(near))
                }
            }))
            .await?;
        Ok(InterceptedService::new(channel, TokenInterceptor::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_they_are_dialled() {
        for good in ["http://localhost:7070", "http://10.0.0.1:7070/", "http://[::1]:7070"] {
            assert!(Dial::new(good).is_ok(), "{good}");
        }
        for bad in ["", "localhost:7070", "7070", "ftp://host:1", "http://", "http://h:1/x", "a b"]
        {
            assert_eq!(
                Dial::new(bad).err(),
                Some(AddressError::Malformed(bad.to_owned())),
                "{bad}"
            );
        }
        let error = Dial::new("https://host:7070").expect_err("nobody to believe");
        assert_eq!(error, AddressError::NoAuthority("https://host:7070".to_owned()));
    }
}
