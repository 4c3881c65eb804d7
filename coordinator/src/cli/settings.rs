//! What `jlpns solve` and `jlpns serve` have in common: what is to be solved, and how.

use std::hash::{BuildHasher, RandomState};
use std::{process, thread};

use jlpns_games::spec::{GameSpec, Games};
use jlpns_games::with_game;
use jlpns_search::graph::Selection;
use jlpns_search::search::Store;
use jlpns_search::{Algorithm, Initialisation};
use jlpns_solve::belief::{BeliefSettings, Confirm};
use jlpns_solve::{Beside, SolveSettings};

use super::constants::ConstantFlags;
use super::output::Output;
use super::spec::SpecFlags;
use super::{CommandError, values};
use crate::recorder::facts_of_way;

/// How many jobs a second a coordinator is given, unless a flag says otherwise: half of what it takes
/// from the network and makes durable.
const MOST_JOBS_A_SECOND: u64 = 20_000;

/// The sub-searches that jobs can name.
const SUB_SEARCHES: [Algorithm; 9] = [
    Algorithm::Pn2,
    Algorithm::Gpns2,
    Algorithm::GpnsPn2,
    Algorithm::PdsPn,
    Algorithm::Pns,
    Algorithm::Gpns,
    Algorithm::Pds,
    Algorithm::DfPn,
    Algorithm::AlphaBeta,
];

/// The flags of both commands.
#[derive(Clone, Debug, clap::Args)]
pub struct SettingsFlags {
    #[command(flatten)]
    spec: SpecFlags,

    /// What to prove, such as '>=draw' or '<=-1', from the view of the player who moves first in
    /// SPEC; without it, the exact value is found
    #[arg(long, allow_hyphen_values = true, env = "JLPNS_GOAL")]
    goal: Option<String>,

    /// Moves to play from SPEC before the solve
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    #[arg(env = "JLPNS_MOVES")]
    pub moves: String,

    /// The search that jobs run [default: pds, with alpha-beta beside it in games that know which moves look best, such
    /// as Connect Four]. alpha-beta alone is the fastest on most boards of Connect Four, pds alone on those that the
    /// first player loses
    #[arg(long, value_name = "NAME", env = "JLPNS_SUB_SEARCH")]
    #[arg(value_parser = values::algorithm(SUB_SEARCHES))]
    sub_search: Option<Algorithm>,

    /// A second search, whose jobs run beside those of --sub-search on the same tree. With alpha-beta as one of the two,
    /// five sixths of the slots go depth first with it, or a single slot five sixths of the time; otherwise the more jobs
    /// of a search, the more positions they settle
    #[arg(long, value_name = "NAME", env = "JLPNS_BESIDE")]
    #[arg(value_parser = values::algorithm(SUB_SEARCHES))]
    beside: Option<Algorithm>,

    /// The effort numbers of new frontier nodes
    #[arg(long, default_value = "mobility", env = "JLPNS_INIT")]
    #[arg(value_parser = values::initialisation())]
    init: Initialisation,

    /// Whether the tree and the jobs ask the game for more than its rules: bounds without search,
    /// relevant moves, forced moves
    #[arg(long, value_name = "BOOL", default_value_t = true, env = "JLPNS_KNOWLEDGE")]
    #[arg(action = clap::ArgAction::Set)]
    knowledge: bool,

    #[command(flatten)]
    constants: ConstantFlags,

    /// Whether the top-level tree keeps one node a way to a position, or one node a position
    #[arg(long, default_value = "graph", env = "JLPNS_STORE", value_parser = values::store())]
    store: Store,

    /// How frontier nodes are selected while others are leased
    #[arg(long, default_value = "locking", env = "JLPNS_SELECTION")]
    #[arg(value_parser = values::selection())]
    selection: Selection,

    /// The most nodes that a job creates before it reports [default: 20000 for pds, 100000 for other
    /// searches with a transposition table, 500000 for those without: some 10 to 30 ms; more where
    /// --jobs-a-second asks for it]
    #[arg(long, value_name = "N", env = "JLPNS_JOB_NODES")]
    #[arg(value_parser = values::node_count, allow_hyphen_values = true)]
    job_nodes: Option<u64>,

    /// How many jobs a second all slots together may finish: jobs have more nodes where they would
    /// finish more. A coordinator with cores to spare takes 40000 and more
    /// [default: 20000, without --job-nodes]
    #[arg(long, value_name = "N", env = "JLPNS_JOBS_A_SECOND")]
    #[arg(value_parser = values::node_count, allow_hyphen_values = true)]
    jobs_a_second: Option<u64>,

    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    pub output: Output,
}

/// The default size of a job: large enough that a lease ahead makes up for its way there and back,
/// small enough that the tree grows where it should.
fn default_job_nodes(sub_search: Algorithm) -> u64 {
    match sub_search {
        // It counts the nodes that it expands; the others count those that they create.
        Algorithm::Pds => 20_000,
        _ if sub_search.uses_table() => 100_000,
        _ => 500_000,
    }
}

/// A new secret, of a solve or of what is submitted to a queue.
pub fn random_secret() -> u128 {
    // Each has keys of its own, which come from the system.
    let [low, high] = [0, 1].map(|part: u64| u128::from(RandomState::new().hash_one(part)));
    (high << 64 | low).max(1)
}

impl SettingsFlags {
    /// What is asked for, with `memory` bytes for the tree and the tables of the game; every worker is
    /// believed, nothing is shared, and no lease is granted ahead of a free slot.
    ///
    /// The keys of positions may depend on those tables. So for a solve that is kept on disk they are
    /// what they are without a word about memory: its snapshots are read by runs with more or less.
    pub fn settings(
        &self,
        memory: u64,
        is_kept: bool,
        games: &Games,
    ) -> Result<SolveSettings, CommandError> {
        self.check_sub_searches()?;
        let spec = self.spec.read(games)?;
        let spec = if is_kept { spec } else { spec.with_memory(memory / 4) };
        let memory = memory.saturating_sub(spec.memory());
        let (goal, moves) = with_game!(spec.game(), game => {
            let goal = values::goal(jlpns_games::Game::scale(game), self.goal.as_deref())?;
            (goal, values::moves(game, &self.moves)?)
        });
        Ok(SolveSettings { moves, goal, ..self.of_game(spec, memory) })
    }

    /// Checks that `--beside` names another search than `--sub-search`.
    pub fn check_sub_searches(&self) -> Result<(), CommandError> {
        let first = self.sub_search();
        if self.beside == Some(first) {
            let reason = "that is what --sub-search runs already; name another search";
            return Err(CommandError::bad_value("--beside", first.name(), reason));
        }
        Ok(())
    }

    /// The search that is named, or the one that suits any game.
    fn sub_search(&self) -> Algorithm {
        self.sub_search.unwrap_or(Algorithm::Pds)
    }

    /// The second search that is named; where neither is, alpha-beta in games that it suits.
    fn beside(&self, spec: &GameSpec) -> Option<Algorithm> {
        let is_asked_for = self.sub_search.is_some() || self.beside.is_some();
        let suits = !is_asked_for && self.knowledge && spec.orders_moves();
        self.beside.or(suits.then_some(Algorithm::AlphaBeta))
    }

    /// Whether a game is named.
    pub fn has_spec(&self) -> bool {
        self.spec.is_given()
    }

    /// What must be the same when a queue is taken up: its solves were begun so.
    pub fn facts(&self) -> Vec<(String, String)> {
        facts_of_way(self.store == Store::Graph, self.init, self.knowledge).to_vec()
    }

    /// The same of any game, for the value of its start.
    pub fn of_game(&self, spec: GameSpec, memory: u64) -> SolveSettings {
        let first = self.sub_search();
        SolveSettings {
            sub_search: first,
            beside: self.beside(&spec).map(|second| self.second(first, second)),
            initialisation: self.init,
            knowledge: self.knowledge,
            growth: Some(self.constants.growth(first)),
            epsilon: self.constants.epsilon,
            merge: self.store == Store::Graph,
            selection: self.selection,
            job_nodes: self.job_nodes.unwrap_or(default_job_nodes(first)),
            most_jobs_a_second: self
                .jobs_a_second
                .or(self.job_nodes.is_none().then_some(MOST_JOBS_A_SECOND)),
            memory,
            belief: BeliefSettings {
                confirm: Confirm::None,
                sample: 0.0,
                seed: RandomState::new().hash_one(process::id()),
            },
            own_searches: thread::available_parallelism().map_or(1, usize::from),
            secret: random_secret(),
            ..SolveSettings::new(spec)
        }
    }

    /// A sub-search beside the first. Jobs of all searches take about as long by default, so their sizes tell how
    /// fast they are.
    fn second(&self, first: Algorithm, sub_search: Algorithm) -> Beside {
        let nodes = |sub_search| default_job_nodes(sub_search) as f64;
        let speed = nodes(sub_search) / nodes(first);
        Beside { sub_search, growth: self.constants.growth(sub_search), speed }
    }
}
