//! `jlpns serve`: the coordinator of a cluster.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use jlpns_games::spec::Games;
use jlpns_solve::belief::Confirm;
use tokio::net::TcpListener;
use tracing::info;

use super::admission::AdmissionFlags;
use super::best_line::LineFlags;
use super::certificate::{CertificateFlags, Known};
use super::confirm::ConfirmFlags;
use super::interrupt::Interrupt;
use super::keeping::KeepingFlags;
use super::progress::Progress;
use super::report::Report;
use super::settings::SettingsFlags;
use super::{CommandError, End, report, values};
use crate::serve::serve_behind;

/// What `jlpns serve` is given.
#[derive(Debug, clap::Args)]
pub struct ServeFlags {
    #[command(flatten)]
    settings: SettingsFlags,

    #[command(flatten)]
    keeping: KeepingFlags,

    /// Where workers connect; port 0 takes any free one, and the log says which
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070", env = "JLPNS_LISTEN")]
    #[arg(value_parser = values::listen, allow_hyphen_values = true)]
    listen: SocketAddr,

    /// How much memory the top-level tree may take
    #[arg(long, value_name = "SIZE", default_value = "1GiB", allow_hyphen_values = true)]
    #[arg(value_parser = values::memory, env = "JLPNS_MEMORY")]
    memory: u64,

    /// Give out the first job when this many workers have joined
    #[arg(long, value_name = "N", default_value = "1", env = "JLPNS_AWAIT_WORKERS")]
    #[arg(value_parser = values::slots, allow_hyphen_values = true)]
    await_workers: u32,

    /// Take a job back when nothing was heard of its worker for so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", env = "JLPNS_LEASE")]
    #[arg(value_parser = values::seconds, allow_hyphen_values = true)]
    lease: Duration,

    /// Take a job back when its search got no further for so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", env = "JLPNS_STALL")]
    #[arg(value_parser = values::seconds, allow_hyphen_values = true)]
    stall: Duration,

    #[command(flatten)]
    confirm: ConfirmFlags,

    #[command(flatten)]
    line: LineFlags,

    #[command(flatten)]
    certificate: CertificateFlags,

    /// Let what one worker has solved go into the tables of the others: many workers are much faster
    /// then, but must all be trusted, as one that believes others cannot confirm what they claim
    #[arg(long, value_name = "BOOL", default_value_t = false, env = "JLPNS_SHARE")]
    #[arg(action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true)]
    share: bool,

    #[command(flatten)]
    admission: AdmissionFlags,
}

impl ServeFlags {
    /// What must be confirmed if `--confirm` is not given.
    fn default_confirm(&self) -> Result<Confirm, CommandError> {
        match self.confirm.confirm {
            Some(confirm @ (Confirm::Answer | Confirm::Sample)) if self.share => {
                Err(CommandError::BadInput(format!(
                    "'--confirm {confirm}' does not go with '--share': a worker that believes what \
                     others have solved cannot confirm it; leave one of them out",
                )))
            }
            _ if self.certificate.is_wanted() => Ok(Confirm::Proof),
            _ => Ok(if self.share { Confirm::None } else { Confirm::Answer }),
        }
    }
}

/// Serves until the game is solved, or until a signal comes.
pub fn run(flags: &ServeFlags, games: &Games) -> Result<End, CommandError> {
    let mut settings = flags.settings.settings(flags.memory, flags.keeping.is_kept(), games)?;
    flags.certificate.check(&settings.spec)?;
    settings.leases_ahead = true;
    settings.await_workers = flags.await_workers as usize;
    settings.lease_length = flags.lease;
    settings.stall_after = flags.stall;
    flags.confirm.apply(&mut settings.belief, flags.default_confirm()?);
    settings.share = flags.share;
    // A long search must be heard of several times in that time.
    settings.report_interval = settings.report_interval.min(flags.stall / 4);
    let read = flags.admission.admission(flags.listen)?;
    let interrupt = Interrupt::listen(flags.keeping.warning())?;
    let progress = Progress::start("info");
    read.tell();
    let spec = settings.spec.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // First, so that an address that is taken leaves the journal alone.
    let listener = runtime
        .block_on(TcpListener::bind(flags.listen))
        .with_context(|| format!("cannot listen on {}", flags.listen))?;
    let driver = flags.keeping.driver(settings)?;
    let proofs = driver.proofs();
    let solve = runtime.block_on(async {
        let scheme = read.scheme();
        info!("solving {spec}; listening on {scheme}://{}", listener.local_addr()?);
        let following = tokio::spawn(report::follow(driver.handle(), progress.clone()));
        let solve = serve_behind(read.admission, listener, driver, interrupt.asked()?).await?;
        following.abort();
        anyhow::Ok(solve)
    })?;
    if solve.end().is_none()
        && let Some(hint) = flags.keeping.how_to_go_on()
    {
        info!("{hint}");
    }
    let (threads, memory) = (values::cores(), flags.memory);
    let known = Known { table: None, proofs: proofs.as_deref(), threads, memory };
    let report = Report::new(&solve, &progress, &known, flags.line)?;
    let certify = || flags.certificate.make(&solve, &known, &progress);
    Ok(report.print(flags.settings.output, certify)?)
}
