//! Pieces of a proof: the certificate of a job's position, made where the job is searched, and what it
//! teaches those who prove more.

use std::any::Any;
use std::io::{Cursor, Read};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use jlpns_games::spec::{AnyGame, GameSpec};
use jlpns_games::{Goal, MoveList, Player};
use jlpns_search::search::Observer;
use jlpns_search::searcher::Searcher;
use jlpns_search::strategy::Claim;
use jlpns_search::{EffortPair, Findings, Job, Question, SolvedPosition, TranspositionTable};
use jlpns_verify::{Boards, Certificate, Failure, Proved, Reader, Settings};

use crate::known_moves::Certified;
use crate::{CertifyError, Progress, Size, certify};

/// The memory for positions that are yet to be written, in bytes; more of them are spilled to disk. It comes on top
/// of what searches may take, for each slot, and is room for a piece of a million positions.
const LAYERS: usize = 16 << 20;
/// The table of a second try, in bytes, on top as well.
const FRESH_TABLE: u64 = 32 << 20;
/// What a position of a piece counts as work: little, so that its move is taken first.
const WORK_OF_A_PIECE: u32 = 2;

/// What a job has found, with the certificate that it asks for if there is an answer.
pub struct FoundByJob {
    /// The findings of its search.
    pub findings: Findings,
    /// The bytes of the certificate.
    pub certificate: Option<Vec<u8>>,
}

/// Runs a job, and proves its answer if the job asks for that: with what its search has left in the table,
/// and if that should be wrong with a table of its own.
///
/// `observer` is asked now and then while positions are written; `is_stopped` also within a search for a move. A
/// job that is stopped has no answer. The error is one sentence that says why the job cannot be done; it may be that
/// its search panicked.
pub fn run_job(
    spec: &GameSpec,
    searcher: &dyn Searcher,
    job: &Job,
    observer: &mut dyn Observer,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<FoundByJob, String> {
    let run = AssertUnwindSafe(|| search_and_prove(spec, searcher, job, observer, is_stopped));
    catch_unwind(run)
        .unwrap_or_else(|panic| Err(format!("its search panicked: {}", panic_text(&*panic))))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn search_and_prove(
    spec: &GameSpec,
    searcher: &dyn Searcher,
    job: &Job,
    observer: &mut dyn Observer,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<FoundByJob, String> {
    let findings = searcher.search(job, observer)?;
    let Some(claim) = job.prove.then(|| answer(job, &findings)).flatten() else {
        return Ok(FoundByJob { findings, certificate: None });
    };
    let fresh = || TranspositionTable::with_bytes(FRESH_TABLE).map_err(|error| error.to_string());
    let stopped = AtomicBool::new(false);
    let mut prove = |table: &TranspositionTable| {
        let is_stopped = || stopped.load(Ordering::Relaxed) || is_stopped();
        let mut progress = Told { observer, nodes: findings.nodes, stopped: &stopped };
        let settings =
            Settings { threads: NonZero::<usize>::MIN, memory: LAYERS, ..Settings::default() };
        let mut file = Cursor::new(Vec::new());
        let (moves, claims) = (&job.moves, [claim]);
        certify(
            spec,
            moves,
            &claims,
            Size::Quick,
            table,
            &is_stopped,
            &mut file,
            &settings,
            &mut progress,
        )
        .map(|_| file.into_inner())
    };
    let proved = match searcher.table() {
        Some(table) => match prove(table) {
            // Something in the table is not true: a bit has flipped, or somebody has told it so.
            Err(CertifyError::Failed(Failure::Fails(_))) => prove(&fresh()?),
            proved => proved,
        },
        None => prove(&fresh()?),
    };
    match proved {
        Ok(certificate) => Ok(FoundByJob { findings, certificate: Some(certificate) }),
        Err(CertifyError::Stopped) => {
            let efforts = vec![EffortPair::UNIT; findings.efforts.len()];
            let findings = Findings { efforts, children: Vec::new(), ..findings };
            Ok(FoundByJob { findings, certificate: None })
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The claim that a job's search has found to be true, if it was asked about one threshold.
fn answer(job: &Job, findings: &Findings) -> Option<Claim> {
    match job.question {
        Question::Threshold(threshold) => {
            Some(Claim { threshold, holds: findings.efforts.first()?.verdict()? })
        }
        Question::Value(_) => None,
    }
}

/// Tells an observer how many positions there are, as if each were a node of the search.
struct Told<'a> {
    observer: &'a mut dyn Observer,
    nodes: u64,
    stopped: &'a AtomicBool,
}

impl Progress for Told<'_> {
    fn advanced(&mut self, positions: usize) {
        self.nodes += positions as u64;
        let nodes = self.nodes;
        let findings = || Findings {
            efforts: vec![EffortPair::UNIT],
            children: Vec::new(),
            nodes,
            most_proving_move: None,
        };
        if self.observer.observe(nodes, &findings) == ControlFlow::Break(()) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// Checks a certificate by the rules alone, and that it shows this claim about the position after these moves,
/// as they are written.
pub fn check_piece(
    input: impl Read,
    spec: &GameSpec,
    moves: &str,
    goal: &str,
    settings: &Settings,
) -> Result<Proved, Failure> {
    // Whoever sends another one, perhaps of a board that takes long, is told before it is checked.
    let certificate = Certificate::open(input)?;
    let header = certificate.header();
    let claims: Vec<String> = header.claims.iter().map(ToString::to_string).collect();
    let is_of_it = header.spec == spec.as_str() && header.moves == moves && claims == [goal];
    if !is_of_it || header.compact {
        return Err(Failure::Fails(format!(
            "it is to show that {}, and was to show {goal} of {spec} after '{moves}'",
            header.statement()
        )));
    }
    certificate.check(settings, &mut ())
}

/// Teaches a table the moves of a certificate, which somebody has checked before. What it knows then is that
/// the claim holds after each of them.
pub fn learn_piece(
    input: impl Read,
    spec: &GameSpec,
    table: &TranspositionTable,
    settings: &Settings,
) -> Result<Proved, CertifyError> {
    let certificate = Certificate::open(input)?;
    let header = certificate.header();
    if header.compact {
        return Err(Failure::Fails("it is of the compact kind, and ends in plans".into()).into());
    }
    if header.spec != spec.as_str() {
        return Err(Failure::Fails(format!("it is of {}, not of {spec}", header.spec)).into());
    }
    let reader: &mut dyn Reader = match spec.game() {
        AnyGame::Connect4(game) => &mut Learner { game, table },
        AnyGame::WideConnect4(game) => &mut Learner { game, table },
        AnyGame::Woodpush(game) => &mut Learner { game, table },
        AnyGame::Dyn(_) => return Err(CertifyError::NotForThisGame(spec.to_string())),
    };
    Ok(certificate.check(settings, reader)?)
}

/// Tells a table what a certificate says.
struct Learner<'a, G> {
    game: &'a G,
    table: &'a TranspositionTable,
}

impl<G: Certified> Reader for Learner<'_, G> {
    fn moves(
        &mut self,
        claim: &jlpns_verify::Claim,
        boards: Boards<'_>,
        numbers: &[u8],
    ) -> Result<(), Failure> {
        let other_game = || Failure::Fails("the certificate is of another game".into());
        let goal = self.game.scale().parse_goal(&claim.to_string()).map_err(|_| other_game())?;
        let holds = matches!(goal, Goal::AtLeast(_));
        let threshold = goal.threshold();
        let claimant = if holds { Player::Max } else { Player::Min };
        let mut legal = MoveList::new();
        for (board, &number) in boards.zip(numbers) {
            let mut position = self.game.position_on(board, claimant).ok_or_else(other_game)?;
            legal.clear();
            self.game.moves(&position, &mut legal);
            // A number that no move has fails where the move is played.
            let Some(&mv) = legal.get(usize::from(number)) else { continue };
            self.game.play(&mut position, mv);
            let key = self.game.key(&position).into();
            self.table.learn(&SolvedPosition { key, threshold, holds, work: WORK_OF_A_PIECE });
        }
        Ok(())
    }
}
