//! Workers that come while a flood of idle connections from many addresses fills the connection table.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use jlpns_admission::{Admission, Limits};
use jlpns_link::connect::{Connector, Dial};
use jlpns_link::credentials::Credentials;
use jlpns_link::pem::{Certificates, CertifiedKey};
use jlpns_link::tls::{Encryption, server_name};
use jlpns_link::token::Token;
use jlpns_proto::v1::GetStatusRequest;
use jlpns_proto::v1::solver_client::SolverClient;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::interval;

use crate::admission::{Guarded, Keys, RIGHT, with_token};
use crate::stage::within_a_minute;

/// From how many addresses the flood comes.
const ADDRESSES: usize = 250;
/// How many connections it opens in three seconds of the rate that docs/security.md speaks of.
const FLOOD: usize = 3_000;
/// How many of them it keeps open: more than the coordinator does.
const KEPT: usize = 2_000;

/// The address of the `number`th connection of a flood from many addresses.
fn flood_address(number: usize) -> IpAddr {
    IpAddr::from([127, 0, 1, 1 + (number % ADDRESSES) as u8])
}

/// Connections of which none says anything.
struct Flood {
    to: SocketAddr,
    /// Where each comes from, by its number.
    from: fn(usize) -> IpAddr,
    opened: usize,
    idle: VecDeque<TcpStream>,
}

impl Flood {
    /// From many addresses in turn.
    fn new(to: SocketAddr) -> Flood {
        Flood { to, from: flood_address, opened: 0, idle: VecDeque::new() }
    }

    /// Opens so many; an error once the coordinator is gone.
    async fn open(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            let socket = TcpSocket::new_v4().expect("a socket");
            let from = SocketAddr::new((self.from)(self.opened), 0);
            socket.bind(from).expect("an address of this machine");
            self.idle.push_back(socket.connect(self.to).await?);
            self.opened += 1;
            if self.idle.len() > KEPT {
                // Its place went to another long ago.
                self.idle.pop_front();
            }
        }
        Ok(())
    }
}

/// Carries one connection to `to`, from `from`, and not a byte of it before the returned sender says so.
async fn delayed(
    from: IpAddr,
    to: SocketAddr,
) -> (SocketAddr, oneshot::Receiver<()>, oneshot::Sender<()>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (connected, is_connected) = oneshot::channel();
    let (go, may_go) = oneshot::channel::<()>();
    let carrying = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client");
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::new(from, 0)).expect("an address of this machine");
        let mut server = socket.connect(to).await.expect("a connection");
        let _ = connected.send(());
        may_go.await.expect("the test goes on");
        // How it ends is seen by the client.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    });
    (address, is_connected, go, carrying)
}

/// A client connects, is kept from saying anything while the flood opens `flood` connections, and
/// then asks for the status: what comes of that on the same connection.
async fn slow_client(
    coordinator: &Guarded,
    from: IpAddr,
    credentials: Credentials,
    flood: usize,
) -> Result<(), String> {
    let (address, is_connected, go, _carrying) = delayed(from, coordinator.address).await;
    let url = format!("{}://{address}", coordinator.scheme);
    let dial = Dial::with(&url, credentials).expect("a good address");
    let asking = tokio::spawn(async move {
        let line = dial.connect().await.map_err(|error| format!("{error:?}"))?;
        let status = SolverClient::new(line).get_status(GetStatusRequest {}).await;
        status.map(drop).map_err(|status| status.to_string())
    });
    is_connected.await.expect("a connection");
    let mut idle = Flood::new(coordinator.address);
    idle.open(flood).await.expect("connections");
    go.send(()).expect("a client that waits");
    asking.await.expect("no panic")
}

fn of_certificates(lab: &Keys) -> Admission {
    lab.admission("server", Some(&lab.path("ca.pem")))
}

fn of_the_token() -> Admission {
    let token = Token::new(RIGHT).expect("a token");
    Admission::new(Some(token), None, Limits::for_workers(8))
}

const OWN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[tokio::test]
async fn three_seconds_of_a_flood_do_not_push_out_a_client_that_has_not_spoken_yet() {
    within_a_minute(async {
        let lab = Keys::new();
        let coordinator = Guarded::start(of_certificates(&lab)).await;
        let certified = lab.credentials(&lab, Some("worker"), None);
        slow_client(&coordinator, OWN, certified, FLOOD).await.expect("by its certificate");
        let coordinator = Guarded::start(of_the_token()).await;
        slow_client(&coordinator, OWN, with_token(RIGHT), FLOOD).await.expect("by its token");
    })
    .await;
}

#[tokio::test]
async fn half_a_second_of_a_flood_does_not_push_out_a_client_with_an_address_of_the_flood() {
    within_a_minute(async {
        let lab = Keys::new();
        let certified = lab.credentials(&lab, Some("worker"), None);
        for (admission, credentials) in
            [(of_certificates(&lab), certified), (of_the_token(), with_token(RIGHT))]
        {
            let coordinator = Guarded::start(admission).await;
            let mut before = Flood::new(coordinator.address);
            before.open(FLOOD).await.expect("connections");
            let from = flood_address(7);
            slow_client(&coordinator, from, credentials, FLOOD / 6).await.expect("admitted");
        }
    })
    .await;
}

#[tokio::test]
async fn a_worker_solves_while_the_flood_goes_on() {
    within_a_minute(async {
        let lab = Keys::new();
        let coordinator = Guarded::start(of_certificates(&lab)).await;
        let (counting, mut count) = watch::channel(0);
        let mut flood = Flood::new(coordinator.address);
        let flooding = tokio::spawn(async move {
            // This pace is the fault itself: 1,000 connections a second.
            let mut pace = interval(Duration::from_millis(1));
            while flood.open(1).await.is_ok() {
                counting.send_replace(flood.opened);
                pace.tick().await;
            }
        });
        let before = *count
            .wait_for(|&opened| opened > 5 * ADDRESSES)
            .await
            .expect("there are more than the coordinator keeps");
        coordinator.solve(lab.credentials(&lab, Some("worker"), None)).await;
        flooding.abort();
        assert!(*count.borrow() > before, "the flood went on");
    })
    .await;
}

/// What a ping asks to be said again.
const PING: &[u8; 8] = b"answer.!";

/// What begins a connection of HTTP/2: the preface, no settings, and a ping.
fn beginning() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 8, 6, 0, 0, 0, 0, 0]);
    bytes.extend(PING);
    bytes
}

#[tokio::test]
async fn a_handshake_with_a_certificate_is_enough_to_keep_a_place() {
    within_a_minute(async {
        let lab = Keys::new();
        let coordinator = Guarded::start(of_certificates(&lab)).await;
        let ca = Certificates::read(&lab.path("ca.pem")).expect("a certificate");
        let key = CertifiedKey::read(&lab.path("worker.pem"), &lab.path("worker.key"));
        let encryption = Encryption::new(ca, Some(key.expect("a key")), None).expect("they fit");
        let name = server_name("127.0.0.1").expect("a name");
        let port = coordinator.address.port();
        let client = encryption.connect("127.0.0.1", port, name).await;
        let mut client = client.expect("a handshake");
        // As many as there are places, and all from the address of the client.
        let mut flood = Flood { from: |_| OWN, ..Flood::new(coordinator.address) };
        flood.open(FLOOD).await.expect("connections");
        client.write_all(&beginning()).await.expect("an open connection");
        client.flush().await.expect("an open connection");
        let mut heard = Vec::new();
        while !heard.ends_with(PING) {
            heard.push(client.read_u8().await.expect("an open connection"));
        }
    })
    .await;
}

/// A peer that asks and never reads what it is answered: the answers fill what lies between, and nothing is read any more
/// either. It is gone all the same when its time is over.
#[tokio::test]
async fn whoever_does_not_read_is_not_waited_for() {
    within_a_minute(async {
        let limits =
            Limits { authentication_timeout: Duration::from_millis(500), ..Limits::for_workers(8) };
        let admission = Admission::new(Some(Token::new(RIGHT).expect("a token")), None, limits);
        let coordinator = Guarded::start(admission).await;
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(1024).expect("a small buffer");
        let mut peer = socket.connect(coordinator.address).await.expect("a connection");
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        peer.write_all(preface).await.expect("a beginning");
        // Eight bytes of PING, which are to come back.
        let ping = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], &[7; 8]].concat();
        let pings = ping.repeat(4096);
        while peer.write_all(&pings).await.is_ok() {}
        coordinator.solve(with_token(RIGHT)).await;
    })
    .await;
}
