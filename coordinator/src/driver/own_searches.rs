//! Searches in the coordinator's own process: of what a machine claims and no other can confirm.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jlpns_certificate::{FoundByJob, run_job};
use jlpns_games::spec::GameSpec;
use jlpns_search::search::Observer;
use jlpns_search::searcher::{STACK_BYTES, Searcher, Searching};
use jlpns_search::sub_search::EmbeddedSubSearches;
use jlpns_search::{EffortPair, Findings, Job};
use jlpns_solve::ProofId;
use tracing::warn;

use super::handle::{DriverCommand, DriverHandle};
use crate::proofs::{NotKept, ProofFolder};

/// The memory of all of them together, in bytes; it is taken as they need it.
const MEMORY: u64 = 256 << 20;
/// How soon it is tried again to keep a certificate for which there was no room.
const ROOM_AGAIN: Duration = Duration::from_secs(1);

/// Runs each search on a thread of its own, and has the driver told of its end.
pub(super) struct OwnSearches {
    searching: EmbeddedSubSearches,
    spec: GameSpec,
    /// Where the certificates go that are asked for.
    proofs: Option<Arc<ProofFolder>>,
    searcher: Option<Arc<dyn Searcher>>,
    driver: DriverHandle,
    stop: Arc<AtomicBool>,
    /// Why one could not run.
    trouble: Option<String>,
}

impl OwnSearches {
    /// None yet, of this game.
    pub fn new(
        spec: GameSpec,
        proofs: Option<Arc<ProofFolder>>,
        driver: DriverHandle,
    ) -> OwnSearches {
        OwnSearches {
            searching: EmbeddedSubSearches::new(spec.clone()),
            spec,
            proofs,
            searcher: None,
            driver,
            stop: Arc::default(),
            trouble: None,
        }
    }

    /// Begins a search.
    pub fn begin(&mut self, number: u64, job: Job) {
        if let Err(trouble) = self.try_begin(number, job) {
            self.fail(trouble);
        }
    }

    /// Notes why one could not run; the first reason counts.
    pub fn fail(&mut self, trouble: String) {
        self.trouble.get_or_insert(trouble);
    }

    /// Why one could not run; then no answer can be confirmed any more.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
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
        let (spec, proofs) = (self.spec.clone(), self.proofs.clone());
        let run = move || {
            let begun = Instant::now();
            let is_stopped = || stop.load(Ordering::Relaxed);
            let found = run_job(&spec, &*searcher, &job, &mut StopFlag(&stop), &is_stopped);
            let found = found.and_then(|found| {
                let proof = kept(proofs.as_deref(), &job, &found, &mut || {
                    thread::sleep(ROOM_AGAIN);
                    !is_stopped()
                })?;
                Ok((found.findings, proof))
            });
            let found = match found {
                Err(reason) if job.prove => {
                    // A bit may have flipped; it is not the end of the solve.
                    warn!("the coordinator could not prove what it found: {reason}");
                    Ok((without_answer(&job), None))
                }
                found => found,
            };
            match found {
                Ok((findings, proof)) if !is_stopped() => {
                    let elapsed = begun.elapsed();
                    // A driver that has gone needs no answer.
                    let _ = driver.send_from_thread(DriverCommand::Searched {
                        number,
                        findings,
                        elapsed,
                        proof,
                    });
                }
                Ok(_) => {}
                Err(reason) => {
                    let moves: Vec<u16> = job.moves.iter().map(|mv| mv.0).collect();
                    let trouble = format!("after the moves {moves:?}: {reason}");
                    // Nor does it need to hear of trouble.
                    let _ = driver.send_from_thread(DriverCommand::SearchFailed { trouble });
                }
            }
        };
        let thread = thread::Builder::new().name(format!("own search {number}"));
        thread.stack_size(STACK_BYTES).spawn(run).map_err(|error| error.to_string())?;
        Ok(())
    }
}

impl Drop for OwnSearches {
    /// Also where the driver has broken down.
    fn drop(&mut self) {
        self.stop();
    }
}

/// What a search knows that comes to nothing.
fn without_answer(job: &Job) -> Findings {
    let efforts = vec![EffortPair::UNIT; job.question.thresholds().1];
    Findings { efforts, children: Vec::new(), nodes: 0, most_proving_move: None }
}

/// Keeps the certificate that a search has come with. What is wrong with the machine, such as a full disk, says nothing of what
/// was found: it is tried again after each `pause`, until that says no.
fn kept(
    proofs: Option<&ProofFolder>,
    job: &Job,
    found: &FoundByJob,
    pause: &mut dyn FnMut() -> bool,
) -> Result<Option<ProofId>, String> {
    let Some((proofs, certificate)) = proofs.zip(found.certificate.as_ref()) else {
        return Ok(None);
    };
    let keep = || {
        let mut incoming = proofs.begin()?;
        incoming.take(&certificate[..])?;
        proofs.keep(incoming, &job.moves, job.question, &found.findings)
    };
    let mut is_told = false;
    loop {
        match keep() {
            Ok(proof) => return Ok(Some(proof)),
            Err(NotKept::Bad(why)) => return Err(why),
            Err(trouble) => {
                if !std::mem::replace(&mut is_told, true) {
                    warn!("{trouble}; it is tried again");
                }
                if !pause() {
                    return Err(trouble.to_string());
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use jlpns_games::spec::parse_moves;
    use jlpns_games::{Move, Threshold, with_game};
    use jlpns_search::search::{EPSILON, Growth};
    use jlpns_search::{Algorithm, Initialisation, Question};
    use jlpns_solve::{Solve, SolveSettings};

    use super::*;

    fn job_of(moves: Vec<Move>, prove: bool, budget: u64) -> Job {
        Job {
            moves,
            question: Question::Threshold(Threshold(1)),
            sub_search: Algorithm::Pds,
            initialisation: Initialisation::Unit,
            knowledge: true,
            prove,
            alone: true,
            growth: Growth::of(Algorithm::Pds),
            epsilon: EPSILON,
            budget,
        }
    }

    /// A disk that is full is no word against a proof.
    #[test]
    fn a_certificate_for_which_there_is_no_room_is_kept_when_there_is() {
        let spec: GameSpec = "connect4:4x4".parse().unwrap();
        let moves = with_game!(spec.game(), game => parse_moves(game, "12212112")).unwrap();
        let searcher = EmbeddedSubSearches::new(spec.clone()).searcher(&spec, MEMORY, 1).unwrap();
        let job = job_of(moves, true, 1_000_000);
        let found = run_job(&spec, &*searcher, &job, &mut (), &|| false).expect("it is proved");
        assert!(found.certificate.is_some());
        let folder = tempfile::tempdir().unwrap();
        let proofs = ProofFolder::beside_journal(spec, folder.path()).unwrap();
        let place = folder.path().join("proofs");
        fs::remove_dir(&place).unwrap();
        let mut pauses = 0;
        let proof = kept(Some(&proofs), &job, &found, &mut || {
            pauses += 1;
            if pauses == 3 {
                fs::create_dir(&place).unwrap();
            }
            true
        });
        assert!(matches!(proof, Ok(Some(_))) && pauses == 3, "{proof:?} after {pauses}");
        // Whoever is stopped does not wait for it.
        fs::remove_dir_all(&place).unwrap();
        assert!(kept(Some(&proofs), &job, &found, &mut || false).is_err());
    }

    /// What a search does that has a bug.
    struct Panicking;

    impl Searcher for Panicking {
        fn search(&self, _: &Job, _: &mut dyn Observer) -> Result<Findings, String> {
            panic!("a bug")
        }
    }

    #[tokio::test]
    async fn the_driver_is_told_of_a_search_that_panics() {
        let spec: GameSpec = "connect4:5x4".parse().unwrap();
        let solve = Solve::new(SolveSettings::new(spec.clone())).unwrap();
        let (driver, mut commands) = DriverHandle::new(solve.examiner().clone(), None);
        let mut own_searches = OwnSearches::new(spec, None, driver);
        own_searches.searcher = Some(Arc::new(Panicking));
        own_searches.begin(1, job_of(Vec::new(), false, 1));
        let Some(DriverCommand::SearchFailed { trouble }) = commands.recv().await else {
            panic!("another command came first");
        };
        assert!(trouble.contains("a bug"), "{trouble}");
    }
}
