use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tonic::Code;
use tonic::metadata::MetadataMap;
use tonic::transport::server::Connected;

use super::*;

const WORK: &str = "/jlpns.v1.Solver/Work";
const CHECK: &str = "/grpc.health.v1.Health/Check";
const RIGHT: &str = "the-right-token-of-this-test";

fn token(text: &str) -> Token {
    Token::new(text).expect("a token")
}

fn limits() -> Limits {
    Limits {
        strangers: 4,
        connections: 8,
        each: Rate { burst: 3, per_second: 0.5 },
        all: Rate { burst: 5, per_second: 1.0 },
        ..Limits::for_workers(2)
    }
}

fn guarded() -> Arc<Door> {
    Arc::new(Door::new(Some(token(RIGHT)), None, limits()))
}

fn from(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))
}

/// A connection from this address; the stream is the far end.
fn connect(door: &Arc<Door>, number: u8) -> (Guarded<DuplexStream>, DuplexStream, Arc<Visitor>) {
    let (near, far) = duplex(1024);
    let connection = door.admit(near, from(number)).expect("a place");
    let visitor = connection.connect_info();
    (connection, far, visitor)
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
    let door = guarded();
    let (_connection, _far, visitor) = connect(&door, 1);
    let missing = door.check(Some(&visitor), WORK, &HeaderMap::new()).expect_err("no token");
    assert_eq!(missing.code(), Code::Unauthenticated);
    assert!(missing.message().contains("wants to see its token"), "{missing}");
    let wrong = door.check(Some(&visitor), WORK, &with("another-token-altogether"));
    let wrong = wrong.expect_err("a wrong token");
    assert_eq!(wrong.code(), Code::Unauthenticated);
    assert!(wrong.message().contains("not the one of this coordinator"), "{wrong}");
    assert_eq!(visitor.standing(), Standing::Answered);
    assert_eq!(code(door.check(Some(&visitor), WORK, &with(RIGHT))), None);
    assert_eq!(visitor.standing(), Standing::Friend);
    // Each request must show it, also on the connection of a friend.
    let missing = door.check(Some(&visitor), WORK, &HeaderMap::new());
    assert_eq!(code(missing), Some(Code::Unauthenticated));
    assert_eq!(visitor.standing(), Standing::Friend);
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_read_while_its_visitor_becomes_a_friend() {
    let door = guarded();
    let (mut connection, mut far, visitor) = connect(&door, 1);
    far.write_all(b"?").await.expect("it is open");
    // Half of it, as another thread may see it.
    assert!(lock(&door.room).befriend(visitor.id));
    let mut byte = [0];
    connection.read_exact(&mut byte).await.expect("it stays open");
    far.write_all(b"!").await.expect("it is open");
    connection.read_exact(&mut byte).await.expect("it stays open");
    assert_eq!(byte, *b"!");
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_no_longer_answered_and_the_right_token_still_passes() {
    let door = guarded();
    let (_connection, _far, stranger) = connect(&door, 1);
    let attempt = || code(door.check(Some(&stranger), WORK, &HeaderMap::new()));
    assert_eq!([attempt(), attempt(), attempt()], [Some(Code::Unauthenticated); 3]);
    assert_eq!(stranger.standing(), Standing::Answered);
    let refused = door.check(Some(&stranger), WORK, &HeaderMap::new()).expect_err("too many");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().ends_with("from 10.0.0.1; wait 3 s"), "{refused}");
    assert_eq!(stranger.standing(), Standing::Refused);
    // From the same address, and with the limit of all used up as well.
    for number in 2..9 {
        let (_connection, _far, other) = connect(&door, number);
        assert!(door.check(Some(&other), WORK, &HeaderMap::new()).is_err());
    }
    let (_connection, _far, friend) = connect(&door, 1);
    assert_eq!(code(door.check(Some(&friend), WORK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn health_is_for_everybody_but_not_without_end() {
    let door = guarded();
    let (_connection, _far, visitor) = connect(&door, 1);
    for _ in 0..3 {
        assert_eq!(code(door.check(Some(&visitor), CHECK, &HeaderMap::new())), None);
    }
    let refused = door.check(Some(&visitor), CHECK, &HeaderMap::new());
    assert_eq!(code(refused), Some(Code::ResourceExhausted));
    let (_connection, _far, friend) = connect(&door, 1);
    assert_eq!(code(door.check(Some(&friend), CHECK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn without_a_token_who_has_come_so_far_belongs() {
    let door = Arc::new(Door::new(None, None, limits()));
    let (_connection, _far, visitor) = connect(&door, 1);
    assert_eq!(code(door.check(Some(&visitor), WORK, &HeaderMap::new())), None);
    assert_eq!(visitor.standing(), Standing::Friend);
    assert_eq!(code(Door::open().check(None, WORK, &HeaderMap::new())), None);
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_says_nothing_is_hung_up_on_and_a_friend_is_not() {
    let door = guarded();
    let (mut silent, _far, _visitor) = connect(&door, 1);
    let error = silent.read_u8().await.expect_err("an end");
    assert_eq!(error.to_string(), "a stranger stayed for too long");
    let (mut quiet, mut far, visitor) = connect(&door, 1);
    assert_eq!(code(door.check(Some(&visitor), WORK, &with(RIGHT))), None);
    tokio::time::advance(door.limits().patience * 100).await;
    far.write_u8(7).await.expect("an open connection");
    assert_eq!(quiet.read_u8().await.expect("an open connection"), 7);
}

#[tokio::test(start_paused = true)]
async fn who_is_refused_may_read_the_answer_but_is_not_read() {
    let door = guarded();
    let (mut connection, mut far, visitor) = connect(&door, 1);
    while visitor.standing() != Standing::Refused {
        assert!(door.check(Some(&visitor), WORK, &HeaderMap::new()).is_err());
    }
    far.write_u8(7).await.expect("room in the pipe");
    connection.write_u8(8).await.expect("last words");
    assert_eq!(far.read_u8().await.expect("last words"), 8);
    assert!(connection.read_u8().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_ends_the_oldest_connection_of_the_flood() {
    let door = guarded();
    let mut flood: Vec<_> = (0..4).map(|_| connect(&door, 1)).collect();
    let (_connection, _far, friend) = connect(&door, 2);
    let error = flood[0].0.read_u8().await.expect_err("an end");
    assert_eq!(error.to_string(), "the place of this stranger went to another");
    // Even with the right token: its place is gone.
    let late = door.check(Some(&flood[0].2), WORK, &with(RIGHT));
    assert_eq!(code(late), Some(Code::Unavailable));
    assert_eq!(code(door.check(Some(&friend), WORK, &with(RIGHT))), None);
}

#[tokio::test(start_paused = true)]
async fn places_are_counted_and_given_back() {
    let door = guarded();
    let friends: Vec<_> = (0..8)
        .map(|_| {
            let connected = connect(&door, 1);
            assert_eq!(code(door.check(Some(&connected.2), WORK, &with(RIGHT))), None);
            connected
        })
        .collect();
    assert!(door.admit(duplex(1).0, from(1)).is_none());
    drop(friends);
    connect(&door, 1);
}

#[tokio::test(start_paused = true)]
async fn there_are_as_many_workers_and_streams_as_there_may_be() {
    let door = Arc::new(Door::new(None, None, Limits { streams: 1, ..limits() }));
    let extensions = |visitor: &Arc<Visitor>| {
        let mut extensions = Extensions::new();
        extensions.insert(visitor.clone());
        extensions
    };
    let (_one, _far, one) = connect(&door, 1);
    let (_two, _far, two) = connect(&door, 1);
    let (_three, _far, three) = connect(&door, 1);
    let seat = door.seat(&extensions(&one)).expect("a place");
    let refused = door.seat(&extensions(&one)).expect_err("one stream a connection");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("at most 1 workers' streams"), "{refused}");
    let _other = door.seat(&extensions(&two)).expect("a place");
    let refused = door.seat(&extensions(&three)).expect_err("two workers");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("at most 2 workers (--max-workers)"), "{refused}");
    drop(seat);
    assert!(door.seat(&extensions(&three)).is_ok());
}

#[test]
fn what_can_be_printed_of_a_door_has_no_token() {
    assert!(!format!("{:?}", guarded()).contains(RIGHT));
}
