//! Ways to a coordinator: over the network, or through a pipe within this process.

use std::future::{Future, pending};
use std::io;
use std::time::Duration;

use dns_lookup::{LookupErrorKind, getaddrinfo};
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

use crate::coordinator_file::CoordinatorFileError;
use crate::credentials::Credentials;
use crate::tls::Encryption;
use crate::token::Token;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a silent connection is tried, and how long the answer may take: what finds out that
/// the other end is gone without a word.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
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
    fn connect(&self) -> impl Future<Output = Result<TokenChannel, ConnectError>> + Send;

    /// Is there when the coordinator is said to be at another place than the last time that [`Connector::connect`]
    /// looked for it, so that there is no need to wait any longer.
    fn moved(&self) -> impl Future<Output = ()> + Send {
        pending()
    }
}

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address does not answer.
    #[error(transparent)]
    Transport(#[from] transport::Error),
    /// None of several addresses answers.
    #[error("none of {} addresses answers: {}", .0.len(), .0.join("; "))]
    NoneOf(Vec<String>),
    /// The file that says where the coordinator is does not say it.
    #[error(transparent)]
    File(#[from] CoordinatorFileError),
}

/// The way to a coordinator over TCP.
#[derive(Clone, Debug)]
pub struct Dial {
    /// As it was given.
    url: String,
    endpoint: Endpoint,
    interceptor: TokenInterceptor,
    /// How it is encrypted, if it is, and the name to look for.
    encryption: Option<(Encryption, ServerName<'static>)>,
}

/// A host that nobody knows under this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no host '{host}' ({cause}); is its name spelled right, and is it up?")]
pub struct UnknownHost {
    host: String,
    cause: io::Error,
}

/// Why the address of a coordinator is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No URL, or none of the right kind.
    #[error("'{0}' is no coordinator address; write http://HOST:PORT or https://HOST:PORT")]
    Malformed(String),
    /// A URL that does not say on which port the coordinator listens.
    #[error("'{0}' has no port; write it behind the host, as in http://HOST:PORT")]
    NoPort(String),
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
        if uri.port_u16().is_none() {
            return Err(AddressError::NoPort(url.to_owned()));
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
        let interceptor = TokenInterceptor(credentials.token);
        Ok(Dial { url: url.to_owned(), endpoint, interceptor, encryption })
    }

    /// The URL, as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Looks the host up, which may take a while: a name that nobody knows is no coordinator to wait for. Names that
    /// cannot be looked up for now may be known later.
    pub fn look_up(&self) -> Result<(), UnknownHost> {
        let uri = self.endpoint.uri();
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        match getaddrinfo(Some(host), None, None) {
            Err(cause) if is_unknown(cause.kind()) => {
                Err(UnknownHost { host: host.to_owned(), cause: cause.into() })
            }
            _ => Ok(()),
        }
    }
}

fn is_unknown(kind: LookupErrorKind) -> bool {
    matches!(kind, LookupErrorKind::NoName | LookupErrorKind::NoData)
}

impl Dial {
    /// Opens a new connection.
    pub(crate) async fn open(&self) -> Result<TokenChannel, transport::Error> {
        let channel = match &self.encryption {
            None => self.endpoint.connect().await?,
            Some(encryption) => encrypted(&self.endpoint, encryption).await?,
        };
        Ok(InterceptedService::new(channel, self.interceptor.clone()))
    }
}

impl Connector for Dial {
    async fn connect(&self) -> Result<TokenChannel, ConnectError> {
        Ok(self.open().await?)
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
            let port = uri.port_u16().unwrap_or_default();
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
    async fn connect(&self) -> Result<TokenChannel, ConnectError> {
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
        for bad in ["http://localhost", "http://10.0.0.1/", "http://[::1]", "https://host"] {
            assert_eq!(Dial::new(bad).err(), Some(AddressError::NoPort(bad.to_owned())), "{bad}");
        }
        let error = Dial::new("https://host:7070").expect_err("nobody to believe");
        assert_eq!(error, AddressError::NoAuthority("https://host:7070".to_owned()));
    }

    #[test]
    fn hosts_are_looked_up_by_name_and_by_address() {
        for known in ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"] {
            Dial::new(known).expect("an address").look_up().expect(known);
        }
        let typo = Dial::new("http://no-such-host.invalid:1").expect("an address");
        let sentence = typo.look_up().expect_err("a name that is never given").to_string();
        assert!(sentence.contains("no host 'no-such-host.invalid'"), "{sentence}");
    }

    #[test]
    fn a_name_that_cannot_be_looked_up_for_now_is_waited_for() {
        assert!(is_unknown(LookupErrorKind::NoName) && is_unknown(LookupErrorKind::NoData));
        assert!(!is_unknown(LookupErrorKind::Again) && !is_unknown(LookupErrorKind::IO));
    }
}
