//! `jlpns solve`: coordinator and worker in this process.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use jlpns_games::spec::Games;
use jlpns_search::search::SearchSettings;
use jlpns_search::sub_search::EmbeddedSubSearches;
use jlpns_search::{Algorithm, Initialisation};
use jlpns_solve::belief::Confirm;
use jlpns_worker::client::{Backoff, JobsTaken, WorkerConfig};
use tracing::info;

use super::best_line::LineFlags;
use super::certificate::{CertificateFlags, Known};
use super::confirm::ConfirmFlags;
use super::every_move::{Searched, every_move};
use super::interrupt::Interrupt;
use super::keeping::KeepingFlags;
use super::positions::{ManyAsked, PositionsFlags};
use super::progress::Progress;
use super::report::Report;
use super::settings::SettingsFlags;
use super::slots::SlotFlags;
use super::{CommandError, End, report, values};
use crate::embedded::solve_embedded;

/// What `jlpns solve` is given.
#[derive(Debug, clap::Args)]
pub struct SolveFlags {
    #[command(flatten)]
    settings: SettingsFlags,

    #[command(flatten)]
    keeping: KeepingFlags,

    #[command(flatten)]
    confirm: ConfirmFlags,

    #[command(flatten)]
    line: LineFlags,

    #[command(flatten)]
    positions: PositionsFlags,

    /// Find the value of every legal move as well
    #[arg(long, env = "JLPNS_EVERY_MOVE", conflicts_with = "positions")]
    every_move: bool,

    #[command(flatten)]
    certificate: CertificateFlags,

    #[command(flatten)]
    slots: SlotFlags,

    /// How much memory the top-level tree and the searches may take, half of it each
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true)]
    #[arg(value_parser = values::memory, env = "JLPNS_MEMORY")]
    memory: u64,
}

/// Solves the game, or goes on until a signal comes.
pub fn run(flags: &SolveFlags, games: &Games) -> Result<End, CommandError> {
    if flags.positions.are_given() {
        return solve_many(flags, games);
    }
    let memory = flags.memory / 2;
    let mut settings = flags.settings.settings(memory, flags.keeping.is_kept(), games)?;
    flags.certificate.check(&settings.spec)?;
    // There is no other machine here.
    flags.confirm.apply(&mut settings.belief, Confirm::None);
    let interrupt = Interrupt::listen(flags.keeping.warning())?;
    let progress = Progress::start();
    let searching = Arc::new(EmbeddedSubSearches::new(settings.spec.clone()));
    let driver = flags.keeping.driver(settings)?;
    let proofs = driver.proofs();
    let slots = flags.slots.count();
    let worker = WorkerConfig {
        name: "embedded".to_owned(),
        machine: String::new(),
        slots,
        memory,
        backoff: Backoff::default(),
        give_up_after: None,
        takes: JobsTaken::default(),
    };
    // One thread is enough for the messages; the cores are for the slots.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let searches = searching.clone();
    let solve = runtime.block_on(async {
        let following = tokio::spawn(report::follow(driver.handle(), progress.clone()));
        let shutdown = interrupt.asked();
        let solve = solve_embedded(driver, worker, searching, shutdown).await?;
        following.abort();
        // It may be about to show a line.
        let _ = following.await;
        anyhow::Ok(solve)
    })?;
    if solve.end().is_none()
        && let Some(hint) = flags.keeping.how_to_go_on()
    {
        info!("{hint}");
    }
    // Some sub-searches keep no table.
    let table = searches.table();
    let known = Known { table, proofs: proofs.as_deref(), threads: slots, memory };
    let mut report = Report::new(&solve, &progress, &known, flags.line)?;
    if flags.every_move && solve.end().is_some() {
        let (interrupt, nodes) = (Interrupt::listen(None)?, AtomicU64::new(0));
        let searched = Searched { interrupt: &interrupt, progress: &progress, nodes: &nodes };
        let (settings, told) = (solve.settings(), known.told(&solve)?);
        let every = every_move(&settings.spec, &settings.moves, told.table(), slots, &searched)?;
        progress.finish();
        report = report.with_every_move(every);
    }
    let certify = || flags.certificate.make(&solve, &known, &progress);
    Ok(report.print(flags.settings.output, certify)?)
}

/// Solves many positions, each by one search: they are many enough to keep all slots busy.
fn solve_many(flags: &SolveFlags, games: &Games) -> Result<End, CommandError> {
    if flags.keeping.is_kept() || flags.certificate.is_wanted() {
        return Err(CommandError::BadInput(
            "'--positions' does not go with '--data' or '--certificate', which are of one solve; leave them out"
                .to_owned(),
        ));
    }
    let settings = flags.settings.settings(flags.memory, false, games)?;
    let search = SearchSettings {
        algorithm: Algorithm::AlphaBeta,
        initialisation: Initialisation::Mobility,
        knowledge: settings.knowledge,
        memory: settings.memory,
        ..SearchSettings::default()
    };
    flags.positions.run(&ManyAsked {
        spec: &settings.spec,
        moves: &flags.settings.moves,
        goal: settings.goal,
        settings: &search,
        slots: flags.slots.count(),
        line: flags.line,
        output: flags.settings.output,
    })
}
