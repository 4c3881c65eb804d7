//! What is to be solved: it never changes while the solve goes on.

use jlpns_games::spec::{MoveError, format_moves, position_after};
use jlpns_games::{Bounds, Game, Move, Outcome, OutcomeScale, Threshold, with_game};
use jlpns_search::{EffortPair, Job, Question};

use crate::{Beside, Examiner, SolveSettings};

/// What is to be solved, and how, with what follows from that alone.
pub struct Problem {
    pub settings: SolveSettings,
    pub scale: OutcomeScale,
    pub examiner: Examiner,
    /// What is asked of the root.
    pub question: Question,
    /// The moves to the root, by their names.
    pub moves_text: String,
    /// The outcome, if the game is over before the solve begins.
    outcome: Option<Outcome>,
}

impl Problem {
    /// Errors if the moves are not legal.
    pub fn new(settings: SolveSettings) -> Result<Problem, MoveError> {
        let scale = with_game!(settings.spec.game(), game => game.scale().clone());
        let moves_text =
            with_game!(settings.spec.game(), game => format_moves(game, &settings.moves));
        let outcome = with_game!(settings.spec.game(), game => {
            game.outcome(&position_after(game, &settings.moves)?)
        });
        let question = settings.question(&scale);
        let examiner = Examiner::new(settings.spec.clone());
        Ok(Problem { settings, examiner, scale, question, moves_text, outcome })
    }

    /// What is known of the value by the root's effort numbers.
    pub fn bounds(&self, root: &[EffortPair]) -> Bounds {
        match self.outcome {
            Some(outcome) => Bounds::exactly(outcome),
            None => self.question.bounds(root, &self.scale),
        }
    }

    /// The thresholds of the root from which the answer follows, and whether they are reached.
    pub fn answer(&self, root: &[EffortPair]) -> Vec<(Threshold, bool)> {
        let first = self.question.thresholds().0.0;
        let threshold = |index: usize| Threshold(first + index as u8);
        let reached = root.iter().rposition(|pair| pair.verdict() == Some(true));
        let missed = root.iter().position(|pair| pair.verdict() == Some(false));
        let reached = reached.map(|index| (threshold(index), true));
        reached.into_iter().chain(missed.map(|index| (threshold(index), false))).collect()
    }

    /// Whether the tree holds numbers for the thresholds of a question.
    pub fn covers(&self, question: Question) -> bool {
        let (first, count) = question.thresholds();
        let (own_first, own_count) = self.question.thresholds();
        let end = |first: u8, count: usize| usize::from(first) + count;
        first.0 >= own_first.0 && end(first.0, count) <= end(own_first.0, own_count)
    }

    /// What is asked of a job that is most proving for `threshold`: for several outcomes at once, if
    /// its sub-search, the first or the one beside it, can, those within the relevancy bounds of the root.
    pub fn question_of_job(
        &self,
        threshold: Threshold,
        root: &[EffortPair],
        beside: Option<Beside>,
    ) -> Question {
        let sub_search = beside.map_or(self.settings.sub_search, |beside| beside.sub_search);
        match self.question {
            Question::Value(asked) if !sub_search.is_binary() => {
                let known = self.question.bounds(root, &self.scale);
                Question::Value(known.intersection(asked).unwrap_or(asked))
            }
            _ => Question::Threshold(threshold),
        }
    }

    /// A job for any worker, of the first sub-search or of the one beside it; searched alone, unless it says
    /// otherwise.
    pub fn job(
        &self,
        moves: Vec<Move>,
        question: Question,
        budget: u64,
        beside: Option<Beside>,
    ) -> Job {
        let (sub_search, growth) = match beside {
            Some(beside) => (beside.sub_search, beside.growth),
            None => (self.settings.sub_search, self.settings.growth()),
        };
        Job {
            moves,
            question,
            sub_search,
            initialisation: self.settings.initialisation,
            knowledge: self.settings.knowledge,
            prove: false,
            alone: true,
            growth,
            epsilon: self.settings.epsilon,
            budget,
        }
    }

    /// The names of moves from the start of the game.
    pub fn move_names(&self, moves: &[Move]) -> String {
        with_game!(self.settings.spec.game(), game => format_moves(game, moves))
    }

    /// The name of a move at the root.
    pub fn root_move_name(&self, mv: Move) -> String {
        let moves = self.move_names(&[&self.settings.moves, &[mv][..]].concat());
        moves[self.moves_text.len()..].to_owned()
    }

    /// What a threshold is for, for people.
    pub fn threshold_name(&self, threshold: Threshold) -> String {
        self.scale.threshold_name(threshold)
    }
}
