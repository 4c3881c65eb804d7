//! What a worker takes up when a coordinator welcomes it, and when a solve of a queue begins.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use jlpns_proto::convert::in_range;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use tracing::{debug, info, warn};

use super::joined::JoinedSolve;
use super::stream::{Broken, confusing, no_queue};
use super::{Client, WorkerError};

impl Client {
    /// Takes up what the coordinator is at; returns the heartbeat interval.
    pub(super) fn take_up(&mut self, welcome: &v1::Welcome) -> Result<Duration, Broken> {
        if welcome.protocol_version != PROTOCOL_VERSION {
            return Err(confusing(format!(
                "it speaks protocol version {}, this worker version {PROTOCOL_VERSION}; use the \
                 same release of both",
                welcome.protocol_version
            )));
        }
        if !welcome.queue {
            checked_id("the length of welcome.solve_id", &welcome.solve_id)?;
        } else if !(welcome.solve_id.is_empty() && welcome.spec.is_empty()) {
            return Err(confusing(
                "the welcome of a queue names a solve or a game; each must come when it begins",
            ));
        }
        let heartbeat = u64::from(welcome.heartbeat_interval_ms);
        let heartbeat = in_range("welcome.heartbeat_interval_ms", heartbeat, 1, 3_600_000)?;
        if !welcome.build.is_empty() && welcome.build != jlpns_proto::BUILD {
            warn!(
                "this worker is {}, its coordinator {}: use the same build of both",
                jlpns_proto::BUILD,
                welcome.build
            );
        }
        self.is_kept = welcome.kept;
        // Searches of a stream that is lost belong to leases that were taken back.
        self.stop_all();
        self.solves.forget_numbers();
        if welcome.queue {
            self.take_up_queue(welcome);
        } else {
            self.take_up_solve(welcome)?;
        }
        Ok(Duration::from_millis(heartbeat))
    }

    /// Takes up the one solve of a coordinator.
    fn take_up_solve(&mut self, welcome: &v1::Welcome) -> Result<(), Broken> {
        let spec = self.games.read(&welcome.spec).map_err(|error| confusing(error.to_string()))?;
        if !self.config.takes.is_of_these(&spec) {
            let games = self.config.takes.games.join(" and ");
            let error = WorkerError::NotTaken { spec: spec.to_string(), games };
            return Err(Broken::Fatal(error));
        }
        let is_known = self.only.is_some() && self.solves.all().any(|s| s.id == welcome.solve_id);
        if is_known {
            let reports = self.solves.all().map(|solve| solve.unacknowledged().count());
            info!("connected again: {} reports were kept", reports.sum::<usize>());
        } else {
            // What one solve knows is not to come into another.
            self.end_all_but(&BTreeSet::new());
            self.only = None;
            info!("connected: solving {} with {} slots", welcome.spec, self.config.slots);
        }
        let has_shared = self.solved_from > 0;
        if self.only.is_none() || has_shared != (welcome.solved_from > 0) {
            self.solved_from = welcome.solved_from;
            self.begin_anew(spec.as_str())?;
        } else {
            self.keep_solved_from(welcome.solved_from);
        }
        // The numbers were forgotten, so that this one is free.
        let _ = self.solves.begin(0, &welcome.solve_id, Ok(spec.as_str().to_owned()));
        Ok(())
    }

    /// Begins the searches of a coordinator's one solve with nothing known.
    fn begin_anew(&mut self, spec: &str) -> Result<(), Broken> {
        self.games.clear();
        self.games.open(spec);
        let only = self.games.at_hand(spec).map_err(confusing)?;
        if self.solved_from > 0 {
            only.searcher.keep_solved_from(self.solved_from);
        }
        let searcher = only.searcher.clone();
        // Workers get ready beside each other while the first job, which all others come from, is searched.
        let getting_ready = move || searcher.get_ready();
        if let Err(error) = thread::Builder::new().name("ready".to_owned()).spawn(getting_ready) {
            debug!("the first search makes what the game makes once: no thread for it: {error}");
        }
        self.only = Some(only);
        Ok(())
    }

    /// Where anything is shared: from what work on solved positions are told from now on.
    pub(super) fn keep_solved_from(&mut self, work: u32) {
        if self.solved_from > 0 {
            self.solved_from = work.max(1);
            if let Some(only) = &self.only {
                only.searcher.keep_solved_from(self.solved_from);
            }
        }
    }

    /// Nothing is shared any more: what others have told, and what followed from it, goes.
    pub(super) fn search_alone(&mut self) -> Result<(), Broken> {
        let Some(spec) = self.only.as_ref().map(|only| only.spec.to_string()) else {
            return Ok(());
        };
        if self.solved_from > 0 {
            info!(
                "nothing is shared any more: this worker searches alone, and begins with empty tables"
            );
            self.solved_from = 0;
            self.begin_anew(&spec)?;
        }
        Ok(())
    }

    /// Takes up a queue, whose solves are still to begin on this stream.
    fn take_up_queue(&mut self, welcome: &v1::Welcome) {
        if self.only.take().is_some() {
            self.end_all_but(&BTreeSet::new());
            self.games.clear();
        }
        let open: BTreeSet<&str> = welcome.open_solves.iter().map(String::as_str).collect();
        self.end_all_but(&open);
        let (slots, reports) = (self.config.slots, self.solves.unreported());
        info!("connected: at a queue with {slots} slots; {reports} reports were kept");
    }

    /// Drops the solves that nobody has use for any more.
    fn end_all_but(&mut self, open: &BTreeSet<&str>) {
        let ended = self.solves.end_all_but(|id| open.contains(id));
        let lost: usize = ended.iter().map(JoinedSolve::unreported).sum();
        if lost > 0 {
            info!("{lost} reports are dropped: their solves are over");
        }
        for solve in ended {
            self.let_go(&solve);
        }
    }

    /// A solve of the queue begins, anew or for the first time.
    pub(super) fn begin(
        &mut self,
        number: u64,
        begun: &v1::SolveBegun,
    ) -> Result<&JoinedSolve, Broken> {
        if self.only.is_some() {
            return Err(no_queue());
        }
        if number == 0 {
            return Err(confusing("a solve begins under the number 0, which stands for none"));
        }
        checked_id("the length of begun.solve_id", &begun.solve_id)?;
        let game = match self.games.read(&begun.spec) {
            Ok(spec) => match self.config.takes.refusal(&spec) {
                None => Ok(spec.as_str().to_owned()),
                Some(refusal) => Err(refusal),
            },
            // A queue may have games that other workers know.
            Err(error) => Err(error.to_string()),
        };
        let id = &begun.solve_id;
        let Some((solve, is_new)) = self.solves.begin(number, id, game.clone()) else {
            return Err(confusing(format!("solve {number} ({id}) begins, which is open already")));
        };
        if solve.game != game {
            return Err(confusing(format!("solve {id} is of another game than before")));
        }
        if let (true, Ok(game)) = (is_new, &game) {
            self.games.open(game);
        }
        debug!("solve {id} of {} begins as number {number}", begun.spec);
        Ok(solve)
    }

    /// A solve of the queue has ended.
    pub(super) fn end(&mut self, number: u64, over: &v1::SolveOver) -> Result<(), Broken> {
        let solve = self.solves.end(number);
        let solve = solve.ok_or_else(|| super::stream::not_open("the end of", number))?;
        debug!("solve {} is over: {}", solve.id, over.answer);
        self.let_go(&solve);
        Ok(())
    }

    /// Stops what is left of a solve that was taken out.
    fn let_go(&mut self, solve: &JoinedSolve) {
        solve.stop_all();
        if let Ok(game) = &solve.game {
            self.games.close(game);
        }
    }
}

fn checked_id(field: &'static str, id: &str) -> Result<(), Broken> {
    in_range(field, id.chars().count() as u64, 1, 64)?;
    Ok(())
}
