//! A coordinator that is started again and again, and the workers of its solve.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ledger::Ledger;
use super::proxy::Proxy;
use super::relay::Relay;
use super::signals::Signal;
use super::watch::{Place, Watch, soon};
use crate::cluster::{LIMIT, certified, worker};
use crate::{Ended, Running, jlpns};

/// A solve that is kept in a journal, and the coordinator that is at it.
#[derive(Debug)]
pub struct Stage {
    spec: String,
    args: Vec<String>,
    data: PathBuf,
    place: Place,
    watch: Watch,
    ledger: Arc<Ledger>,
    coordinator: Option<Running>,
}

impl Stage {
    /// Starts a coordinator for `spec`, with its journal in `data` and these other arguments.
    pub fn open(spec: &str, data: &Path, args: &[&str]) -> Stage {
        let place = Place::default();
        let mut stage = Stage {
            spec: spec.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            data: data.to_owned(),
            watch: Watch::new(place.clone()),
            place,
            ledger: Arc::default(),
            coordinator: None,
        };
        stage.start();
        stage
    }

    /// The journal.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Where the coordinator is.
    pub fn place(&self) -> Place {
        self.place.clone()
    }

    /// The coordinator's URL.
    ///
    /// # Panics
    ///
    /// If there is no coordinator.
    pub fn url(&self) -> String {
        format!("http://{}", super::watch::address(&self.place).expect("a coordinator"))
    }

    /// What the coordinator says of itself.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// What the relays of this stage have seen.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// The coordinator.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn coordinator(&self) -> &Running {
        self.coordinator.as_ref().expect("a coordinator")
    }

    /// Whether the coordinator has ended by itself.
    pub fn is_over(&self) -> bool {
        self.coordinator.as_ref().is_none_or(|running| running.state() == 'Z')
    }

    /// Starts a coordinator; what it says on its way to work.
    ///
    /// # Panics
    ///
    /// If there is one, or it does not come to work.
    pub fn start(&mut self) -> Vec<String> {
        assert!(self.coordinator.is_none(), "one coordinator at a time");
        let data = self.data.to_str().expect("a path of letters");
        let common = ["--data", data, "--listen", "127.0.0.1:0", "--output", "json"];
        let coordinator =
            Running::start(jlpns(["serve", &self.spec]).args(&self.args).args(common));
        let said = Cell::new(Vec::new());
        let address = coordinator.wait_for(LIMIT, |line| {
            let mut lines = said.take();
            lines.push(line.to_owned());
            said.set(lines);
            line.split_once("listening on http://")?.1.trim().parse().ok()
        });
        *self.place.lock().expect("nobody panics with a place") = Some(address);
        self.coordinator = Some(coordinator);
        said.take()
    }

    /// Sends the coordinator a signal that ends it, and waits for that.
    ///
    /// # Panics
    ///
    /// If there is no coordinator, or it does not end.
    pub fn stop(&mut self, signal: Signal) -> Ended {
        let running = self.coordinator.take().expect("a coordinator");
        *self.place.lock().expect("nobody panics with a place") = None;
        running.signal(signal);
        running.end(LIMIT)
    }

    /// Starts the coordinator again, which has to go on where the former one was.
    ///
    /// # Panics
    ///
    /// If it does not say that it goes on.
    pub fn resume(&mut self) -> String {
        let said = self.start();
        let going_on = said.iter().find(|line| line.contains("going on with the solve in"));
        going_on.unwrap_or_else(|| panic!("it began anew: {said:#?}")).clone()
    }

    /// Kills the coordinator and starts it again; `None` if the solve was over before.
    ///
    /// # Panics
    ///
    /// If it ended in another way, or began anew.
    pub fn kill_and_resume(&mut self) -> Option<String> {
        let ended = self.stop(Signal::KILL);
        if ended.code == Some(0) {
            return None;
        }
        assert_eq!(ended.signal, Some(9), "{ended:?}");
        Some(self.resume())
    }

    /// The result of the solve, once the coordinator has ended with it. A coordinator that was
    /// stopped when it had the answer is started again for it. What the journal holds can be certified.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub fn result(&mut self) -> serde_json::Value {
        if self.coordinator.is_none() {
            self.resume();
        }
        let ended = self.coordinator.take().expect("a coordinator").end(LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let certified = certified(self.data.to_str().expect("a path of letters"));
        assert_eq!(certified["spec"], self.spec);
        ended.json()
    }
}

/// Waits for a line in what a process says.
pub fn hears(process: &Running, part: &str) -> String {
    process.wait_for(LIMIT, |line| line.contains(part).then(|| line.to_owned()))
}

/// A worker and its way to the coordinator.
#[derive(Debug)]
pub struct Seat {
    name: String,
    url: String,
    /// The proxy on its way.
    pub proxy: Proxy,
    /// The relay on its way.
    pub relay: Relay,
    worker: Option<Running>,
}

impl Seat {
    /// Starts a worker. The proxy is before the relay, or the other way round: then it is the
    /// coordinator's connection that suffers.
    pub fn take(stage: &Stage, name: &str, proxy_first: bool, seed: u64) -> Seat {
        let at = |address| Place::new(std::sync::Mutex::new(Some(address)));
        let ledger = stage.ledger().clone();
        let (proxy, relay, url) = if proxy_first {
            let relay = Relay::start(stage.place(), ledger, seed);
            let proxy = Proxy::start(at(relay.address()));
            let url = format!("http://{}", proxy.address());
            (proxy, relay, url)
        } else {
            let proxy = Proxy::start(stage.place());
            let relay = Relay::start(at(proxy.address()), ledger, seed);
            let url = format!("http://{}", relay.address());
            (proxy, relay, url)
        };
        let worker = Some(worker(&url, name));
        Seat { name: name.to_owned(), url, proxy, relay, worker }
    }

    /// The worker.
    ///
    /// # Panics
    ///
    /// Never: there is always one.
    pub fn worker(&self) -> &Running {
        self.worker.as_ref().expect("a worker")
    }

    /// Sends the worker a signal that ends it, waits for that, and starts another one under its
    /// name.
    pub fn replace(&mut self, signal: Signal) -> Ended {
        let former = self.worker.take().expect("a worker");
        former.signal(signal);
        let ended = former.end(LIMIT);
        self.worker = Some(worker(&self.url, &self.name));
        ended
    }

    /// Waits until the worker has a connection.
    pub fn connected(&self) {
        soon("a worker is connected", || (self.proxy.open() > 0).then_some(()));
    }
}
