//! Admission over real connections: tokens, certificates, floods of unauthenticated requests, and limits.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use jlpns_admission::rate_limit::Rate;
use jlpns_admission::tls::server_tls;
use jlpns_admission::{Admission, Limits};
use jlpns_coordinator::serve::{Served, serve_behind};
use jlpns_link::connect::{AddressError, Connector, Dial, TokenChannel};
use jlpns_link::credentials::{CredentialFlags, Credentials};
use jlpns_link::distrust::Distrust;
use jlpns_link::keys::{self, Lab};
use jlpns_link::token::Token;
use jlpns_proto::v1::GetStatusRequest;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{MAX_MESSAGE_BYTES, v1};
use jlpns_search::sub_search::SubSearches;
use jlpns_solve::Solve;
use jlpns_worker::client::{Wanted, WorkerEnd, WorkerError, run_worker};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;
use tonic::{Code, Request, Status, Streaming};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::stage::{driver, hello, settings, within_a_minute, worker_config};

pub const RIGHT: &str = "the-right-token-of-this-test";

fn token(text: &str) -> Token {
    Token::new(text).expect("a token")
}

pub fn with_token(text: &str) -> Credentials {
    Credentials { token: Some(token(text)), ..Credentials::default() }
}

/// A coordinator that wants to see something.
pub struct Guarded {
    pub address: std::net::SocketAddr,
    pub scheme: &'static str,
    serving: JoinHandle<Solve>,
}

impl Guarded {
    pub async fn start(admission: Admission) -> Guarded {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let scheme = if admission.tls().is_some() { "https" } else { "http" };
        let driver = driver(settings("connect4:4x3"));
        let serving = serve_behind(admission, listener, driver, std::future::pending());
        let serving = tokio::spawn(async {
            let Served { solve, late } = serving.await.expect("the server works");
            late.answer_until(std::future::ready(())).await.expect("the server works");
            solve
        });
        Guarded { address, scheme, serving }
    }

    fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    fn dial(&self, credentials: Credentials) -> Dial {
        Dial::with(&self.url(), credentials).expect("a good address")
    }

    async fn line(&self, credentials: Credentials) -> TokenChannel {
        self.dial(credentials).connect().await.expect("a connection")
    }

    async fn status(&self, credentials: Credentials) -> Result<v1::SolveStatus, Status> {
        let mut client = SolverClient::new(self.line(credentials).await);
        Ok(client.get_status(GetStatusRequest {}).await?.into_inner())
    }

    /// Why no connection comes about.
    async fn distrust(&self, credentials: Credentials) -> Distrust {
        let error = self.dial(credentials).connect().await.expect_err("no connection");
        Distrust::behind(&error).unwrap_or_else(|| panic!("{error:?}")).clone()
    }

    /// How a worker ends that comes with these credentials.
    async fn work(&self, credentials: Credentials) -> Result<WorkerEnd, WorkerError> {
        let (_keep, asked) = watch::channel(Wanted::Work);
        let dial = self.dial(credentials);
        run_worker(worker_config("one", 1), Arc::new(SubSearches), dial, asked).await
    }

    /// A worker with the right credentials finds the value.
    pub async fn solve(self, credentials: Credentials) {
        let end = self.work(credentials).await.expect("a good end");
        assert_eq!(end, WorkerEnd::SolveOver("the value is draw".to_owned()));
        assert!(self.serving.await.expect("no panic").end().is_some());
    }
}

fn behind_token(limits: Limits) -> Admission {
    Admission::new(Some(token(RIGHT)), None, limits)
}

/// Both directions of a worker's stream.
type Talk = (mpsc::Sender<v1::WorkerMessage>, Streaming<v1::CoordinatorMessage>);

/// Opens a worker's stream that says Hello, and hears Welcome.
async fn join(line: TokenChannel) -> Result<Talk, Status> {
    join_as(hello(), line).await
}

/// The same with a Hello of one's own.
async fn join_as(hello: v1::Hello, line: TokenChannel) -> Result<Talk, Status> {
    let (outbound, messages) = mpsc::channel(16);
    let message = v1::WorkerMessage::from(FromWorker::Hello(hello));
    outbound.send(message).await.expect("room for a message");
    let mut client = SolverClient::new(line).max_encoding_message_size(usize::MAX);
    let mut inbound = client.work(ReceiverStream::new(messages)).await?.into_inner();
    inbound.message().await?.expect("a welcome");
    Ok((outbound, inbound))
}

#[tokio::test]
async fn without_the_right_token_there_is_nothing_but_health() {
    within_a_minute(async {
        let coordinator = Guarded::start(behind_token(Limits::for_workers(8))).await;
        for (credentials, words) in [
            (Credentials::default(), "wants to see its token"),
            (with_token("the-wrong-token-of-this-test"), "not the one of this coordinator"),
        ] {
            let refused = coordinator.status(credentials.clone()).await.expect_err(words);
            assert_eq!(refused.code(), Code::Unauthenticated);
            assert!(refused.message().contains(words), "{refused}");
            assert!(!refused.message().contains("of-this-test"), "{refused}");
            let line = coordinator.line(credentials.clone()).await;
            let refused = join(line.clone()).await.expect_err(words);
            assert_eq!(refused.code(), Code::Unauthenticated);
            let healthy = HealthClient::new(line).check(HealthCheckRequest::default()).await;
            assert_eq!(healthy.expect("an answer").into_inner().status, 1);
            match coordinator.work(credentials).await {
                Err(WorkerError::Refused(sentence)) => assert!(sentence.contains(words)),
                other => panic!("{other:?}"),
            }
        }
        let status = coordinator.status(with_token(RIGHT)).await.expect("an answer");
        assert_eq!(status.most_workers, 0);
        coordinator.solve(with_token(RIGHT)).await;
    })
    .await;
}

/// Keys for a lab, and credentials from its files.
pub struct Keys(tempfile::TempDir);

impl Keys {
    pub fn new() -> Keys {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lab = Lab {
            names: vec!["solver.lab.example".to_owned()],
            addresses: vec![IpAddr::from([127, 0, 0, 1])],
            workers: vec!["worker".to_owned(), "second".to_owned()],
            days: 1,
        };
        keys::init(folder.path(), &lab).expect("keys");
        Keys(folder)
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    pub fn admission(&self, server: &str, client_ca: Option<&Path>) -> Admission {
        let (cert, key) = (format!("{server}.pem"), format!("{server}.key"));
        let tls = server_tls(&self.path(&cert), &self.path(&key), client_ca);
        Admission::new(None, Some(tls.expect("they fit")), Limits::for_workers(8))
    }

    pub fn credentials(&self, ca: &Keys, client: Option<&str>, name: Option<&str>) -> Credentials {
        let flags = CredentialFlags {
            ca: Some(ca.path("ca.pem")),
            cert: client.map(|client| self.path(&format!("{client}.pem"))),
            key: client.map(|client| self.path(&format!("{client}.key"))),
            tls_name: name.map(str::to_owned),
            ..CredentialFlags::default()
        };
        flags.read().expect("good files").0
    }
}

#[tokio::test]
async fn with_mutual_tls_only_a_certificate_of_the_lab_is_admitted() {
    within_a_minute(async {
        let (lab, other) = (Keys::new(), Keys::new());
        let coordinator = Guarded::start(lab.admission("server", Some(&lab.path("ca.pem")))).await;
        for (credentials, words) in [
            (lab.credentials(&lab, None, None), "give one with --cert and --key"),
            (
                other.credentials(&lab, Some("worker"), None),
                "that the authority in its --client-ca",
            ),
            (lab.credentials(&lab, Some("server"), None), "that the authority in its --client-ca"),
            (lab.credentials(&other, Some("worker"), None), "give the coordinator's CA with --ca"),
            (lab.credentials(&lab, Some("worker"), Some("other.example")), "--tls-name"),
        ] {
            let distrust = coordinator.distrust(credentials.clone()).await.to_string();
            assert!(distrust.contains(words), "{distrust}");
            match coordinator.work(credentials).await {
                Err(WorkerError::Distrusted(sentence)) => {
                    assert_eq!(sentence.to_string(), distrust)
                }
                other => panic!("{other:?}"),
            }
        }
        let name = Some("solver.lab.example");
        coordinator.solve(lab.credentials(&lab, Some("worker"), name)).await;
    })
    .await;
}

/// Whatever they say of themselves: two that show one certificate confirm nothing of each other's.
#[tokio::test]
async fn machines_are_told_apart_by_the_subjects_of_their_own_certificates() {
    within_a_minute(async {
        let lab = Keys::new();
        let coordinator = Guarded::start(lab.admission("server", Some(&lab.path("ca.pem")))).await;
        let mut streams = Vec::new();
        for client in ["worker", "second", "second"] {
            let name = format!("{client} {}", streams.len());
            let hello = v1::Hello { machine: name.clone(), name, ..hello() };
            let line = coordinator.line(lab.credentials(&lab, Some(client), None)).await;
            streams.push(join_as(hello, line).await.expect("a welcome"));
        }
        let status = coordinator.status(lab.credentials(&lab, Some("worker"), None)).await;
        let mut shown: Vec<(String, String)> =
            status.expect("an answer").workers.into_iter().map(|w| (w.name, w.machine)).collect();
        shown.sort();
        let [(_, second), (_, again), (_, worker)] = &shown[..] else { panic!("{shown:?}") };
        assert!(second.starts_with("certificate ") && second.contains("second"), "{second}");
        assert!(worker.starts_with("certificate ") && worker.contains("worker"), "{worker}");
        assert_eq!(second, again);
    })
    .await;
}

#[tokio::test]
async fn tls_without_client_certificates_admits_who_trusts_it() {
    within_a_minute(async {
        let lab = Keys::new();
        let coordinator = Guarded::start(lab.admission("server", None)).await;
        coordinator.solve(lab.credentials(&lab, None, None)).await;
    })
    .await;
}

#[tokio::test]
async fn a_workers_certificate_does_not_make_a_coordinator() {
    within_a_minute(async {
        let lab = Keys::new();
        let false_one = Guarded::start(lab.admission("worker", None)).await;
        let name = lab.credentials(&lab, None, Some("worker"));
        let distrust = false_one.distrust(name).await.to_string();
        assert!(distrust.contains("that is not a coordinator's"), "{distrust}");
    })
    .await;
}

#[tokio::test]
async fn tls_and_plain_text_do_not_meet() {
    within_a_minute(async {
        let lab = Keys::new();
        let plain = Guarded::start(behind_token(Limits::for_workers(8))).await;
        let url = plain.url().replace("http:", "https:");
        let dial = Dial::with(&url, lab.credentials(&lab, None, None)).expect("a good address");
        let error = dial.connect().await.expect_err("no TLS there");
        let distrust = Distrust::behind(&error).expect("a distrust").to_string();
        assert!(distrust.contains("does not speak TLS"), "{distrust}");
        let encrypted = Guarded::start(lab.admission("server", None)).await;
        let url = encrypted.url().replace("https:", "http:");
        let refused = Dial::with(&url, lab.credentials(&lab, None, None)).expect_err("plain");
        assert_eq!(refused, AddressError::Plain(url.clone()));
        let answered = match Dial::new(&url).expect("a good address").connect().await {
            Ok(line) => SolverClient::new(line).get_status(GetStatusRequest {}).await.is_ok(),
            Err(_) => false,
        };
        assert!(!answered);
    })
    .await;
}

fn tight() -> Limits {
    Limits {
        per_prefix: Rate { burst: 5, per_second: 0.001 },
        in_all: Rate { burst: 20, per_second: 0.001 },
        unauthenticated: 16,
        ..Limits::for_workers(8)
    }
}

#[tokio::test]
async fn a_flood_of_requests_with_a_wrong_token_is_refused_and_a_worker_is_not() {
    within_a_minute(async {
        let coordinator = Guarded::start(behind_token(tight())).await;
        let mut flood = Vec::new();
        let (count, mut codes) = mpsc::unbounded_channel();
        for number in 0..20u8 {
            let (url, count) = (coordinator.url(), count.clone());
            flood.push(tokio::spawn(async move {
                let endpoint = Endpoint::from_shared(url).expect("an address");
                // Half of them from where the worker comes from.
                let from = IpAddr::from([127, 0, 0, 1 + number % 2]);
                let endpoint = endpoint.local_address(Some(from));
                loop {
                    let Ok(channel) = endpoint.connect().await else { continue };
                    let mut client = SolverClient::new(channel);
                    let mut request = Request::new(GetStatusRequest {});
                    token("the-wrong-token-of-this-test").show(request.metadata_mut());
                    let status = client.get_status(request).await.expect_err("a refusal");
                    let _ = count.send((status.code(), status.message().to_owned()));
                }
            }));
        }
        // The flood is at its height: it is no longer answered as one who is mistaken.
        let (mut answered, mut refused) = (0, 0);
        while refused < 50 {
            match codes.recv().await.expect("the flood goes on") {
                (Code::Unauthenticated, _) => answered += 1,
                (Code::ResourceExhausted, sentence) => {
                    let words = "too many requests without the right token from 127.0.0.";
                    assert!(sentence.starts_with(words), "{sentence}");
                    refused += 1;
                }
                // The place went to another.
                _ => {}
            }
        }
        assert!(answered <= 10, "{answered} requests from two addresses were answered");
        coordinator.solve(with_token(RIGHT)).await;
        for task in flood {
            task.abort();
        }
    })
    .await;
}

#[tokio::test]
async fn connections_that_say_nothing_make_way_for_a_worker() {
    within_a_minute(async {
        let coordinator = Guarded::start(behind_token(tight())).await;
        let mut silent = Vec::new();
        for _ in 0..100 {
            let socket = TcpSocket::new_v4().expect("a socket");
            silent.push(socket.connect(coordinator.address).await.expect("a connection"));
        }
        // The first of them has been hung up on.
        let mut rest = Vec::new();
        let _ = silent[0].read_to_end(&mut rest).await;
        coordinator.solve(with_token(RIGHT)).await;
    })
    .await;
}

#[tokio::test]
async fn too_large_a_message_is_refused_with_a_sentence() {
    within_a_minute(async {
        let coordinator = Guarded::start(behind_token(Limits::for_workers(8))).await;
        let (outbound, mut inbound) =
            join(coordinator.line(with_token(RIGHT)).await).await.expect("a welcome");
        let reason = "x".repeat(MAX_MESSAGE_BYTES + 1);
        let declines = vec![v1::Decline { lease_id: 1, reason }];
        let batch = v1::WorkerBatch { declines, ..v1::WorkerBatch::default() };
        let message = v1::WorkerMessage::from(FromWorker::Batch(batch));
        outbound.send(message).await.expect("an open stream");
        let status = loop {
            match inbound.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream ended without a word"),
                Err(status) => break status,
            }
        };
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("the limit is: 16777216 bytes"), "{status}");
        coordinator.solve(with_token(RIGHT)).await;
    })
    .await;
}

#[tokio::test]
async fn too_many_streams_and_workers_are_refused_until_one_leaves() {
    within_a_minute(async {
        let limits = Limits { streams: 2, ..Limits::for_workers(3) };
        let coordinator = Guarded::start(behind_token(limits)).await;
        let line = coordinator.line(with_token(RIGHT)).await;
        let first = join(line.clone()).await.expect("a welcome");
        let second = join(line.clone()).await.expect("a welcome");
        let refused = join(line.clone()).await.expect_err("two streams a connection");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert!(refused.message().contains("at most 2 workers' streams"), "{refused}");
        let other = coordinator.line(with_token(RIGHT)).await;
        let _third = join(other.clone()).await.expect("a welcome");
        let refused = join(other.clone()).await.expect_err("three workers");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert!(refused.message().contains("at most 3 workers (--max-workers)"), "{refused}");
        // The status is not a worker's, and has a place.
        assert!(coordinator.status(with_token(RIGHT)).await.is_ok());
        drop((first, second));
        while let Err(refused) = join(line.clone()).await {
            assert_eq!(refused.code(), Code::ResourceExhausted);
        }
    })
    .await;
}
