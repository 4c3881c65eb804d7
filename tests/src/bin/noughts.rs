//! The command `jlpns` of a program that brings a game of its own.

use jlpns_games::spec::Games;
use jlpns_tests::noughts::NOUGHTS;

fn main() -> std::process::ExitCode {
    jlpns_coordinator::cli::run(&Games::built_in().with(NOUGHTS)).into()
}
