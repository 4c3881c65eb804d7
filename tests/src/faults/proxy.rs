//! A TCP proxy between a worker and its coordinator, for networks that are cut, hang, or are slow.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::watch::{Place, address};

/// How long a connection to the coordinator may take.
const CONNECT: Duration = Duration::from_secs(5);

/// What happens to the bytes of a proxy's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weather {
    /// They pass.
    #[default]
    Fair,
    /// Each piece is held back for a time between these two, which looks random.
    Delay {
        /// The shortest time.
        least: Duration,
        /// The longest time.
        most: Duration,
    },
    /// So many bytes pass in a second.
    Slow {
        /// The bytes.
        bytes_per_second: u32,
    },
    /// Those of the connections that there are stay in the proxy, and nobody is told: half-open
    /// connections. New connections are not touched.
    Hang,
    /// New connections are closed at once.
    Refuse,
}

/// What has happened in a proxy.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections made.
    pub connected: AtomicU64,
    /// Connections refused.
    pub refused: AtomicU64,
    /// Connections cut.
    pub cut: AtomicU64,
    /// Pieces delayed.
    pub delayed: AtomicU64,
    /// Pieces slowed.
    pub slowed: AtomicU64,
    /// Pieces that got stuck in a connection that hangs.
    pub stuck: AtomicU64,
    /// Bytes carried to the target.
    pub bytes_there: AtomicU64,
    /// Bytes carried back.
    pub bytes_back: AtomicU64,
}

/// A proxy on a port of its own.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: Place,
    sky: Mutex<Sky>,
    changed: Condvar,
    counts: Counts,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct Sky {
    weather: Weather,
    next: u64,
    /// Connections with lower numbers hang until they are cut or released.
    hangs_below: u64,
    open: Vec<Link>,
}

/// Both sides of a connection.
#[derive(Debug)]
struct Link {
    number: u64,
    near: TcpStream,
    far: TcpStream,
}

impl Link {
    fn cut(&self) {
        for side in [&self.near, &self.far] {
            // The other end sees a reset when the last user has closed it.
            let _ = set_socket_linger(side, Some(Duration::ZERO));
            let _ = side.shutdown(Shutdown::Both);
        }
    }
}

impl Proxy {
    /// A proxy before whatever is at `target` when a connection comes.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn start(target: Place) -> Proxy {
        Proxy::start_on(Ipv4Addr::LOCALHOST, target)
    }

    /// As [`Proxy::start`], on another address of this machine.
    ///
    /// # Panics
    ///
    /// If it is no address of this machine, or there is no free port.
    pub fn start_on(own: Ipv4Addr, target: Place) -> Proxy {
        let listener = TcpListener::bind((own, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let inner = Arc::new(Inner {
            target,
            sky: Mutex::default(),
            changed: Condvar::new(),
            counts: Counts::default(),
            over: AtomicBool::new(false),
        });
        let accepting = inner.clone();
        thread::spawn(move || {
            for near in listener.incoming() {
                if accepting.over.load(Ordering::Relaxed) {
                    return;
                }
                // The other end sees a failure as the end of its connection.
                if let Ok(near) = near {
                    let inner = accepting.clone();
                    thread::spawn(move || inner.connect(near));
                }
            }
        });
        Proxy { address, inner }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What has happened so far.
    pub fn counts(&self) -> &Counts {
        &self.inner.counts
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.inner.sky().open.len()
    }

    /// Changes the weather. Connections that hang go on, unless they are to hang again.
    pub fn set(&self, weather: Weather) {
        let mut sky = self.inner.sky();
        sky.weather = weather;
        sky.hangs_below = if weather == Weather::Hang { sky.next } else { 0 };
        drop(sky);
        self.inner.changed.notify_all();
    }

    /// Resets all connections; how many there were.
    pub fn cut(&self) -> usize {
        let mut sky = self.inner.sky();
        let links = std::mem::take(&mut sky.open);
        links.iter().for_each(Link::cut);
        drop(sky);
        self.inner.changed.notify_all();
        self.inner.counts.cut.fetch_add(links.len() as u64, Ordering::Relaxed);
        links.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.inner.over.store(true, Ordering::Relaxed);
        self.cut();
        // It waits for a connection, and then looks whether it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Inner {
    fn sky(&self) -> MutexGuard<'_, Sky> {
        self.sky.lock().expect("no thread of the proxy panics")
    }

    fn connect(self: &Arc<Inner>, near: TcpStream) {
        if self.sky().weather == Weather::Refuse {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            let _ = set_socket_linger(&near, Some(Duration::ZERO));
            return;
        }
        // Whatever goes wrong here, the other end sees that its connection is over.
        let _ = self.open(near);
    }

    fn open(self: &Arc<Inner>, near: TcpStream) -> io::Result<()> {
        let Some(target) = address(&self.target) else { return Ok(()) };
        let far = TcpStream::connect_timeout(&target, CONNECT)?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let link = Link { number: 0, near: near.try_clone()?, far: far.try_clone()? };
        let mut sky = self.sky();
        let number = sky.next;
        sky.next += 1;
        sky.open.push(Link { number, ..link });
        drop(sky);
        self.counts.connected.fetch_add(1, Ordering::Relaxed);
        let counted: [fn(&Counts) -> &AtomicU64; 2] =
            [|counts| &counts.bytes_there, |counts| &counts.bytes_back];
        let pairs = [(near.try_clone()?, far.try_clone()?), (far, near)];
        for ((from, to), carried) in pairs.into_iter().zip(counted) {
            let inner = self.clone();
            thread::spawn(move || {
                inner.pump(number, from, to, carried(&inner.counts));
                inner.close(number);
            });
        }
        Ok(())
    }

    /// Carries bytes one way until the connection ends, and counts them.
    fn pump(&self, number: u64, mut from: TcpStream, mut to: TcpStream, carried: &AtomicU64) {
        let mut bytes = [0; 4096];
        let mut pieces: u64 = 0;
        loop {
            let length = match from.read(&mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(length) => length,
            };
            pieces += 1;
            if !self.weather(number, length, pieces) || to.write_all(&bytes[..length]).is_err() {
                return;
            }
            carried.fetch_add(length as u64, Ordering::Relaxed);
        }
    }

    /// Waits as the weather demands; false if the connection was cut meanwhile.
    fn weather(&self, number: u64, length: usize, pieces: u64) -> bool {
        let mut sky = self.sky();
        if number < sky.hangs_below {
            self.counts.stuck.fetch_add(1, Ordering::Relaxed);
        }
        let is_open = |sky: &Sky| sky.open.iter().any(|link| link.number == number);
        while number < sky.hangs_below && is_open(&sky) {
            sky = self.changed.wait(sky).expect("no thread of the proxy panics");
        }
        let wait = match sky.weather {
            Weather::Delay { least, most } => {
                self.counts.delayed.fetch_add(1, Ordering::Relaxed);
                let share = (pieces.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u32;
                least + most.saturating_sub(least) * share / (1 << 16)
            }
            Weather::Slow { bytes_per_second } => {
                self.counts.slowed.fetch_add(1, Ordering::Relaxed);
                Duration::from_secs_f64(length as f64 / f64::from(bytes_per_second.max(1)))
            }
            Weather::Fair | Weather::Hang | Weather::Refuse => return is_open(&sky),
        };
        drop(sky);
        // This wait is the fault itself.
        thread::sleep(wait);
        is_open(&self.sky())
    }

    /// One direction has ended: the other ends with it, in order.
    fn close(&self, number: u64) {
        let mut sky = self.sky();
        if let Some(index) = sky.open.iter().position(|link| link.number == number) {
            let link = sky.open.swap_remove(index);
            let _ = link.near.shutdown(Shutdown::Both);
            let _ = link.far.shutdown(Shutdown::Both);
        }
        drop(sky);
        self.changed.notify_all();
    }
}
