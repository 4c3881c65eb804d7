//! What `jlpns solve` is told about a certificate, and how it is made when the solve has ended.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use jlpns_certificate::{Size, certify, is_certifiable, is_compactible};
use jlpns_games::spec::GameSpec;
use jlpns_games::{Game, with_game};
use jlpns_search::TranspositionTable;
use jlpns_search::strategy::Claim;
use jlpns_search::sub_search::EmbeddedSubSearches;
use jlpns_solve::Solve;
use jlpns_verify::Proved;
use serde::Serialize;
use tracing::{info, warn};

use super::CommandError;
use super::interrupt::Interrupt;
use super::output::{grouped, rate};
use super::progress::Progress;

/// The flag.
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

impl CertificateFlags {
    /// Whether one is wanted; errors if there can be none, before anything is searched.
    pub fn check(&self, spec: &GameSpec) -> Result<(), CommandError> {
        let Some(file) = &self.certificate else { return Ok(()) };
        let refused = |why: String| {
            CommandError::bad_value("--certificate", &file.display().to_string(), why)
        };
        if !is_certifiable(spec) {
            return Err(refused(format!("there are no certificates for {spec} yet")));
        }
        if self.size.compact && !is_compactible(spec) {
            return Err(refused(format!(
                "there are no compact certificates of {spec}; there are of Connect Four"
            )));
        }
        // A solve of days is not to end with a sentence about a directory.
        let unfinished = unfinished(file);
        File::create(&unfinished).map_err(|error| refused(error.to_string()))?;
        fs::remove_file(&unfinished).map_err(|error| refused(error.to_string()))
    }

    /// Makes the certificate of a solve that has ended, from what its searches have left. None if none is
    /// wanted, or there is nothing to certify.
    pub fn make(
        &self,
        solve: &Solve,
        searches: &EmbeddedSubSearches,
        slots: u32,
        memory: u64,
        progress: &Progress,
    ) -> anyhow::Result<Option<Certificate>> {
        let Some(file) = &self.certificate else { return Ok(None) };
        if solve.end().is_none() {
            warn!("there is no certificate, because the solve has not ended");
            return Ok(None);
        }
        let settings = solve.settings();
        let claims = claims_of(solve);
        if claims.is_empty() {
            warn!("there is no certificate, because the answer is clear without a move");
            return Ok(None);
        }
        info!("making the certificate");
        // The solve has ended, so a signal loses nothing but the certificate.
        let interrupt = Interrupt::listen(None)?;
        let begun = Instant::now();
        let unfinished = unfinished(file);
        let make = |table: &TranspositionTable, size: Size| -> anyhow::Result<Proved> {
            let mut output = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&unfinished)
                .with_context(|| format!("cannot write {}", unfinished.display()))?;
            let threads = NonZero::new(slots as usize).unwrap_or(NonZero::<usize>::MIN);
            let memory = usize::try_from(memory).unwrap_or(usize::MAX);
            let of_machine = jlpns_verify::Settings { threads, memory, ..Default::default() };
            let stopped = || interrupt.is_asked();
            let mut shown = Shown { progress: progress.clone(), positions: 0, begun };
            let (spec, moves) = (&settings.spec, &settings.moves);
            let made = certify(
                spec,
                moves,
                &claims,
                size,
                table,
                &stopped,
                &mut output,
                &of_machine,
                &mut shown,
            )?;
            output.sync_all()?;
            Ok(made)
        };
        let with_table = |table: &TranspositionTable| -> anyhow::Result<(Proved, Option<u64>)> {
            // The searches have left what they know below the jobs; this leads there.
            solve.proof_tree().iter().for_each(|solved| table.learn(solved));
            if !self.size.minimize {
                return Ok((make(table, self.size.size())?, None));
            }
            // What it gains is told, so the other one is made as well.
            let quick = make(table, Size::Quick)?.positions;
            Ok((make(table, Size::Minimized)?, Some(quick)))
        };
        let made = searches.with_table(with_table);
        let made = match made {
            Some(made) => made,
            // These sub-searches keep no table.
            None => with_table(&TranspositionTable::with_bytes(memory)?),
        };
        progress.finish();
        let (made, unminimized) = made.inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
        fs::rename(&unfinished, file)
            .with_context(|| format!("cannot write {}", file.display()))?;
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
            rate(self.positions, self.seconds).replace("nodes", "positions"),
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
    begun: Instant,
}

impl jlpns_verify::Progress for Shown {
    fn advanced(&mut self, positions: usize) {
        self.positions += positions as u64;
        let Shown { positions, begun, .. } = *self;
        self.progress.show_when_due(|_| {
            let seconds = begun.elapsed().as_secs_f64();
            format!("certificate: {} positions in {seconds:.0} s", grouped(positions))
        });
    }
}
