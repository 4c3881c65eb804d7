//! The solves that a worker takes part in, by their numbers on the present stream and by what stays when a
//! stream is lost.

use std::collections::BTreeMap;

use super::joined::JoinedSolve;

/// The solves of a worker.
#[derive(Default)]
pub struct Solves {
    /// How many there have been.
    seen: u64,
    by_generation: BTreeMap<u64, JoinedSolve>,
    /// The generations of those that have begun on the present stream.
    numbers: BTreeMap<u64, u64>,
}

impl Solves {
    /// Begins a solve under a number that is not taken, or goes on with the one of that id. Gives it, and whether
    /// it is new; `None` if one of that number or id has begun on the present stream.
    pub fn begin(
        &mut self,
        number: u64,
        id: &str,
        game: Result<String, String>,
    ) -> Option<(&mut JoinedSolve, bool)> {
        let former = self.by_generation.iter().find(|(_, solve)| solve.id == id);
        let former = former.map(|(&generation, solve)| (generation, solve.number));
        let is_open = former.is_some_and(|(_, number)| number.is_some());
        if is_open || self.numbers.contains_key(&number) {
            return None;
        }
        let generation = former.map_or_else(
            || {
                self.seen += 1;
                self.seen
            },
            |(generation, _)| generation,
        );
        self.numbers.insert(number, generation);
        let begun = || JoinedSolve::new(id.to_owned(), game, generation, number);
        let solve = self.by_generation.entry(generation).or_insert_with(begun);
        solve.number = Some(number);
        Some((solve, former.is_none()))
    }

    /// Takes out the solve that has this number.
    pub fn end(&mut self, number: u64) -> Option<JoinedSolve> {
        let generation = self.numbers.remove(&number)?;
        self.by_generation.remove(&generation)
    }

    /// Takes out all solves but those with such an id.
    pub fn end_all_but(&mut self, stays: impl Fn(&str) -> bool) -> Vec<JoinedSolve> {
        let (stay, ended) =
            std::mem::take(&mut self.by_generation).into_iter().partition(|(_, s)| stays(&s.id));
        self.by_generation = stay;
        let ended: BTreeMap<u64, JoinedSolve> = ended;
        self.numbers.retain(|_, generation| !ended.contains_key(generation));
        ended.into_values().collect()
    }

    /// A new stream begins: no solve has a number any more.
    pub fn forget_numbers(&mut self) {
        self.numbers.clear();
        for solve in self.by_generation.values_mut() {
            solve.number = None;
        }
    }

    /// The solve that has this number.
    pub fn numbered(&mut self, number: u64) -> Option<&mut JoinedSolve> {
        self.by_generation.get_mut(self.numbers.get(&number)?)
    }

    /// The solve of a slot's event; `None` if it has ended.
    pub fn of_generation(&mut self, generation: u64) -> Option<&mut JoinedSolve> {
        self.by_generation.get_mut(&generation)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &JoinedSolve> {
        self.by_generation.values()
    }

    /// Whether no solve has leases or reports.
    pub fn have_nothing_to_tell(&self) -> bool {
        self.all().all(JoinedSolve::has_nothing_to_tell)
    }

    /// The same of those that have begun on the present stream: nobody listens to what others have.
    pub fn begun_have_nothing_to_tell(&self) -> bool {
        self.all().filter(|solve| solve.number.is_some()).all(JoinedSolve::has_nothing_to_tell)
    }

    /// How many leases of all solves the coordinator has no report of, as far as it has said.
    pub fn unreported(&self) -> usize {
        self.all().map(JoinedSolve::unreported).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(solves: &mut Solves, number: u64, id: &str) -> Option<bool> {
        let game = Ok("connect4:4x4".to_owned());
        solves.begin(number, id, game).map(|(_, is_new)| is_new)
    }

    fn ids(solves: &Solves) -> Vec<(&str, Option<u64>)> {
        solves.all().map(|solve| (solve.id.as_str(), solve.number)).collect()
    }

    #[test]
    fn numbers_and_ids_are_taken_once_a_stream() {
        let mut solves = Solves::default();
        assert_eq!(begun(&mut solves, 7, "a"), Some(true));
        assert_eq!(begun(&mut solves, 7, "b"), None, "the number is taken");
        assert_eq!(begun(&mut solves, 8, "a"), None, "the solve has begun");
        assert_eq!(begun(&mut solves, 8, "b"), Some(true));
        assert_eq!(ids(&solves), [("a", Some(7)), ("b", Some(8))]);
        // A number that is free again may be given again, also to a solve of the same id.
        assert!(solves.end(7).is_some_and(|solve| solve.id == "a"));
        assert!(solves.end(7).is_none() && solves.numbered(7).is_none());
        assert_eq!(begun(&mut solves, 7, "a"), Some(true));
        assert!(solves.of_generation(1).is_none(), "it is another one");
        assert!(solves.of_generation(3).is_some());
    }

    #[test]
    fn solves_outlive_their_numbers() {
        let mut solves = Solves::default();
        for (number, id) in [(1, "a"), (2, "b"), (3, "c")] {
            begun(&mut solves, number, id);
        }
        solves.forget_numbers();
        let ended = solves.end_all_but(|id| id != "b");
        assert_eq!(ended.iter().map(|solve| solve.id.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(begun(&mut solves, 1, "c"), Some(false));
        assert_eq!(ids(&solves), [("a", None), ("c", Some(1))]);
        assert!(solves.numbered(2).is_none() && solves.numbered(3).is_none());
        assert!(solves.numbered(1).is_some_and(|solve| solve.id == "c"));
        solves.end_all_but(|_| false);
        assert!(solves.numbered(1).is_none() && ids(&solves).is_empty());
    }
}
