//! What is believed of the start of a game, by what machines say of it.

use jlpns_games::Threshold;

use super::*;
use crate::belief::{
    Belief, BeliefSettings, Confirm, Judgement, Keys, MachineId, Open, Proofs, Standing,
    ThresholdAt, Word,
};

/// What is asked.
pub const THRESHOLD: Threshold = Threshold(1);

/// The key of a game's start.
fn start<G: Game>(game: &G) -> u128 {
    game.key(&game.start()).into()
}

/// A belief of some machines about the start of a game.
pub struct Believed {
    spec: GameSpec,
    pub belief: Belief,
    pub machines: Vec<MachineId>,
    records: u64,
}

impl Believed {
    /// So many machines of which each is independent of the others; no sample is drawn.
    pub fn new(machines: usize, confirm: Confirm) -> Believed {
        let (sample, seed) = (0.0, 1);
        let mut belief = Belief::new(BeliefSettings { confirm, sample, seed });
        let names = (1..=machines).map(|number| format!("m{number}"));
        let shown = names.map(|name| info(&name, 1));
        let machines = shown
            .map(|info| belief.machines_mut().find_or_add(&info.identity, &info.name))
            .collect();
        Believed { spec: "connect4:4x4".parse().unwrap(), belief, machines, records: 0 }
    }

    /// The key of the start.
    pub fn key(&self) -> u128 {
        with_game!(self.spec.game(), game => start(game))
    }

    /// Somebody reports that the start reaches the threshold, or that it does not.
    pub fn hears(&mut self, word: Word, holds: bool) -> Vec<Judgement> {
        self.records += 1;
        let keys = Keys { position: self.key(), children: Vec::new() };
        let efforts = vec![EffortPair::solved(holds)];
        let findings =
            Findings { efforts, children: Vec::new(), nodes: 1, most_proving_move: None };
        self.belief.take_in(self.records, word, (&keys, &[]), THRESHOLD, &findings)
    }

    /// How many claims an answer rests on that lack something, if it needs this of them.
    pub fn open(&self, needs: Confirm, holds: bool) -> usize {
        with_game!(self.spec.game(), game => {
            let mut root = game.start();
            let key = game.key(&root);
            let proofs = Proofs::new(game, self.belief.claims(), false, key).for_answer(needs);
            let mut proofs = proofs;
            proofs.basis(&mut root, &[], &[(THRESHOLD, holds)]).open.len()
        })
    }

    /// What is claimed, and what stands behind it.
    pub fn standing(&self) -> (bool, Standing) {
        let claim = self.belief.claims().get((self.key(), THRESHOLD.0)).expect("a claim");
        (claim.holds, claim.standing)
    }

    /// The answer rests on the start: it is to be confirmed as far as it lacks that. Gives where.
    pub fn ask_to_confirm(&mut self, holds: bool) -> ThresholdAt {
        let place = (self.key(), THRESHOLD.0);
        let claim = self.belief.claims().get(place).copied();
        self.belief.want_confirmed(&[Open { place, moves: Vec::new(), holds, claim }]);
        place
    }

    /// Whether the start is to be searched again.
    pub fn is_wanted(&self) -> bool {
        self.belief.rechecks().at((self.key(), THRESHOLD.0)).is_some()
    }
}
