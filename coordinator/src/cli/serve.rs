//! `jlpns serve`: the coordinator of a cluster.

use std::net::SocketAddr;

use anyhow::Context;
use jlpns_coordinator::driver::{Driver, DriverConfig};
use jlpns_coordinator::serve::serve_behind;
use tokio::net::TcpListener;
use tracing::info;

use super::door::DoorFlags;
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::settings::SettingsFlags;
use super::{CommandError, End, report, values};

/// What `jlpns serve` is given.
#[derive(Debug, clap::Args)]
pub struct ServeFlags {
    #[command(flatten)]
    settings: SettingsFlags,

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

    #[command(flatten)]
    door: DoorFlags,
}

/// Serves until the game is solved, or until a signal comes.
pub fn run(flags: &ServeFlags) -> Result<End, CommandError> {
    let solve = flags.settings.solve(flags.memory, flags.await_workers as usize)?;
    let door = flags.door.door(flags.listen)?;
    let interrupt = Interrupt::listen()?;
    let progress = Progress::start("info");
    door.tell();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let solve = runtime.block_on(async {
        let listener = TcpListener::bind(flags.listen)
            .await
            .with_context(|| format!("cannot listen on {}", flags.listen))?;
        info!(
            "solving {}; listening on {}://{}",
            solve.settings().spec,
            door.scheme(),
            listener.local_addr()?
        );
        let config = DriverConfig::new(solve.settings().spec.to_string());
        let driver = Driver::new(solve, config);
        let following = tokio::spawn(report::follow(driver.handle(), progress.clone()));
        let solve = serve_behind(door.door, listener, driver, interrupt.asked()?).await?;
        following.abort();
        anyhow::Ok(solve)
    })?;
    Ok(report::finish(&solve, &progress, flags.settings.output)?)
}
