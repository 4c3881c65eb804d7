//! `jlpns-worker`: runs sub-searches for a coordinator.
//!
//! Exit codes: 0 the solve is over, or drained after a first Ctrl-C or SIGTERM; 1 failed, gave up on
//! a coordinator that is gone, or aborted by a second one; 2 bad usage.

use jlpns_games::spec::Games;

fn main() -> std::process::ExitCode {
    jlpns_worker::cli::run(&Games::built_in())
}
