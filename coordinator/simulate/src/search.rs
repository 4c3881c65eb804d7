//! A search in parts: it pauses wherever it looks up at its observer, so that the searches of many
//! slots advance side by side in virtual time.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use jlpns_search::search::Observer;
use jlpns_search::searcher::{STACK_BYTES, Searcher};
use jlpns_search::{Findings, Job};

/// A search on a thread of its own, which runs only while [`Search::advance`] waits for it:
/// of all searches of a run no two run at a time, and their order is that of the calls.
pub struct PausedSearch {
    /// Lets the thread go on, or dropped, ends it.
    resume: Option<Sender<()>>,
    parts: Receiver<Part>,
    thread: Option<JoinHandle<()>>,
}

/// A search on a slot of a worker, or what stands for one.
pub trait Search {
    /// Runs the next part.
    fn advance(&mut self) -> Part;

    /// Whether it may have used what others had told its worker.
    fn rests_on_hearsay(&self) -> bool {
        false
    }

    /// Ends the search where it is; what is reported of it then, if anything is.
    fn stop(self: Box<Self>) -> Option<Findings>;
}

/// How a part of a search ends.
pub enum Part {
    /// In a pause, with so many nodes created up to now, and with what is reported on the way, if
    /// anything is.
    Paused(u64, Option<Findings>),
    /// With the search: what it found, or why the job cannot be done at all.
    Ended(Result<Findings, String>),
}

impl PausedSearch {
    /// A search that has not begun. Errors if the system has no thread for it.
    pub fn new(searcher: Arc<dyn Searcher>, job: Job) -> Result<PausedSearch, String> {
        let (resume, resumed) = channel();
        let (told, parts) = channel();
        let mut pauses = Pauses { told, resumed };
        let search = move || {
            if pauses.resumed.recv().is_ok() {
                let end = searcher.search(&job, &mut pauses);
                // Nobody listens to a search that was stopped.
                let _ = pauses.told.send(Part::Ended(end));
            }
        };
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(search);
        let thread = thread.map_err(|error| format!("there is no thread for it: {error}"))?;
        Ok(PausedSearch { resume: Some(resume), parts, thread: Some(thread) })
    }
}

impl Search for PausedSearch {
    fn advance(&mut self) -> Part {
        // If either fails, so did the search.
        let resumed = self.resume.as_ref().and_then(|resume| resume.send(()).ok());
        let part = resumed.and_then(|()| self.parts.recv().ok());
        part.unwrap_or_else(|| Part::Ended(Err("it panicked".to_owned())))
    }

    /// Nothing: its node is solved or not needed any more.
    fn stop(self: Box<Self>) -> Option<Findings> {
        None
    }
}

impl Drop for PausedSearch {
    /// Stops the search, if it goes on, and waits until it has left what it knows in the table.
    fn drop(&mut self) {
        self.resume = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been told as the end of the search.
            let _ = thread.join();
        }
    }
}

/// The observer that makes the pauses.
struct Pauses {
    told: Sender<Part>,
    resumed: Receiver<()>,
}

impl Observer for Pauses {
    fn observe(&mut self, nodes: u64, _findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        let told = self.told.send(Part::Paused(nodes, None)).is_ok();
        if told && self.resumed.recv().is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}
