//! What a report tells of itself, without the solve: whether it has the form of effort numbers, and
//! the keys of the positions that it is about. That can be found out on any thread, before the report
//! comes to the one that owns the solve.

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Game, Move, MoveList, with_game};
use jlpns_search::{Findings, Question};

use crate::belief::Keys;
use crate::findings::{self, FindingsError};
use crate::ids::ProofId;

/// Whoever can examine reports about the positions of a game.
#[derive(Clone, Debug)]
pub struct Examiner {
    spec: GameSpec,
}

/// What a report tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    moves: Vec<Move>,
    question: Question,
    /// The keys of its position and of those one move on.
    keys: Keys,
    /// Whether its findings have the form of effort numbers for its question, and its certificate, if it
    /// has one, shows them.
    form: Result<(), FindingsError>,
    /// The certificate that shows what it found.
    proof: Option<ProofId>,
}

/// What a sound report is about, and what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sound {
    /// The keys of its positions.
    pub keys: Keys,
    /// The certificate that shows what it found.
    pub proof: Option<ProofId>,
}

impl Examiner {
    /// For the positions of this game.
    pub fn new(spec: GameSpec) -> Examiner {
        Examiner { spec }
    }

    /// Examines what was found about the position after `moves`. `None` if they are not legal.
    pub fn examine(
        &self,
        moves: &[Move],
        question: Question,
        found: &Findings,
    ) -> Option<Examined> {
        let keys = self.keys(moves)?;
        let legal: Vec<Move> = keys.children.iter().map(|(mv, _)| *mv).collect();
        let form = findings::check(found, question, &legal);
        Some(Examined { moves: moves.to_vec(), question, keys, form, proof: None })
    }

    /// The keys of the position after `moves` and of those one move on. `None` if the moves are not
    /// legal.
    pub(crate) fn keys(&self, moves: &[Move]) -> Option<Keys> {
        with_game!(self.spec.game(), game => keys(game, moves))
    }
}

fn keys<G: Game>(game: &G, moves: &[Move]) -> Option<Keys> {
    let mut position = position_after(game, moves).ok()?;
    let mut legal = MoveList::new();
    if game.outcome(&position).is_none() {
        game.moves(&position, &mut legal);
    }
    let mut children = Vec::with_capacity(legal.len());
    for &mv in &legal {
        game.play(&mut position, mv);
        children.push((mv, game.key(&position).into()));
        game.undo(&mut position, mv);
    }
    Some(Keys { position: game.key(&position).into(), children })
}

impl Examined {
    /// The certificate that came with it was checked, and shows that what it found is true.
    pub fn with_proof(self, proof: ProofId) -> Examined {
        Examined { proof: Some(proof), ..self }
    }

    /// The certificate that came with it shows nothing, for this reason.
    pub fn with_bad_certificate(self, why: String) -> Examined {
        Examined { form: self.form.and(Err(FindingsError::Certificate(why))), ..self }
    }

    /// Whether it was examined as the report about this job.
    pub(crate) fn is_about(&self, moves: &[Move], question: Question) -> bool {
        self.moves == moves && self.question == question
    }

    /// What it is about, if it has the form of effort numbers.
    pub(crate) fn sound(self) -> Result<Sound, FindingsError> {
        let Examined { keys, proof, form, .. } = self;
        form.map(|()| Sound { keys, proof })
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::{Outcome, Threshold};
    use jlpns_search::EffortPair;

    use super::*;

    #[test]
    fn a_report_is_examined_for_its_own_job_only() {
        let examiner = Examiner::new("connect4:4x4".parse().unwrap());
        let question = Question::Threshold(Threshold(1));
        let found = Findings {
            efforts: vec![EffortPair::UNIT],
            children: Vec::new(),
            nodes: 1,
            most_proving_move: None,
        };
        let moves = [Move(0), Move(1)];
        let examined = examiner.examine(&moves, question, &found).unwrap();
        assert!(examined.is_about(&moves, question));
        assert!(!examined.is_about(&moves[..1], question));
        assert!(!examined.is_about(&moves, Question::Threshold(Threshold(2))));
        assert_eq!(examined.sound().unwrap().keys.children.len(), 4);
        assert_eq!(examiner.examine(&[Move(9)], question, &found), None, "there is no such move");
        let bounds = jlpns_games::Bounds { lower: Outcome(0), upper: Outcome(2) };
        let width = examiner.examine(&moves, Question::Value(bounds), &found).unwrap();
        assert!(matches!(width.sound(), Err(FindingsError::Width { .. })));
    }
}
