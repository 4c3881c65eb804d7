//! What every search is given and what it gives back, and the choice among them.

use jlpns_games::spec::{AnyGame, MoveError, position_after};
use jlpns_games::{Bounds, Game, Move, Threshold, with_game};

use crate::depth_first::Setting;
use crate::efforts::Width;
use crate::favoured_first::FavouredFirst;
use crate::graph::{Graph, GraphSettings, Selection};
pub use crate::growth::{EPSILON, Growth};
use crate::late_first::LateFirst;
pub use crate::search_end::{Observer, SearchEnd, Statistics, Stopped};
use crate::tree::{KnowledgeUse, Tree};
use crate::watch::Watch;
use crate::{
    Algorithm, Initialisation, Job, Question, TranspositionTable, alpha_beta, dfpn, gpns2, halving,
    pds, pn2, pns, with_width,
};

/// Whether best-first searches merge positions that are reached by several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// One node a way to it, as in the papers.
    #[default]
    Tree,
    /// One node a position.
    Graph,
}

/// The settings of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// Which search.
    pub algorithm: Algorithm,
    /// Tree or graph, where the algorithm has the choice (PNS, GPNS, dichotomic).
    pub store: Store,
    /// How new frontier nodes start.
    pub initialisation: Initialisation,
    /// Stop when this many nodes have been created; never, if `None`.
    pub max_nodes: Option<u64>,
    /// How many bytes the nodes in memory may take. Searches that cannot go on within it stop.
    pub memory: u64,
    /// How two-level searches size their second level; as in their papers, if `None`.
    pub growth: Option<Growth>,
    /// The epsilon of df-pn's 1 + epsilon rule.
    pub epsilon: f64,
    /// Whether the search asks the game for more than its rules: bounds without search, relevant
    /// moves, forced moves. With it PDS also counts by half what all children but one take, as the positions below
    /// brothers are in part the same. The values are the same either way; the papers' figures are without.
    pub knowledge: bool,
}

impl Default for SearchSettings {
    /// The settings of a search of which nothing is said but where it begins.
    fn default() -> SearchSettings {
        SearchSettings {
            algorithm: Algorithm::DfPn,
            store: Store::Tree,
            initialisation: Initialisation::Unit,
            max_nodes: None,
            memory: 1 << 30,
            growth: None,
            epsilon: EPSILON,
            knowledge: true,
        }
    }
}

impl SearchSettings {
    /// The settings that a job names; the others are the default ones.
    pub fn of_job(job: &Job) -> SearchSettings {
        SearchSettings {
            algorithm: job.sub_search,
            initialisation: job.initialisation,
            knowledge: job.knowledge,
            growth: Some(job.growth),
            epsilon: job.epsilon,
            max_nodes: Some(job.budget),
            ..SearchSettings::default()
        }
    }

    /// How large the transposition table should be, in bytes, so that all that the search keeps
    /// fits into its memory. PDS-PN gives half of it to its second level.
    pub fn table_bytes(&self) -> u64 {
        match self.algorithm {
            Algorithm::PdsPn => self.memory / 2,
            algorithm if algorithm.uses_table() => self.memory,
            _ => 0,
        }
    }

    /// How the second level is sized.
    fn growth(&self) -> Growth {
        self.growth.unwrap_or(Growth::of(self.algorithm))
    }
}

/// The transposition tables of a search.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// What is known, and what is found out.
    pub table: &'a TranspositionTable,
    /// What others say: a move that wins by it is tried first, and nothing of it is believed. Alpha-beta alone looks
    /// at it.
    pub hints: Option<&'a TranspositionTable>,
}

impl<'a> From<&'a TranspositionTable> for Tables<'a> {
    /// Without hints.
    fn from(table: &'a TranspositionTable) -> Tables<'a> {
        Tables { table, hints: None }
    }
}

/// Searches `position` for the answer to `question`; the position is the same afterwards.
///
/// Searches for one threshold find a value by several runs. Those that use a transposition table
/// begin with what `table` holds and leave in it what they found; the others do not touch it. A
/// search that is stopped by its limit on nodes has created at least one node that it did not
/// know before, so that repeated searches come to an end as long as the table can hold it.
///
/// ```
/// use jlpns_games::Game;
/// use jlpns_games::connect4::Connect4;
/// use jlpns_search::search::{SearchSettings, search};
/// use jlpns_search::{Algorithm, Question, TranspositionTable};
///
/// let game = Connect4::<u64>::new(4, 4)?;
/// let question = Question::Value(game.scale().bounds());
/// let settings = SearchSettings { algorithm: Algorithm::Pds, ..SearchSettings::default() };
/// let table = TranspositionTable::with_bytes(1 << 20)?;
/// let end = search(&game, &mut game.start(), question, &settings, &table, &mut ());
/// let value = question.bounds(&end.findings.efforts, game.scale()).value();
/// assert_eq!(value.map(|value| game.scale().name(value)), Some("draw"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn search<'a, G: Game>(
    game: &G,
    position: &mut G::Position,
    question: Question,
    settings: &SearchSettings,
    tables: impl Into<Tables<'a>>,
    observer: &mut dyn Observer,
) -> SearchEnd {
    let tables = tables.into();
    match (question, settings.algorithm) {
        (Question::Value(bounds), algorithm) if !algorithm.answers_all() => halving::search(
            bounds,
            order_of_thresholds(game, bounds, settings.knowledge),
            settings.max_nodes,
            observer,
            |threshold, max_nodes, observer| {
                let settings = SearchSettings { max_nodes, ..settings.clone() };
                let question = Question::Threshold(threshold);
                search_once(game, position, question, &settings, tables, observer)
            },
        ),
        _ => search_once(game, position, question, settings, tables, observer),
    }
}

/// What to ask next if these of the outcomes that are `asked` for are left.
fn order_of_thresholds<G: Game>(
    game: &G,
    asked: Bounds,
    knowledge: bool,
) -> impl Fn(Bounds) -> Threshold {
    let late_first = LateFirst::on(game, knowledge);
    let favoured_first = FavouredFirst::on(game, knowledge);
    move |open| match (late_first, favoured_first) {
        (Some(order), _) => order.next(open),
        (None, Some(order)) => order.next(asked, open),
        (None, None) => halving::middle(open),
    }
}

/// [`search`] in the game of a spec, after `moves` from its start; errors if these are not legal. The
/// searches are compiled here for each game, once; who calls [`search`] itself compiles them again.
pub fn search_any(
    game: &AnyGame,
    moves: &[Move],
    question: Question,
    settings: &SearchSettings,
    tables: Tables<'_>,
    observer: &mut dyn Observer,
) -> Result<SearchEnd, MoveError> {
    with_game!(game, game => {
        let mut position = position_after(game, moves)?;
        Ok(search(game, &mut position, question, settings, tables, observer))
    })
}

/// One run of a search that can answer `question` in one.
fn search_once<G: Game>(
    game: &G,
    position: &mut G::Position,
    question: Question,
    settings: &SearchSettings,
    Tables { table, hints }: Tables<'_>,
    observer: &mut dyn Observer,
) -> SearchEnd {
    let mut watch = Watch::new(settings.max_nodes, observer);
    let setting = |threshold: Threshold, delayed: bool| Setting {
        game,
        table,
        hints,
        threshold,
        initialisation: settings.initialisation,
        delayed,
        knowledge: settings.knowledge,
        ranked: settings.algorithm == Algorithm::DfPn,
        overlapping: settings.algorithm == Algorithm::Pds && settings.knowledge,
    };
    match (settings.algorithm, question) {
        (Algorithm::DfPn, Question::Threshold(threshold)) => {
            dfpn::search(setting(threshold, false), position, settings.epsilon, &mut watch)
        }
        (Algorithm::AlphaBeta, Question::Threshold(threshold)) => {
            alpha_beta::search(setting(threshold, false), position, &mut watch)
        }
        (Algorithm::Pds, Question::Threshold(threshold)) => {
            pds::search(setting(threshold, true), position, None, &mut watch)
        }
        (Algorithm::PdsPn, Question::Threshold(threshold)) => {
            let second_level =
                pds::SecondLevel { growth: settings.growth(), memory: settings.memory };
            pds::search(setting(threshold, true), position, Some(second_level), &mut watch)
        }
        _ => with_width!(question.thresholds().1, width => {
            best_first(game, position, question, width, settings, &mut watch)
        }),
    }
}

/// PNS, GPNS, PN2 or GPNS2.
fn best_first<G: Game, W: Width>(
    game: &G,
    position: &G::Position,
    question: Question,
    width: W,
    settings: &SearchSettings,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    let initialisation = settings.initialisation;
    if settings.store == Store::Graph && !settings.algorithm.is_two_level() {
        let settings = GraphSettings {
            initialisation,
            merge: true,
            selection: Selection::default(),
            memory: settings.memory,
            knowledge: settings.knowledge,
            ranked: false,
        };
        let graph = Graph::new(game.clone(), position.clone(), question, width, settings);
        return pns::search(graph, watch);
    }
    let node_bytes = Tree::<G, W>::node_bytes(width.get()) as u64;
    let capacity = usize::try_from(settings.memory / node_bytes).unwrap_or(usize::MAX);
    let tree = Tree::new(game, position.clone(), question, width, initialisation, capacity);
    let knowledge = if settings.knowledge { KnowledgeUse::BelowRoot } else { KnowledgeUse::Unused };
    let tree = tree.with_knowledge(knowledge);
    let second_level = match settings.algorithm {
        Algorithm::Pn2 => pn2::SecondLevel::Nodes(settings.growth()),
        Algorithm::GpnsPn2 => pn2::SecondLevel::Descents,
        Algorithm::Gpns2 => {
            return gpns2::search(game, initialisation, tree, question, capacity, watch);
        }
        _ => return pns::search(tree, watch),
    };
    pn2::search(game, initialisation, tree, question, second_level, capacity, watch)
}
