//! The worker of a program that brings a game of its own.

use jlpns_games::spec::Games;
use jlpns_tests::noughts::NOUGHTS;

fn main() -> std::process::ExitCode {
    jlpns_worker::cli::run(&Games::built_in().with(NOUGHTS))
}
