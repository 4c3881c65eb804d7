//! One run of ssh. Nothing in it waits for a person: it has no terminal to ask at, its stdin is a pipe, and a limit.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use std::{io, thread};

use jlpns_launch::connecting::{Ran, RunEnd};
use jlpns_launch::host::Host;
use jlpns_launch::order::Order;
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::CommandError;
use super::flags::CrewFlags;

/// What ssh is told on top of its own configuration: it asks nobody, finds out that a host is gone, and carries nothing
/// but the order.
const OPTIONS: [&str; 8] = [
    "BatchMode=yes",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "LogLevel=ERROR",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
];
/// The most that is kept of what a host says, in bytes.
const MOST_SAID: u64 = 4 << 20;
/// How much is written at a time, in bytes.
const PIECE: usize = 1 << 16;
/// How long what it has said may take to arrive after its end: another process may hold its pipes.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// The ssh program.
#[derive(Clone, Debug)]
pub struct Ssh {
    words: Vec<String>,
    connect_timeout: u32,
}

/// What is sent to a host.
#[derive(Clone, Debug)]
pub struct Sent<'a> {
    /// The order.
    pub order: &'a Order,
    /// What follows it: the worker.
    pub worker: Option<Arc<[u8]>>,
    /// How long all of it may take.
    pub limit: Duration,
}

enum Event {
    Line(Vec<u8>),
    Said,
    Complained(Vec<u8>),
    Exited(io::Result<Option<i32>>),
}

impl Ssh {
    /// The one that the flags name.
    pub fn of(flags: &CrewFlags) -> Result<Ssh, CommandError> {
        let words: Vec<String> = flags.ssh.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(CommandError::bad_value(
                "--ssh",
                &flags.ssh,
                "name a program, such as ssh",
            ));
        }
        Ok(Ssh { words, connect_timeout: flags.connect_timeout })
    }

    /// Sends an order to a host. `heard` gets each line when it comes, and `sent` how many bytes have gone.
    pub fn run(
        &self,
        host: &Host,
        sent: &Sent<'_>,
        mut heard: impl FnMut(&str),
        mut has_sent: impl FnMut(u64),
    ) -> Ran {
        let deadline = Instant::now() + sent.limit;
        let mut child = match self.command(host, sent.order).spawn() {
            Ok(child) => child,
            Err(error) => {
                let reason = match error.kind() {
                    ErrorKind::NotFound => format!("there is no program '{}'", self.words[0]),
                    _ => error.to_string(),
                };
                let end = RunEnd::NotStarted(reason);
                return Ran { end, stdout: String::new(), stderr: String::new() };
            }
        };
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let count = Arc::new(AtomicU64::new(0));
        let events = listen(&mut child, sent, &count);
        thread::spawn({
            let sender = events.0;
            move || {
                let exited = child.wait().map(|status| status.code());
                // Whoever waits for it may have given up.
                let _ = sender.send(Event::Exited(exited));
            }
        });
        let collected = collect(&events.1, deadline, &mut heard, &mut || {
            has_sent(count.load(Ordering::Relaxed));
        });
        let Collected { stdout, stderr, exited } = collected;
        let end = match exited {
            Some(Ok(code)) => RunEnd::Exited(code),
            Some(Err(error)) => RunEnd::NotStarted(error.to_string()),
            None => {
                // With all that it has started, such as the way through a jump host.
                if let Some(group) = group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                RunEnd::TimedOut(sent.limit.as_secs())
            }
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { end, stdout: text(stdout), stderr: text(stderr) }
    }

    fn command(&self, host: &Host, order: &Order) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(["-T", "-x"]);
        for option in OPTIONS {
            command.args(["-o", option]);
        }
        command.args(["-o", &format!("ConnectTimeout={}", self.connect_timeout)]);
        command.args(host.ssh_words()).arg(&order.command);
        // A jump host has an ssh of its own, which would ask.
        command.env("SSH_ASKPASS_REQUIRE", "never").env_remove("SSH_ASKPASS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let in_a_session_of_its_own =
            || rustix::process::setsid().map(|_| ()).map_err(io::Error::from);
        // SAFETY: between fork and exec it makes one system call, and allocates nothing.
        unsafe { command.pre_exec(in_a_session_of_its_own) };
        command
    }
}

/// Threads that feed the process and listen to it.
fn listen(
    child: &mut Child,
    sent: &Sent<'_>,
    count: &Arc<AtomicU64>,
) -> (Sender<Event>, Receiver<Event>) {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        let (order, worker, count) =
            (sent.order.stdin.clone(), sent.worker.clone(), Arc::clone(count));
        thread::spawn(move || {
            // Whoever does not want to hear it says why on stderr.
            if stdin.write_all(&order).is_err() {
                return;
            }
            for piece in worker.iter().flat_map(|bytes| bytes.chunks(PIECE)) {
                if stdin.write_all(piece).is_err() {
                    return;
                }
                count.fetch_add(piece.len() as u64, Ordering::Relaxed);
            }
        });
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout.take(MOST_SAID));
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line) {
                    Ok(1..) => {
                        let _ = sender.send(Event::Line(line));
                    }
                    Ok(0) | Err(_) => break,
                }
            }
            let _ = sender.send(Event::Said);
        });
    }
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut said = Vec::new();
            // What came before an error counts.
            let _ = stderr.take(MOST_SAID).read_to_end(&mut said);
            let _ = sender.send(Event::Complained(said));
        });
    }
    (sender, receiver)
}

struct Collected {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    exited: Option<io::Result<Option<i32>>>,
}

/// How often it is told how much has gone.
const TELL: Duration = Duration::from_millis(200);

fn collect(
    events: &Receiver<Event>,
    deadline: Instant,
    heard: &mut impl FnMut(&str),
    tell: &mut impl FnMut(),
) -> Collected {
    let mut all = Collected { stdout: Vec::new(), stderr: Vec::new(), exited: None };
    let (mut deadline, mut open) = (deadline, 3);
    while open > 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        match events.recv_timeout(left.min(TELL)) {
            Ok(Event::Line(line)) => {
                heard(String::from_utf8_lossy(&line).trim_end());
                all.stdout.extend(line);
            }
            Ok(Event::Said) => open -= 1,
            Ok(Event::Complained(said)) => {
                all.stderr = said;
                open -= 1;
            }
            Ok(Event::Exited(exited)) => {
                all.exited = Some(exited);
                deadline = deadline.min(Instant::now() + AFTERWARDS);
                open -= 1;
            }
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => tell(),
            Err(_) => break,
        }
    }
    all
}
