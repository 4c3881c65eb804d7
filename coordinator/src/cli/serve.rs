//! `jlpns serve`: the coordinator of a cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use jlpns_games::spec::Games;
use jlpns_journal::JournalError;
use jlpns_queue::QueueSettings;
use jlpns_solve::belief::Confirm;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing::info;

use super::admission::AdmissionFlags;
use super::best_line::LineFlags;
use super::certificate::{CertificateFlags, Known};
use super::confirm::{ConfirmFlags, check_sharing};
use super::interrupt::Interrupt;
use super::keeping::KeepingFlags;
use super::listen_file::ListenFileFlags;
use super::progress::Progress;
use super::report::Report;
use super::settings::SettingsFlags;
use super::{CommandError, End, report, values};
use crate::driver::random_id;
use crate::queue::driver::{QueueConfig, QueueDriver, QueueError};
use crate::queue::opening::{Opening, Template};
use crate::serve::{Served, serve_behind, serve_queue};

/// How long a coordinator stays whose solve had ended before: workers may be about to start, as in
/// a cluster that is started whole.
const LINGER: Duration = Duration::from_secs(15);

/// What `jlpns serve` is given.
#[derive(Debug, clap::Args)]
#[command(mut_arg("spec", |spec| spec.required(false)))]
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

    /// Let what one worker has solved go into the tables of the others: many workers are much faster then. What they
    /// find with it confirms nothing; what an answer rests on is searched again without it. It ends by itself when
    /// something contradicts it. Not with --confirm sample [default: true, but with --queue and with --confirm proof]
    #[arg(long, value_name = "BOOL", env = "JLPNS_SHARE")]
    #[arg(action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true)]
    share: Option<bool>,

    #[command(flatten)]
    queue: QueueFlags,

    #[command(flatten)]
    admission: AdmissionFlags,
}

/// What a coordinator with many solves is given.
#[derive(Clone, Copy, Debug, clap::Args)]
struct QueueFlags {
    /// Hold a queue of many solves instead of one: 'jlpns submit' says what is to be solved
    #[arg(long, env = "JLPNS_QUEUE", requires = "data")]
    #[arg(conflicts_with_all = ["spec", "score", "moves", "goal", "certificate", "share", "await_workers", "linger"])]
    queue: bool,

    /// With --queue: how many nodes the one search of a position may create before the position gets a solve of its own
    #[arg(long, value_name = "N", default_value = "2000000", env = "JLPNS_SWEEP_NODES")]
    #[arg(value_parser = values::node_count, allow_hyphen_values = true)]
    sweep_nodes: u64,

    /// With --queue: how many solves of their own are open at a time; they share --memory
    #[arg(long, value_name = "N", default_value = "4", env = "JLPNS_MOST_OPEN")]
    #[arg(value_parser = values::slots, allow_hyphen_values = true)]
    most_open: u32,
}

impl ServeFlags {
    /// Whether what one worker has solved goes into the tables of the others.
    fn shares(&self) -> bool {
        let confirm = self.confirms();
        self.share.unwrap_or(confirm != Confirm::Proof && confirm.goes_with_sharing())
    }

    /// What must be confirmed.
    fn confirms(&self) -> Confirm {
        let default = if self.certificate.is_wanted() { Confirm::Proof } else { Confirm::Answer };
        self.confirm.confirm.unwrap_or(default)
    }
}

/// Serves a queue until a signal comes.
fn run_queue(flags: &ServeFlags, games: &Games) -> Result<End, CommandError> {
    flags.settings.check_sub_searches()?;
    let confirm = flags.confirm.confirm.unwrap_or(Confirm::Answer);
    if confirm == Confirm::Proof {
        return Err(CommandError::BadInput(
            "'--confirm proof' does not go with '--queue': ask for a certificate with each entry that is \
             to be proved ('jlpns submit --certificate')"
                .to_owned(),
        ));
    }
    let listen = values::look_up(&flags.listen)?;
    let read = flags.admission.admission(&listen)?;
    let interrupt = Interrupt::listen(None)?;
    // It is not shown, but the log is written above it.
    let _progress = Progress::start();
    read.tell();
    let most_open = flags.queue.most_open as usize;
    let (memory, stall) = (flags.memory / most_open.max(1) as u64, flags.stall);
    let (settings, confirmed) = (flags.settings.clone(), flags.confirm.clone());
    let template = Template {
        settings: Arc::new(move |spec| {
            let mut settings = settings.of_game(spec, memory);
            confirmed.apply(&mut settings.belief, confirm);
            settings.leases_ahead = true;
            settings.stall_after = stall;
            settings.report_interval = settings.report_interval.min(stall / 4);
            settings
        }),
        lease_length: flags.lease,
        confirm,
        facts: flags.settings.facts(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // First, so that an address that is taken leaves the journal alone.
    let listener = runtime
        .block_on(TcpListener::bind(&listen.addresses[..]))
        .with_context(|| format!("cannot listen on {listen}"))?;
    let (directory, other) = flags.keeping.directory().expect("clap requires --data with --queue");
    let (directory_of_queue, queue_id) = (directory.to_owned(), random_id());
    let opening = Opening {
        directory: directory_of_queue,
        queue_id,
        template,
        other,
        is_stopping: Arc::default(),
    };
    let config = QueueConfig {
        opening,
        settings: QueueSettings { sweep_nodes: flags.queue.sweep_nodes, most_open },
        games: games.clone(),
    };
    runtime.block_on(async {
        let queue = QueueDriver::open(config).map_err(|error| match error {
            QueueError::Journal(
                wrong @ (JournalError::OtherSolve { .. } | JournalError::OtherVersion { .. }),
            ) => CommandError::BadInput(wrong.to_string()),
            other => CommandError::Failed(other.into()),
        })?;
        let address = listener.local_addr()?;
        // Not before: where the journal is another process's, so is the file.
        let coordinator_file = flags.listen_file.write(read.scheme(), address)?;
        info!(
            "holding the queue in {}; listening on {}://{address}",
            directory.display(),
            read.scheme()
        );
        let served = serve_queue(read.admission, listener, queue, interrupt.asked()).await;
        drop(coordinator_file);
        served.map_err(|error| CommandError::Failed(error.into()))?;
        info!("all is in {}; the same command goes on from there", directory.display());
        Ok(End::Solved)
    })
}

/// Serves until the game is solved, or until a signal comes.
pub fn run(flags: &ServeFlags, games: &Games) -> Result<End, CommandError> {
    if flags.queue.queue {
        return run_queue(flags, games);
    }
    if !flags.settings.has_spec() {
        return Err(CommandError::BadInput(
            "the following required arguments were not provided: <SPEC>, the game to solve; or --queue and --data, to \
             hold a queue of many solves"
                .to_owned(),
        ));
    }
    let mut settings = flags.settings.settings(flags.memory, flags.keeping.is_kept(), games)?;
    flags.certificate.check(&settings.spec)?;
    settings.leases_ahead = true;
    settings.await_workers = flags.await_workers as usize;
    settings.lease_length = flags.lease;
    settings.stall_after = flags.stall;
    flags.confirm.apply(&mut settings.belief, flags.confirms());
    settings.share = flags.shares();
    check_sharing(&settings)?;
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
        let served = serve_behind(read.admission, listener, driver, interrupt.asked()).await?;
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
        let asked = interrupt.without_warning().asked();
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: ServeFlags,
    }

    /// Whether workers share, and what is confirmed.
    fn shares_and_confirms(flags: &[&str]) -> (bool, Confirm) {
        let line = [&["serve", "connect4:4x4", "--listen", "127.0.0.1:0"], flags].concat();
        let Line { serve } = Line::try_parse_from(line).expect("flags");
        (serve.shares(), serve.confirms())
    }

    #[test]
    fn workers_share_unless_they_are_not_to_or_prove_what_they_find() {
        assert_eq!(shares_and_confirms(&[]), (true, Confirm::Answer));
        assert_eq!(shares_and_confirms(&["--share"]), (true, Confirm::Answer));
        assert_eq!(shares_and_confirms(&["--share=false"]), (false, Confirm::Answer));
        assert_eq!(shares_and_confirms(&["--confirm", "none"]), (true, Confirm::None));
        assert_eq!(shares_and_confirms(&["--confirm", "sample"]), (false, Confirm::Sample));
        assert_eq!(shares_and_confirms(&["--confirm", "proof"]), (false, Confirm::Proof));
        assert_eq!(shares_and_confirms(&["--certificate", "a.cert"]), (false, Confirm::Proof));
        let shared_and_proved = ["--confirm", "proof", "--share"];
        assert_eq!(shares_and_confirms(&shared_and_proved), (true, Confirm::Proof));
    }
}
