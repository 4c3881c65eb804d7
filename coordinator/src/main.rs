//! The command `jlpns`; `cli/` has one file a command.
//!
//! Exit codes, of every command:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | solved: the value is known, or the goal is proved or disproved (`health`: serving) |
//! | 1 | failed: something broke that was not the user's doing (`health`: not serving) |
//! | 2 | bad usage or bad input: nothing was searched |
//! | 3 | stopped unsolved: a limit was reached, or the user stopped it |

use jlpns_games::spec::Games;

fn main() -> std::process::ExitCode {
    jlpns_coordinator::cli::run(&Games::built_in()).into()
}
