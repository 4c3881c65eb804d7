//! `jlpns serve`: the coordinator of a cluster.

use std::time::Duration;

use anyhow::Context;
use jlpns_games::spec::Games;
use jlpns_solve::belief::Confirm;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing::info;

use super::admission::AdmissionFlags;
use super::best_line::LineFlags;
use super::certificate::{CertificateFlags, Known};
use super::confirm::ConfirmFlags;
use super::interrupt::Interrupt;
use super::keeping::KeepingFlags;
use super::listen_file::ListenFileFlags;
use super::progress::Progress;
use super::report::Report;
use super::settings::SettingsFlags;
use super::{CommandError, End, report, values};
use crate::serve::{Served, serve_behind};

/// How long a coordinator stays whose solve had ended before: workers may be about to start, as in
/// a cluster that is started whole.
const LINGER: Duration = Duration::from_secs(15);

/// What `jlpns serve` is given.
#[derive(Debug, clap::Args)]
pub struct ServeFlags {
    #[command(flatten)]
    settings: SettingsFlags,

    #[command(flatten)]
    keeping: KeepingFlags,

    /// Where workers connect, by a name or an address of this machine; port 0 takes any free one, and
    /// the log says which
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070", env = "JLPNS_LISTEN")]
    #[arg(value_parser = values::listen, allow_hyphen_values = true)]
    listen: String,

    #[command(flatten)]
    listen_file: ListenFileFlags,

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

    /// Stay so many seconds after the end, to tell workers that come late of it [default: 15 if the
    /// solve had ended before this start, else 0]
    #[arg(long, value_name = "SECONDS", env = "JLPNS_LINGER", allow_hyphen_values = true)]
    #[arg(value_parser = values::seconds_or_none)]
    linger: Option<Duration>,

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
    let listen = values::look_up(&flags.listen)?;
    let read = flags.admission.admission(&listen)?;
    let interrupt = Interrupt::listen(flags.keeping.warning())?;
    let progress = Progress::start();
    read.tell();
    let spec = settings.spec.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // First, so that an address that is taken leaves the journal alone.
    let listener = runtime
        .block_on(TcpListener::bind(&listen.addresses[..]))
        .with_context(|| format!("cannot listen on {listen}"))?;
    let driver = flags.keeping.driver(settings)?;
    let proofs = driver.proofs();
    let had_ended = driver.is_over();
    let address = listener.local_addr()?;
    // Not before: where the journal is another process's, so is the file.
    let coordinator_file = flags.listen_file.write(read.scheme(), address)?;
    let Served { solve, late } = runtime.block_on(async {
        let what = if had_ended { "telling the answer of" } else { "solving" };
        info!("{what} {spec}; listening on {}://{address}", read.scheme());
        let following = tokio::spawn(report::follow(driver.handle(), progress.clone()));
        let served = serve_behind(read.admission, listener, driver, interrupt.asked()?).await?;
        following.abort();
        // It may be about to show a line.
        let _ = following.await;
        anyhow::Ok(served)
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
    let end = report.print(flags.settings.output, certify)?;
    // The answer is out: nobody waits for those that come late.
    let linger = match solve.end() {
        Some(_) => flags.linger.unwrap_or(if had_ended { LINGER } else { Duration::ZERO }),
        None => Duration::ZERO,
    };
    runtime.block_on(async {
        let asked = interrupt.without_warning().asked()?;
        if !linger.is_zero() {
            info!("staying {} s to tell workers that come late", linger.as_secs_f64());
        }
        late.answer_until(async {
            // Whichever comes first.
            let _ = timeout(linger, asked).await;
            // As long as it listens, no other has its address.
            drop(coordinator_file);
        })
        .await?;
        anyhow::Ok(())
    })?;
    Ok(end)
}
