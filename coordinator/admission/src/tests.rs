use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tonic::Code;
use tonic::metadata::MetadataMap;
use tonic::transport::server::Connected;

use super::*;
use crate::rate_limit::Rate;

const WORK: &str = "/jlpns.v1.Solver/Work";
const CHECK: &str = "/grpc.health.v1.Health/Check";
const RIGHT: &str = "the-right-token-of-this-test";

fn token(text: &str) -> Token {
    Token::new(text).expect("a token")
}

fn limits() -> Limits {
    Limits {
        unauthenticated: 4,
        connections: 8,
        per_prefix: Rate { burst: 3, per_second: 0.5 },
        in_all: Rate { burst: 5, per_second: 1.0 },
        ..Limits::for_workers(2)
    }
}

fn admission() -> Arc<Admission> {
    Arc::new(Admission::new(Some(token(RIGHT)), None, limits()))
}

fn from(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))
}

/// A connection from this address; the stream is the far end.
fn connect(
    admission: &Arc<Admission>,
    number: u8,
) -> (Supervised<DuplexStream>, DuplexStream, Arc<Connection>) {
    let (near, far) = duplex(1024);
    let stream = admission.admit(near, from(number)).expect("a place");
    let connection = stream.connect_info();
    (stream, far, connection)
}

/// The head of a request with this token.
fn with(text: &str) -> HeaderMap {
    let mut metadata = MetadataMap::new();
    token(text).show(&mut metadata);
    metadata.into_headers()
}

fn code(answer: Result<(), Status>) -> Option<Code> {
    answer.err().map(|status| status.code())
}

#[tokio::test(start_paused = true)]
async fn only_the_right_token_passes() {
    let admission = admission();
    let (_stream, _far, connection) = connect(&admission, 1);
    let missing =
        admission.check(Some(&connection), WORK, &HeaderMap::new()).expect_err("no token");
    assert_eq!(missing.code(), Code::Unauthenticated);
    assert!(missing.message().contains("wants to see its token"), "{missing}");
    let wrong = admission.check(Some(&connection), WORK, &with("another-token-altogether"));
    let wrong = wrong.expect_err("a wrong token");
    assert_eq!(wrong.code(), Code::Unauthenticated);
    assert!(wrong.message().contains("not the one of this coordinator"), "{wrong}");
    assert_eq!(connection.authentication(), Authentication::Answered);
    assert_eq!(code(admission.check(Some(&connection), WORK, &with(RIGHT))), None);
    assert_eq!(connection.authentication(), Authentication::Done);
    // Each request must show it, also on an authenticated connection.
    let missing = admission.check(Some(&connection), WORK, &HeaderMap::new());
    assert_eq!(code(missing), Some(Code::Unauthenticated));
    assert_eq!(connection.authentication(), Authentication::Done);
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_read_while_it_is_authenticated() {
    let admission = admission();
    let (mut stream, mut far, connection) = connect(&admission, 1);
    far.write_all(b"?").await.expect("it is open");
    // Half of it, as another thread may see it.
    assert!(lock(&admission.connections).authenticate(connection.id));
    let mut byte = [0];
    stream.read_exact(&mut byte).await.expect("it stays open");
    far.write_all(b"!").await.expect("it is open");
    stream.read_exact(&mut byte).await.expect("it stays open");
    assert_eq!(byte, *b"!");
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_no_longer_answered_and_the_right_token_still_passes() {
    let admission = admission();
    let (_stream, _far, unauthenticated) = connect(&admission, 1);
    let attempt = || code(admission.check(Some(&unauthenticated), WORK, &HeaderMap::new()));
    assert_eq!([attempt(), attempt(), attempt()], [Some(Code::Unauthenticated); 3]);
    assert_eq!(unauthenticated.authentication(), Authentication::Answered);
    let refused =
        admission.check(Some(&unauthenticated), WORK, &HeaderMap::new()).expect_err("too many");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().ends_with("from 10.0.0.1; wait 3 s"), "{refused}");
    assert_eq!(unauthenticated.authentication(), Authentication::Refused);
    // From the same address, and with the limit of all used up as well.
    for number in 2..9 {
        let (_stream, _far, other) = connect(&admission, number);
        assert!(admission.check(Some(&other), WORK, &HeaderMap::new()).is_err());
    }
    let (_stream, _far, worker) = connect(&admission, 1);
    assert_eq!(code(admission.check(Some(&worker), WORK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn health_needs_no_token_but_has_a_rate_limit() {
    let admission = admission();
    let (_stream, _far, connection) = connect(&admission, 1);
    for _ in 0..3 {
        assert_eq!(code(admission.check(Some(&connection), CHECK, &HeaderMap::new())), None);
    }
    let refused = admission.check(Some(&connection), CHECK, &HeaderMap::new());
    assert_eq!(code(refused), Some(Code::ResourceExhausted));
    let (_stream, _far, worker) = connect(&admission, 1);
    assert_eq!(code(admission.check(Some(&worker), CHECK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn without_a_token_any_request_authenticates_its_connection() {
    let admission = Arc::new(Admission::new(None, None, limits()));
    let (_stream, _far, connection) = connect(&admission, 1);
    assert_eq!(code(admission.check(Some(&connection), WORK, &HeaderMap::new())), None);
    assert_eq!(connection.authentication(), Authentication::Done);
    assert_eq!(code(Admission::of_all().check(None, WORK, &HeaderMap::new())), None);
}

#[tokio::test(start_paused = true)]
async fn an_unauthenticated_connection_that_says_nothing_is_ended_and_an_authenticated_one_is_not()
{
    let admission = admission();
    let (mut silent, _far, _connection) = connect(&admission, 1);
    let error = silent.read_u8().await.expect_err("an end");
    assert_eq!(error.to_string(), "this connection stayed unauthenticated for too long");
    let (mut quiet, mut far, connection) = connect(&admission, 1);
    assert_eq!(code(admission.check(Some(&connection), WORK, &with(RIGHT))), None);
    tokio::time::advance(admission.limits().authentication_timeout * 100).await;
    far.write_u8(7).await.expect("an open connection");
    assert_eq!(quiet.read_u8().await.expect("an open connection"), 7);
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_gets_its_answer_but_is_not_read() {
    let admission = admission();
    let (mut stream, mut far, connection) = connect(&admission, 1);
    while connection.authentication() != Authentication::Refused {
        assert!(admission.check(Some(&connection), WORK, &HeaderMap::new()).is_err());
    }
    far.write_u8(7).await.expect("room in the pipe");
    stream.write_u8(8).await.expect("last words");
    assert_eq!(far.read_u8().await.expect("last words"), 8);
    assert!(stream.read_u8().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_new_connection_evicts_the_oldest_of_the_flood() {
    let admission = admission();
    let mut flood: Vec<_> = (0..4).map(|_| connect(&admission, 1)).collect();
    let (_stream, _far, worker) = connect(&admission, 2);
    let error = flood[0].0.read_u8().await.expect_err("an end");
    assert_eq!(error.to_string(), "the place of this unauthenticated connection went to another");
    // Even with the right token: its place is gone.
    let late = admission.check(Some(&flood[0].2), WORK, &with(RIGHT));
    assert_eq!(code(late), Some(Code::Unavailable));
    assert_eq!(code(admission.check(Some(&worker), WORK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn where_the_system_gives_fewer_connections_than_places_they_are_evicted_at_that_number() {
    let limits = limits().with_connections(2);
    assert!(limits.unauthenticated > 2);
    let admission = Arc::new(Admission::new(Some(token(RIGHT)), None, limits));
    let (mut oldest, _far, _) = connect(&admission, 1);
    let _other = connect(&admission, 2);
    let (_stream, _far, worker) = connect(&admission, 3);
    let error = oldest.read_u8().await.expect_err("an end");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionAborted);
    assert_eq!(code(admission.check(Some(&worker), WORK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn places_are_counted_and_given_back() {
    let admission = admission();
    let authenticated: Vec<_> = (0..8)
        .map(|_| {
            let connected = connect(&admission, 1);
            assert_eq!(code(admission.check(Some(&connected.2), WORK, &with(RIGHT))), None);
            connected
        })
        .collect();
    assert!(admission.admit(duplex(1).0, from(1)).is_none());
    drop(authenticated);
    connect(&admission, 1);
}

#[tokio::test(start_paused = true)]
async fn there_are_as_many_workers_and_streams_as_there_may_be() {
    let admission = Arc::new(Admission::new(None, None, Limits { streams: 1, ..limits() }));
    let extensions = |connection: &Arc<Connection>| {
        let mut extensions = Extensions::new();
        extensions.insert(connection.clone());
        extensions
    };
    let (_one, _far, one) = connect(&admission, 1);
    let (_two, _far, two) = connect(&admission, 1);
    let (_three, _far, three) = connect(&admission, 1);
    let permit = admission.worker_permit(&extensions(&one)).expect("a place");
    let refused = admission.worker_permit(&extensions(&one)).expect_err("one stream a connection");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("at most 1 workers' streams"), "{refused}");
    let _other = admission.worker_permit(&extensions(&two)).expect("a place");
    let refused = admission.worker_permit(&extensions(&three)).expect_err("two workers");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("at most 2 workers (--max-workers)"), "{refused}");
    drop(permit);
    assert!(admission.worker_permit(&extensions(&three)).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_verified_certificate_is_neither_evicted_nor_held_up_but_needs_the_token() {
    let admission = admission();
    let (mut stream, mut far, certified) = connect(&admission, 1);
    assert!(admission.verified(&certified, b"its subject cannot be read"));
    assert_eq!(certified.authentication(), Authentication::Done);
    // A flood from the same address, which uses up the rate as well.
    let flood: Vec<_> = (0..20).map(|_| connect(&admission, 1)).collect();
    for (_, _, other) in &flood {
        assert!(admission.check(Some(other), WORK, &HeaderMap::new()).is_err());
    }
    assert_eq!(flood[19].2.authentication(), Authentication::Refused);
    for _ in 0..10 {
        let missing = admission.check(Some(&certified), WORK, &HeaderMap::new());
        assert_eq!(code(missing), Some(Code::Unauthenticated));
        assert_eq!(code(admission.check(Some(&certified), CHECK, &HeaderMap::new())), None);
    }
    assert_eq!(code(admission.check(Some(&certified), WORK, &with(RIGHT))), None);
    far.write_u8(7).await.expect("an open connection");
    assert_eq!(stream.read_u8().await.expect("an open connection"), 7);
    // One that lost its place during its handshake gets none by it.
    assert!(!admission.verified(&flood[0].2, b""));
}

#[test]
fn what_can_be_printed_has_no_token() {
    assert!(!format!("{:?}", admission()).contains(RIGHT));
}
