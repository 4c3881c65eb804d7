//! What holds of every game in the list, whichever they are.

use super::*;
use crate::outcome::OutcomeScale;

#[test]
fn every_example_is_a_spec_in_its_standard_form() {
    for family in BUILT_IN {
        assert!(family.examples.len() >= family.notations.len(), "{}", family.name);
        for example in family.examples {
            let spec: GameSpec = example.parse().unwrap();
            assert_eq!(spec.as_str(), *example);
            assert!(example.starts_with(&format!("{}:", family.name)), "{example}");
        }
        let first: GameSpec = family.examples[0].parse().unwrap();
        with_game!(first.game(), game => {
            let moves = parse_moves(game, family.moves).unwrap();
            assert_eq!(format_moves(game, &moves), family.moves);
        });
    }
}

#[test]
fn messages_name_every_game() {
    let games = Games::built_in();
    let message = refused("chess:8x8").to_string();
    for family in games.families() {
        for notation in family.notations {
            assert!(message.contains(&format!("{}:{notation}", family.name)), "{message}");
        }
        assert!(games.moves().contains(family.moves));
        assert!(family.examples.iter().all(|&example| games.examples().contains(example)));
    }
    assert_eq!(games.examples(), "connect4:7x6, woodpush:10 or woodpush:L.L...R.R");
}

/// What the trait asks of every game, along a line of play.
fn keeps_the_rules<G: Game>(game: &G, choices: &[usize]) {
    let mut position = game.start();
    assert_eq!(game.to_move(&position), crate::Player::Max);
    assert_eq!(game.outcome(&position), None);
    let mut keys = vec![game.key(&position)];
    let mut played = Vec::new();
    for &choice in choices {
        if let Some(outcome) = game.outcome(&position) {
            assert_eq!(game.static_bounds(&position).value(), Some(outcome));
            break;
        }
        let (mut moves, mut relevant) = (MoveList::new(), MoveList::new());
        game.moves(&position, &mut moves);
        game.relevant_moves(&position, &mut relevant);
        assert!(!relevant.is_empty() && relevant.iter().all(|mv| moves.contains(mv)));
        assert_eq!(game.mobility(&position) as usize, moves.len());
        let mut names: Vec<_> = moves.iter().map(|&mv| game.move_name(&position, mv)).collect();
        let is_good = |c: char| c.is_ascii_alphanumeric() || "+-=".contains(c);
        assert!(
            names.iter().all(|name| !name.is_empty() && name.chars().all(is_good)),
            "{names:?}"
        );
        names.sort();
        names.dedup();
        assert_eq!(names.len(), moves.len(), "{names:?}");
        let mv = moves[choice % moves.len()];
        let before = format!("{position:?}");
        game.play(&mut position, mv);
        let mut undone = position.clone();
        game.undo(&mut undone, mv);
        assert_eq!(format!("{undone:?}"), before);
        let key = game.key(&position);
        assert!(!keys.contains(&key), "{key:?} comes back");
        assert_eq!(G::Key::try_from(key.into()).ok(), Some(key));
        keys.push(key);
        played.push(mv);
    }
    assert_eq!(parse_moves(game, &format_moves(game, &played)), Ok(played));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_game_keeps_the_rules_of_the_trait(choices in prop::collection::vec(0usize..64, 0..100)) {
        for example in BUILT_IN.iter().flat_map(|family| family.examples) {
            let spec: GameSpec = example.parse().unwrap();
            with_game!(spec.game(), game => keeps_the_rules(game, &choices));
        }
    }
}

/// One heap: each move takes one or two, and whoever takes the last has won so many times over.
#[derive(Clone, Debug)]
pub struct Heap {
    size: u16,
    scale: OutcomeScale,
}

impl Heap {
    pub fn new(size: u16) -> Heap {
        Heap { size, scale: OutcomeScale::named(["loss", "win"]) }
    }
}

impl Game for Heap {
    type Position = Vec<u16>;
    type Key = u64;
    type Notes = ();

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Vec<u16> {
        Vec::new()
    }

    fn to_move(&self, taken: &Vec<u16>) -> crate::Player {
        if taken.len().is_multiple_of(2) { crate::Player::Max } else { crate::Player::Min }
    }

    fn outcome(&self, taken: &Vec<u16>) -> Option<crate::Outcome> {
        let last = crate::Outcome((taken.len() % 2) as u8);
        (taken.iter().sum::<u16>() >= self.size).then_some(last)
    }

    fn moves(&self, taken: &Vec<u16>, moves: &mut MoveList) {
        let left = self.size - taken.iter().sum::<u16>();
        moves.extend((1..=left.min(12)).map(Move));
    }

    fn play(&self, taken: &mut Vec<u16>, mv: Move) {
        taken.push(mv.0);
    }

    fn undo(&self, taken: &mut Vec<u16>, _mv: Move) {
        taken.pop();
    }

    fn key(&self, taken: &Vec<u16>) -> u64 {
        u64::from(taken.iter().sum::<u16>()) << 1 | u64::from(taken.len() % 2 == 1)
    }

    fn move_name(&self, _taken: &Vec<u16>, mv: Move) -> String {
        mv.0.to_string()
    }

    fn show(&self, taken: &Vec<u16>) -> String {
        format!("{} of {}", self.size - taken.iter().sum::<u16>(), self.size)
    }
}

#[test]
fn a_game_from_outside_is_read_beside_the_others() {
    let heap = GameFamily {
        name: "heap",
        notations: &["SIZE"],
        examples: &["heap:30"],
        moves: "12,3",
        read: |size| match number(size) {
            Some(size @ 1..=1000) => {
                Ok((size.to_string(), AnyGame::Dyn(DynGame::new(Heap::new(size as u16)))))
            }
            _ => Err(SpecError::Refused(format!("'{size}' is no size of a heap; write 1 to 1000"))),
        },
    };
    let games = Games::built_in().with(heap);
    let spec = games.spec("HEAP:030").unwrap();
    assert_eq!(spec.as_str(), "heap:30");
    with_game!(spec.game(), game => {
        let moves = parse_moves(game, "12 3").unwrap();
        assert_eq!(game.show(&position_after(game, &moves).unwrap()), "15 of 30");
        assert_eq!(format_moves(game, &moves), "123");
        for choices in [[0; 30], [11; 30], [5; 30]] {
            keeps_the_rules(game, &choices);
        }
    });
    assert_eq!(games.spec("connect4:7x6").unwrap().as_str(), "connect4:7x6");
    let refused = |text| games.spec(text).unwrap_err().to_string();
    assert_eq!(refused("heap:x"), "'x' is no size of a heap; write 1 to 1000");
    assert!(refused("chess").ends_with("woodpush:CELLS, woodpush:BOARD or heap:SIZE"));
    // One of the same name takes the place of the other.
    let replaced = games.with(GameFamily { notations: &["N"], ..heap });
    assert_eq!(replaced.families().len(), BUILT_IN.len() + 1);
    assert!(replaced.notations().ends_with("woodpush:BOARD or heap:N"));
}
