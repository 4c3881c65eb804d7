//! The games that a worker has searchers of, and how they share its memory.
//!
//! What the tables of a game know is of use to every solve of that game, so a searcher outlives the solve
//! that it was made for. The memory is cut into equal shares, one for each game: the first game has all of
//! it, and each time that there are no shares left, as many again are made of half the size.

use std::collections::BTreeMap;
use std::sync::Arc;

use jlpns_games::spec::{GameSpec, SpecError};
use jlpns_search::searcher::{Searcher, Searching};

/// A game with what runs its searches.
pub struct GameAtHand {
    /// The game, which may have tables of its own.
    pub spec: GameSpec,
    /// What runs its searches, and keeps what they remember.
    pub searcher: Arc<dyn Searcher>,
}

/// The games of a worker's solves, and those of former solves whose tables are still there.
pub struct GamesAtHand {
    searching: Arc<dyn Searching>,
    /// The memory for all of them together, in bytes.
    memory: u64,
    slots: u32,
    /// How many shares the memory is cut into: a power of two.
    shares: u64,
    /// By the standard text of their specs.
    games: BTreeMap<String, Kept>,
    /// Counts the leases, to tell which game was used last.
    leases: u64,
}

/// What is there of a game: open solves, a searcher, or both.
#[derive(Default)]
struct Kept {
    /// How many solves of it are open.
    open: usize,
    /// There is one as soon as a lease has come.
    at_hand: Option<Arc<GameAtHand>>,
    /// The number of the last lease.
    used: u64,
}

impl GamesAtHand {
    /// Nothing yet, for `slots` searches at a time with `memory` bytes for all nodes and tables.
    pub fn new(searching: Arc<dyn Searching>, memory: u64, slots: u32) -> GamesAtHand {
        GamesAtHand { searching, memory, slots, shares: 1, games: BTreeMap::new(), leases: 0 }
    }

    /// The game that a spec names. It is for a look only: searches are run on the one at hand.
    pub fn read(&self, spec: &str) -> Result<GameSpec, SpecError> {
        self.searching.spec(spec, self.memory)
    }

    /// A solve of the game begins. This takes no memory yet.
    pub fn open(&mut self, game: &str) {
        self.games.entry(game.to_owned()).or_default().open += 1;
    }

    /// A solve of the game has ended. Its searcher is kept until another game needs the memory.
    pub fn close(&mut self, game: &str) {
        if let Some(kept) = self.games.get_mut(game) {
            kept.open = kept.open.saturating_sub(1);
            if kept.open == 0 && kept.at_hand.is_none() {
                self.games.remove(game);
            }
        }
    }

    /// Drops all that is known of any game, and all that is open.
    pub fn clear(&mut self) {
        self.games.clear();
        self.shares = 1;
    }

    /// The game for a lease of an open solve; its searcher is made if there is none. The error is one
    /// sentence that says why there can be none.
    pub fn at_hand(&mut self, game: &str) -> Result<Arc<GameAtHand>, String> {
        self.leases += 1;
        let used = self.leases;
        if self.games.get(game).is_none_or(|kept| kept.at_hand.is_none()) {
            self.make_room();
            let made = Arc::new(self.make(game)?);
            self.games.entry(game.to_owned()).or_default().at_hand = Some(made);
        }
        let kept = self.games.get_mut(game);
        let found = kept.and_then(|kept| {
            kept.used = used;
            kept.at_hand.clone()
        });
        found.ok_or_else(|| format!("there is no searcher of {game}"))
    }

    /// Sees to it that a share is free for one more game.
    fn make_room(&mut self) {
        let holders = || self.games.iter().filter(|(_, kept)| kept.at_hand.is_some());
        let held = holders().count() as u64;
        let idle = holders().filter(|(_, kept)| kept.open == 0);
        let longest_idle = idle.clone().min_by_key(|(_, kept)| kept.used);
        let longest_idle = longest_idle.map(|(game, _)| game.clone());
        if idle.count() as u64 == held {
            // No search of an open solve would lose what it knows: the shares can grow again.
            self.games.retain(|_, kept| kept.open > 0);
            self.shares = 1;
        } else if held < self.shares {
            // A share that was never used, or that was given back.
        } else if let Some(game) = longest_idle {
            self.games.remove(&game);
        } else {
            self.halve_the_shares();
        }
    }

    /// Makes all searchers anew with half of the memory.
    fn halve_the_shares(&mut self) {
        self.shares = self.shares.saturating_mul(2);
        let mut anew = Vec::new();
        // The old ones go first: there is no memory for both.
        for (game, kept) in &mut self.games {
            if kept.at_hand.take().is_some() {
                anew.push(game.clone());
            }
        }
        for game in anew {
            // If this fails, the next lease of that game tries again and says why.
            let made = self.make(&game).ok().map(Arc::new);
            if let Some(kept) = self.games.get_mut(&game) {
                kept.at_hand = made;
            }
        }
    }

    fn make(&self, game: &str) -> Result<GameAtHand, String> {
        let memory = self.memory / self.shares;
        let spec = self.searching.spec(game, memory).map_err(|error| error.to_string())?;
        let searcher = self.searching.searcher(&spec, memory, self.slots)?;
        Ok(GameAtHand { spec, searcher })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use jlpns_search::search::Observer;
    use jlpns_search::{Findings, Job};

    use super::*;

    /// Searchers that cannot search; what is asked for is recorded.
    #[derive(Default)]
    struct Recorded {
        asked: Mutex<Vec<(String, u64)>>,
    }

    struct Idle;

    impl Searcher for Idle {
        fn search(&self, _job: &Job, _observer: &mut dyn Observer) -> Result<Findings, String> {
            Err("it never searches".to_owned())
        }
    }

    impl Searching for Recorded {
        fn searcher(
            &self,
            spec: &GameSpec,
            memory: u64,
            _slots: u32,
        ) -> Result<Arc<dyn Searcher>, String> {
            self.asked.lock().expect("no panic").push((spec.to_string(), memory));
            // Such a share is too small for a searcher.
            if memory < 30 { Err("too little memory".to_owned()) } else { Ok(Arc::new(Idle)) }
        }
    }

    const A: &str = "connect4:4x4";
    const B: &str = "connect4:5x4";
    const C: &str = "connect4:5x5";
    const D: &str = "woodpush:8";
    const E: &str = "woodpush:9";
    const F: &str = "woodpush:10";

    struct Stage {
        games: GamesAtHand,
        recorded: Arc<Recorded>,
    }

    impl Stage {
        fn new() -> Stage {
            let recorded = Arc::new(Recorded::default());
            Stage { games: GamesAtHand::new(recorded.clone(), 400, 3), recorded }
        }

        /// A lease of each of these games comes; gives which searchers that makes.
        fn lease(&mut self, games: &[&str]) -> Vec<(String, u64)> {
            for game in games {
                self.games.at_hand(game).map(drop).expect("a searcher");
            }
            self.made()
        }

        fn begin(&mut self, games: &[&str]) -> Vec<(String, u64)> {
            games.iter().for_each(|game| self.games.open(game));
            self.lease(games)
        }

        fn made(&self) -> Vec<(String, u64)> {
            std::mem::take(&mut self.recorded.asked.lock().expect("no panic"))
        }
    }

    fn of(made: &[(&str, u64)]) -> Vec<(String, u64)> {
        made.iter().map(|&(game, memory)| (game.to_owned(), memory)).collect()
    }

    #[test]
    fn a_searcher_is_made_for_the_first_lease_and_outlives_its_solve() {
        let mut stage = Stage::new();
        stage.games.open(A);
        assert_eq!(stage.made(), of(&[]));
        assert_eq!(stage.lease(&[A, A]), of(&[(A, 400)]));
        stage.games.close(A);
        assert_eq!(stage.begin(&[A]), of(&[]));
        let (one, other) = (stage.games.at_hand(A), stage.games.at_hand(A));
        let (one, other) = (one.expect("a game"), other.expect("the same"));
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn games_at_a_time_have_equal_shares() {
        let mut stage = Stage::new();
        assert_eq!(stage.begin(&[A]), of(&[(A, 400)]));
        assert_eq!(stage.begin(&[B]), of(&[(A, 200), (B, 200)]));
        assert_eq!(stage.begin(&[C]), of(&[(A, 100), (B, 100), (C, 100)]));
        assert_eq!(stage.begin(&[D]), of(&[(D, 100)]));
        assert_eq!(stage.begin(&[E]), of(&[(A, 50), (B, 50), (C, 50), (D, 50), (E, 50)]));
        assert_eq!(stage.lease(&[A, B, C, D, E]), of(&[]));
    }

    #[test]
    fn a_game_without_solves_makes_room() {
        let mut stage = Stage::new();
        stage.begin(&[A]);
        stage.games.close(A);
        // It had all of the memory, and the next one gets all of it.
        assert_eq!(stage.begin(&[B]), of(&[(B, 400)]));
        assert_eq!(stage.begin(&[A]), of(&[(B, 200), (A, 200)]));
        stage.games.close(B);
        assert_eq!(stage.begin(&[C]), of(&[(C, 200)]));
        // It is B that has lost what it knew.
        assert_eq!(stage.lease(&[A]), of(&[]));
    }

    #[test]
    fn of_games_without_solves_the_one_that_was_not_used_for_longest_goes_first() {
        let mut stage = Stage::new();
        stage.begin(&[A, B, C, D]);
        stage.lease(&[B]);
        stage.games.close(B);
        stage.games.close(C);
        assert_eq!(stage.made(), of(&[]));
        assert_eq!(stage.begin(&[E]), of(&[(E, 100)]));
        assert_eq!(stage.begin(&[B]), of(&[]));
        assert_eq!(
            stage.begin(&[C]),
            of(&[(A, 50), (B, 50), (D, 50), (E, 50), (C, 50)]),
            "all others are in use"
        );
    }

    #[test]
    fn a_game_is_in_use_until_its_last_solve_has_ended() {
        let mut stage = Stage::new();
        stage.begin(&[A, A]);
        stage.games.close(A);
        assert_eq!(stage.begin(&[B]), of(&[(A, 200), (B, 200)]));
        stage.games.close(B);
        stage.games.close(A);
        // Closing more often than opening does no harm.
        stage.games.close(A);
        stage.games.close(F);
        assert_eq!(stage.begin(&[C]), of(&[(C, 400)]));
    }

    #[test]
    fn nothing_is_left_after_clearing() {
        let mut stage = Stage::new();
        stage.begin(&[A, B]);
        stage.made();
        stage.games.clear();
        assert_eq!(stage.begin(&[B]), of(&[(B, 400)]));
    }

    #[test]
    fn a_searcher_that_cannot_be_made_is_tried_again() {
        let recorded = Arc::new(Recorded::default());
        let mut games = GamesAtHand::new(recorded, 50, 1);
        games.open(A);
        games.open(B);
        assert!(games.at_hand(A).is_ok());
        for _ in 0..2 {
            // Half of the memory is too little for either.
            let error = games.at_hand(B).map(drop);
            assert_eq!(error, Err("too little memory".to_owned()));
            assert!(games.games.values().all(|kept| kept.at_hand.is_none()));
            // As long as nobody else has a searcher, one game has all of it.
            assert!(games.at_hand(A).is_ok());
        }
    }

    #[test]
    fn a_spec_is_read_as_the_searches_read_it() {
        let games = GamesAtHand::new(Arc::new(Recorded::default()), 50, 1);
        let read = games.read(" Connect4:4X4 ").expect("a spec");
        assert_eq!(read.as_str(), A);
        assert!(games.read("chess:8x8").is_err());
    }
}
