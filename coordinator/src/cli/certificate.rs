//! Certificates on the command line: of a solve that has just ended (`--certificate`), and of one that is
//! kept in a journal (`jlpns certify`).

use std::fs::{self, File};
use std::io::BufReader;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use jlpns_certificate::{CertifyError, Size, certify, is_certifiable, is_compactible, learn_piece};
use jlpns_games::spec::GameSpec;
use jlpns_games::{Game, with_game};
use jlpns_search::TranspositionTable;
use jlpns_search::strategy::Claim;
use jlpns_solve::Solve;
use jlpns_verify::{Failure, Proved};
use serde::Serialize;
use tracing::{info, warn};

use super::CommandError;
use super::interrupt::Interrupt;
use super::output::{grouped, rate_of};
use super::progress::Progress;
use crate::proofs::ProofFolder;

/// The flag of `solve` and `serve`.
#[derive(Debug, clap::Args)]
pub struct CertificateFlags {
    /// Write a certificate of the answer to this file: a proof that `jlpns verify` and programs of
    /// others can check
    #[arg(long, value_name = "FILE", env = "JLPNS_CERTIFICATE")]
    certificate: Option<PathBuf>,

    #[command(flatten)]
    size: SizeFlags,
}

/// How small a certificate is to be.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct SizeFlags {
    /// Make the certificate smaller: of moves that hold, take the one that adds the fewest positions
    #[arg(long, env = "JLPNS_MINIMIZE")]
    minimize: bool,

    /// Make a small certificate of the compact kind, which ends in plans of how each move is answered; for
    /// Connect Four
    #[arg(long, env = "JLPNS_COMPACT", conflicts_with = "minimize")]
    compact: bool,
}

impl SizeFlags {
    /// What the flags ask for.
    pub fn size(self) -> Size {
        match self {
            SizeFlags { compact: true, .. } => Size::Compact,
            SizeFlags { minimize: true, .. } => Size::Minimized,
            _ => Size::Quick,
        }
    }
}

/// A certificate that was made, as `--output json` prints it.
#[derive(Debug, Serialize)]
pub struct Certificate {
    file: String,
    claim: String,
    positions: u64,
    /// How many positions it would have if it were not minimized.
    unminimized: Option<u64>,
    bytes: u64,
    seconds: f64,
    sha256: String,
}

/// What the best move, the line and a certificate can be made from beside the solve.
pub struct Known<'a> {
    /// What the searches of this process have left.
    pub table: Option<&'a TranspositionTable>,
    /// The certificates of jobs.
    pub proofs: Option<&'a ProofFolder>,
    /// How many threads to use.
    pub threads: u32,
    /// The bytes that a table may take if there is none, and positions that are still to be written.
    pub memory: u64,
}

impl Known<'_> {
    /// A table that knows the proof tree of a solve: it leads to what the searches have left below the jobs.
    pub fn told(&self, solve: &Solve) -> anyhow::Result<Told<'_>> {
        let made = match self.table {
            Some(_) => None,
            None => Some(TranspositionTable::with_bytes(self.memory)?),
        };
        let told = Told { made, given: self.table };
        solve.proof_tree().iter().for_each(|solved| told.table().learn(solved));
        Ok(told)
    }
}

/// A table that knows the proof tree of a solve.
pub struct Told<'a> {
    made: Option<TranspositionTable>,
    given: Option<&'a TranspositionTable>,
}

impl Told<'_> {
    /// The table.
    pub fn table(&self) -> &TranspositionTable {
        self.given.or(self.made.as_ref()).expect("a table is made where none is given")
    }
}

impl CertificateFlags {
    /// Whether one is wanted.
    pub fn is_wanted(&self) -> bool {
        self.certificate.is_some()
    }

    /// Errors if one is wanted and there can be none, before anything is searched.
    pub fn check(&self, spec: &GameSpec) -> Result<(), CommandError> {
        self.certificate
            .as_ref()
            .map_or(Ok(()), |file| check(file, "--certificate", self.size, spec))
    }

    /// Makes the certificate of a solve that has ended. None if none is wanted, or there is nothing to
    /// certify.
    pub fn make(
        &self,
        solve: &Solve,
        known: &Known<'_>,
        progress: &Progress,
    ) -> anyhow::Result<Option<Certificate>> {
        let Some(file) = &self.certificate else { return Ok(None) };
        if solve.end().is_none() {
            warn!("there is no certificate, because the solve has not ended");
            return Ok(None);
        }
        make(file, self.size, solve, known, progress)
    }
}

/// Errors if there can be no certificate of a game in this file.
pub fn check(
    file: &Path,
    flag: &str,
    size: SizeFlags,
    spec: &GameSpec,
) -> Result<(), CommandError> {
    let refused = |why: String| CommandError::bad_value(flag, &file.display().to_string(), why);
    if !is_certifiable(spec) {
        return Err(refused(format!("there are no certificates for {spec} yet")));
    }
    if size.compact && !is_compactible(spec) {
        return Err(refused(format!(
            "there are no compact certificates of {spec}; there are of Connect Four"
        )));
    }
    // A solve of days is not to end with a sentence about a directory.
    let unfinished = unfinished(file);
    File::create(&unfinished).map_err(|error| refused(error.to_string()))?;
    fs::remove_file(&unfinished).map_err(|error| refused(error.to_string()))
}

/// Makes the certificate of an entry of a queue whose own solve has ended; gives its SHA-256. None if there is nothing
/// to certify.
pub fn of_entry(
    file: &Path,
    solve: &Solve,
    proofs: &ProofFolder,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Option<String>> {
    let size = SizeFlags { minimize: false, compact: false };
    let (threads, memory) = (super::values::cores(), MEMORY_OF_AN_ENTRY);
    let known = Known { table: None, proofs: Some(proofs), threads, memory };
    let made = make_until(is_stopped, file, size, solve, &known, &Progress::start())?;
    Ok(made.map(|made| made.sha256))
}

/// Whether a certificate could not be made because of what it says, and not because of the machine: then it never can be.
pub fn is_no_proof(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<CertifyError>() {
        Some(CertifyError::Failed(failure)) => !matches!(failure, Failure::Trouble(_)),
        Some(CertifyError::NotForThisGame(_) | CertifyError::NotCompact(_)) => true,
        Some(CertifyError::Stopped) | None => false,
    }
}

/// The bytes that the certificate of an entry of a queue may take while it is made.
const MEMORY_OF_AN_ENTRY: u64 = 1 << 30;

/// Makes the certificate of a solve that has ended with an answer; none if there is nothing to certify.
pub fn make(
    file: &Path,
    size: SizeFlags,
    solve: &Solve,
    known: &Known<'_>,
    progress: &Progress,
) -> anyhow::Result<Option<Certificate>> {
    // The solve has ended, so a signal loses nothing but the certificate.
    let interrupt = Interrupt::listen(None)?;
    make_until(&|| interrupt.is_asked(), file, size, solve, known, progress)
}

/// The same until it is to stop.
fn make_until(
    is_stopped: &(dyn Fn() -> bool + Sync),
    file: &Path,
    size: SizeFlags,
    solve: &Solve,
    known: &Known<'_>,
    progress: &Progress,
) -> anyhow::Result<Option<Certificate>> {
    let claims = claims_of(solve);
    if claims.is_empty() {
        warn!("there is no certificate, because the answer is clear without a move");
        return Ok(None);
    }
    info!("making the certificate");
    let begun = Instant::now();
    let making = Making { size, solve, known, claims, is_stopped, progress, begun };
    let unfinished = unfinished(file);
    let made = making.write(&unfinished);
    progress.finish();
    let (made, unminimized) = made.inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
    fs::rename(&unfinished, file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Some(Certificate {
        file: file.display().to_string(),
        claim: made.header.claim(),
        positions: made.positions,
        unminimized,
        bytes: fs::metadata(file)?.len(),
        seconds: begun.elapsed().as_secs_f64(),
        sha256: made.sha256,
    }))
}

/// A certificate in the making.
struct Making<'a> {
    size: SizeFlags,
    solve: &'a Solve,
    known: &'a Known<'a>,
    claims: Vec<Claim>,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    progress: &'a Progress,
    begun: Instant,
}

impl Making<'_> {
    /// Makes it of all that is known. Some of that rests on the word of workers; if it leads nowhere, of what
    /// is proved alone. With it comes how many positions it would have if it were not minimized.
    fn write(&self, output: &Path) -> anyhow::Result<(Proved, Option<u64>)> {
        let told = self.known.told(self.solve)?;
        let table = told.table();
        self.learn_proofs(table)?;
        match self.with_table(table, output) {
            Err(CertifyError::Failed(Failure::Fails(why))) => {
                warn!("something that was believed is not true, so it is searched anew: {why}");
                let table = self.new_table()?;
                self.learn_proofs(&table)?;
                Ok(self.with_table(&table, output)?)
            }
            made => Ok(made?),
        }
    }

    fn new_table(&self) -> anyhow::Result<TranspositionTable> {
        Ok(TranspositionTable::with_bytes(self.known.memory)?)
    }

    fn settings(&self) -> jlpns_verify::Settings {
        let threads = NonZero::new(self.known.threads as usize).unwrap_or(NonZero::<usize>::MIN);
        let memory = usize::try_from(self.known.memory).unwrap_or(usize::MAX);
        jlpns_verify::Settings { threads, memory, ..Default::default() }
    }

    /// Takes in what jobs have proved.
    fn learn_proofs(&self, table: &TranspositionTable) -> anyhow::Result<()> {
        let Some(proofs) = self.known.proofs else { return Ok(()) };
        for file in proofs.files()? {
            let piece = File::open(&file)
                .with_context(|| format!("cannot read {}", file.display()))
                .map(BufReader::new)?;
            let learnt = learn_piece(piece, &self.solve.settings().spec, table, &self.settings());
            if let Err(error) = learnt {
                // It was whole when it was written. What it would have told is searched again, and what
                // it told wrongly leads nowhere.
                warn!("{} is not used: {error}", file.display());
            }
        }
        Ok(())
    }

    fn with_table(
        &self,
        table: &TranspositionTable,
        output: &Path,
    ) -> Result<(Proved, Option<u64>), CertifyError> {
        if !self.size.minimize {
            return Ok((self.certify(self.size.size(), table, output)?, None));
        }
        // What it gains is told, so the other one is made as well.
        let quick = self.certify(Size::Quick, table, output)?.positions;
        Ok((self.certify(Size::Minimized, table, output)?, Some(quick)))
    }

    fn certify(
        &self,
        size: Size,
        table: &TranspositionTable,
        output: &Path,
    ) -> Result<Proved, CertifyError> {
        let cannot = |error: std::io::Error| {
            Failure::Trouble(format!("cannot write {}: {error}", output.display()))
        };
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(true);
        let mut file = options.open(output).map_err(cannot)?;
        let (progress, begun) = (self.progress.clone(), self.begun);
        let mut shown = Shown { progress, positions: 0, looked_into: 0, begun };
        let (settings, claims) = (self.solve.settings(), &self.claims);
        let (spec, moves, of_machine) = (&settings.spec, &settings.moves, self.settings());
        let made = certify(
            spec,
            moves,
            claims,
            size,
            table,
            self.is_stopped,
            &mut file,
            &of_machine,
            &mut shown,
        )?;
        file.sync_all().map_err(cannot)?;
        Ok(made)
    }
}

impl Certificate {
    /// A line for people.
    pub fn line(&self) -> String {
        let instead = match self.unminimized {
            Some(others) => format!(" instead of {}", grouped(others)),
            None => String::new(),
        };
        format!(
            "certificate of {} in {}: {} positions{instead}, {} bytes, {:.1} s, {}\nsha256 {}",
            self.claim,
            self.file,
            grouped(self.positions),
            grouped(self.bytes),
            self.seconds,
            rate_of(self.positions, "positions", self.seconds),
            self.sha256
        )
    }
}

/// What the answer claims, as far as it does not hold in any case.
fn claims_of(solve: &Solve) -> Vec<Claim> {
    let best = with_game!(solve.settings().spec.game(), game => game.scale().best());
    let all = solve.answer().into_iter().map(|(threshold, holds)| Claim { threshold, holds });
    all.filter(|claim| (1..=best.0).contains(&claim.threshold.0)).collect()
}

/// Where a certificate is until it is whole.
fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Shows how many positions there are.
struct Shown {
    progress: Progress,
    positions: u64,
    /// Of those that a small one is looked for in.
    looked_into: u64,
    begun: Instant,
}

impl Shown {
    fn show(&mut self, what: &str, many: u64) {
        let begun = self.begun;
        self.progress.show_when_due(many, |_, _| {
            let seconds = begun.elapsed().as_secs_f64();
            format!("certificate: {} {what} in {seconds:.0} s", grouped(many))
        });
    }
}

impl jlpns_certificate::Progress for Shown {
    fn advanced(&mut self, positions: usize) {
        self.positions += positions as u64;
        self.show("positions", self.positions);
    }

    fn looked_into(&mut self, positions: usize) {
        self.looked_into += positions as u64;
        self.show("positions looked into", self.looked_into);
    }
}
