//! `jlpns search`: one search in this process.

use std::ops::ControlFlow;

use bytesize::ByteSize;
use jlpns_games::spec::{Games, format_moves, position_after};
use jlpns_games::{Bounds, Game, OutcomeScale, Threshold, with_game};
use jlpns_search::answer::{Proved, learn_children};
use jlpns_search::search::{Observer, SearchSettings, Statistics, Stopped, Store, search_any};
use jlpns_search::{Algorithm, Findings, Initialisation, Question, TranspositionTable};
use serde::Serialize;

use super::best_line::LineFlags;
use super::constants::ConstantFlags;
use super::interrupt::Interrupt;
use super::output::{self, Answer, Asked, Output, grouped, pace, rate};
use super::positions::{ManyAsked, PositionsFlags};
use super::progress::Progress;
use super::spec::SpecFlags;
use super::{CommandError, End, values};

/// What `jlpns search` is given.
#[derive(Debug, clap::Args)]
pub struct SearchFlags {
    #[command(flatten)]
    spec: SpecFlags,

    /// The search to run [default: the fastest, alpha-beta]
    #[arg(long, value_name = "NAME", env = "JLPNS_ALGORITHM")]
    #[arg(value_parser = values::algorithm(Algorithm::ALL))]
    algorithm: Option<Algorithm>,

    /// What to prove, such as '>=draw' or '<=-1', from the view of the player who moves first in
    /// SPEC; without it, the exact value is found
    #[arg(long, allow_hyphen_values = true, env = "JLPNS_GOAL")]
    goal: Option<String>,

    /// Moves to play from SPEC before the search
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    #[arg(env = "JLPNS_MOVES")]
    moves: String,

    /// Whether best-first searches keep one node a way to a position, or one node a position
    #[arg(long, default_value = "graph", env = "JLPNS_STORE", value_parser = values::store())]
    store: Store,

    /// The effort numbers of new frontier nodes [default: unit if an algorithm is named]
    #[arg(long, value_name = "INIT", env = "JLPNS_INIT")]
    #[arg(value_parser = values::initialisation())]
    init: Option<Initialisation>,

    /// Stop when this many nodes have been created
    #[arg(long, value_name = "N", allow_hyphen_values = true, env = "JLPNS_MAX_NODES")]
    #[arg(value_parser = values::node_count)]
    max_nodes: Option<u64>,

    /// How much memory the nodes and tables may take
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true)]
    #[arg(value_parser = values::memory, env = "JLPNS_MEMORY")]
    memory: u64,

    #[command(flatten)]
    constants: ConstantFlags,

    #[command(flatten)]
    line: LineFlags,

    #[command(flatten)]
    positions: PositionsFlags,

    /// Whether the search asks the game for more than its rules: bounds without search, relevant
    /// moves, forced moves [default: true; false for a search of the papers that is named]
    #[arg(long, value_name = "BOOL", env = "JLPNS_KNOWLEDGE")]
    knowledge: Option<bool>,

    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

impl SearchFlags {
    fn algorithm(&self) -> Algorithm {
        self.algorithm.unwrap_or(Algorithm::AlphaBeta)
    }

    /// The papers' default for a search that is asked for by name; else the faster one.
    fn initialisation(&self) -> Initialisation {
        self.init.unwrap_or(match self.algorithm {
            Some(_) => Initialisation::Unit,
            None => Initialisation::Mobility,
        })
    }

    /// The papers' searches know the rules and nothing else, so their figures are without.
    fn knowledge(&self) -> bool {
        let named = self.algorithm.is_some_and(|algorithm| algorithm != Algorithm::AlphaBeta);
        self.knowledge.unwrap_or(!named)
    }
}

/// The result of a search, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct SearchResult {
    #[serde(flatten)]
    answer: Answer,
    descents: u64,
    nodes: u64,
    peak_nodes: u64,
    seconds: f64,
}

/// Runs the search and prints its result.
pub fn run(flags: &SearchFlags, games: &Games) -> Result<End, CommandError> {
    let spec = flags.spec.read(games)?.with_memory(flags.memory / 8);
    let scale = with_game!(spec.game(), game => game.scale());
    let goal = values::goal(scale, flags.goal.as_deref())?;
    let played = with_game!(spec.game(), game => values::moves(game, &flags.moves))?;
    let question = match goal {
        Some(goal) => Question::Threshold(goal.threshold()),
        None => Question::Value(scale.bounds()),
    };
    let settings = SearchSettings {
        algorithm: flags.algorithm(),
        store: flags.store,
        initialisation: flags.initialisation(),
        max_nodes: flags.max_nodes,
        memory: flags.memory.saturating_sub(spec.memory()),
        growth: Some(flags.constants.growth(flags.algorithm())),
        epsilon: flags.constants.epsilon,
        knowledge: flags.knowledge(),
    };
    if flags.positions.are_given() {
        return flags.positions.run(&ManyAsked {
            spec: &spec,
            moves: &flags.moves,
            goal,
            settings: &settings,
            slots: 1,
            line: flags.line,
            output: flags.output,
        });
    }
    let mut watch = SearchProgress {
        scale,
        first: question.thresholds().0,
        interrupt: Interrupt::listen(None)?,
        progress: Progress::start(),
    };
    let table = TranspositionTable::with_bytes(settings.table_bytes()).map_err(|error| {
        CommandError::BadInput(format!("{} for '--memory': {error}", ByteSize(flags.memory)))
    })?;
    let end = search_any(spec.game(), &played, question, &settings, (&table).into(), &mut watch)?;
    let seconds = watch.progress.elapsed().as_secs_f64();
    watch.progress.finish();
    let efforts = &end.findings.efforts;
    let outcome = with_game!(spec.game(), game => game.outcome(&position_after(game, &played)?));
    let bounds = outcome.map_or_else(|| question.bounds(efforts, scale), Bounds::exactly);
    let proved = goal.and_then(|goal| efforts[0].verdict().map(|holds| goal.proved_when(holds)));
    let moves = with_game!(spec.game(), game => format_moves(game, &played));
    let asked = Asked { spec: spec.as_str(), moves, algorithm: flags.algorithm().name(), goal };
    let mut answer = Answer::new(asked, proved, bounds, scale);
    let most_proving = end.findings.most_proving_move;
    answer.most_proving_move = with_game!(spec.game(), game => {
        let position = position_after(game, &played)?;
        most_proving.map(|mv| game.move_name(&position, mv))
    });
    if answer.proved.is_some() {
        // Searches without a table leave what is known of the position after each move.
        let made;
        let table = if settings.algorithm.uses_table() {
            &table
        } else {
            made = TranspositionTable::with_bytes(settings.memory)?;
            &made
        };
        with_game!(spec.game(), game => {
            let mut position = position_after(game, &played)?;
            learn_children(game, &mut position, question, &end.findings.children, table);
        });
        let proved = Proved { bounds, goal };
        let line = flags.line.find(&spec, &played, proved, table, &watch.interrupt)?;
        answer = answer.with_line(line);
    }
    let Statistics { descents, nodes, peak_nodes } = end.statistics;
    let result = SearchResult { answer, descents, nodes, peak_nodes, seconds };
    match flags.output {
        Output::Json => output::print_json(&result)?,
        Output::Text => output::print_text(&text(&result, end.stopped, flags))?,
    }
    Ok(if end.stopped.is_none() { End::Solved } else { End::Unsolved })
}

fn text(result: &SearchResult, stopped: Option<Stopped>, flags: &SearchFlags) -> String {
    let mut text = format!(
        "{}{}\n{}: {} descents, {} nodes (at most {} in memory), {:.3} s, {}",
        result.answer.headline(),
        result.answer.moves_for_people(),
        result.answer.algorithm,
        grouped(result.descents),
        grouped(result.nodes),
        grouped(result.peak_nodes),
        result.seconds,
        rate(result.nodes, result.seconds),
    );
    match stopped {
        None => {}
        Some(Stopped::MaxNodes) => {
            text += "\nStopped at the limit of --max-nodes; raise it to go on.";
        }
        Some(Stopped::Memory) => {
            let memory = ByteSize(flags.memory);
            text += &format!(
                "\nStopped because {memory} of memory was full; raise --memory, or take a search \
                 that needs little (dfpn, pds, alpha-beta)."
            );
        }
        Some(Stopped::Observer) => text += "\nStopped by a signal.",
    }
    text
}

/// Shows the progress of a search, and stops it on a signal.
struct SearchProgress<'a> {
    scale: &'a OutcomeScale,
    /// The first threshold that is asked.
    first: Threshold,
    interrupt: Interrupt,
    progress: Progress,
}

impl Observer for SearchProgress<'_> {
    fn observe(&mut self, nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        self.progress.show_when_due(nodes, |elapsed, a_second| {
            let seconds = elapsed.as_secs_f64();
            let efforts = output::efforts(self.scale, self.first, &findings().efforts);
            format!(
                "{seconds:.0} s, {} nodes, {}; root {efforts}",
                grouped(nodes),
                pace(a_second, "nodes")
            )
        });
        if self.interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
