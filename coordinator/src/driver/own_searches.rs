//! Searches in the coordinator's own process: of what a machine claims and no other can confirm.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

use jlpns_games::spec::GameSpec;
use jlpns_search::search::Observer;
use jlpns_search::searcher::{STACK_BYTES, Searcher, Searching};
use jlpns_search::sub_search::EmbeddedSubSearches;
use jlpns_search::{Findings, Job};

use super::handle::{DriverCommand, DriverHandle};

/// The memory of all of them together, in bytes; it is taken as they need it.
const MEMORY: u64 = 256 << 20;

/// Runs each search on a thread of its own, and has the driver told of its end.
pub(super) struct OwnSearches {
    searching: EmbeddedSubSearches,
    spec: GameSpec,
    searcher: Option<Arc<dyn Searcher>>,
    driver: DriverHandle,
    stop: Arc<AtomicBool>,
    /// Why one could not run.
    trouble: Arc<OnceLock<String>>,
}

impl OwnSearches {
    /// None yet, of this game.
    pub fn new(spec: GameSpec, driver: DriverHandle) -> OwnSearches {
        OwnSearches {
            searching: EmbeddedSubSearches::new(spec.clone()),
            spec,
            searcher: None,
            driver,
            stop: Arc::default(),
            trouble: Arc::default(),
        }
    }

    /// Begins a search.
    pub fn begin(&mut self, number: u64, job: Job) {
        if let Err(trouble) = self.try_begin(number, job) {
            let _ = self.trouble.set(trouble);
        }
    }

    /// Why one could not run; then no answer can be confirmed any more.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.get().cloned()
    }

    /// Stops all of them; their results are dropped.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn try_begin(&mut self, number: u64, job: Job) -> Result<(), String> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let searcher = match &self.searcher {
            Some(searcher) => searcher.clone(),
            None => {
                let made = self.searching.searcher(&self.spec, MEMORY, cores as u32)?;
                self.searcher.insert(made).clone()
            }
        };
        let (driver, stop) = (self.driver.clone(), self.stop.clone());
        let trouble = self.trouble.clone();
        let run = move || {
            let begun = Instant::now();
            match searcher.search(&job, &mut StopFlag(&stop)) {
                Ok(findings) if !stop.load(Ordering::Relaxed) => {
                    let elapsed = begun.elapsed();
                    // A driver that has gone needs no answer.
                    let _ = driver.send_from_thread(DriverCommand::Searched {
                        number,
                        findings,
                        elapsed,
                    });
                }
                Ok(_) => {}
                Err(reason) => {
                    let _ = trouble.set(reason);
                }
            }
        };
        let thread = thread::Builder::new().name(format!("own search {number}"));
        thread.stack_size(STACK_BYTES).spawn(run).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// Stops a search when the driver does.
struct StopFlag<'a>(&'a AtomicBool);

impl Observer for StopFlag<'_> {
    fn observe(&mut self, _nodes: u64, _findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
