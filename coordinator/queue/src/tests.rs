//! What a queue makes of what it is told; and that its records make the same of an empty one.

use std::time::Duration;

use jlpns_games::spec::{GameSpec, parse_moves};
use jlpns_games::{Bounds, Game, Outcome, with_game};
use proptest::prelude::*;

use super::entry::Asked;
use super::*;

const SETTINGS: QueueSettings = QueueSettings { sweep_nodes: 1_000, most_open: 2 };

fn asked(spec: &str, moves: &str, goal: Option<&str>) -> Asked {
    let spec: GameSpec = spec.parse().unwrap();
    let (moves, goal) = with_game!(spec.game(), game => (
        parse_moves(game, moves).unwrap(),
        goal.map(|goal| game.scale().parse_goal(goal).unwrap()),
    ));
    Asked::new(Arc::new(spec), moves, goal)
}

fn found(number: u64, nodes: u64, value: Option<u8>) -> FoundOfPosition {
    let bounds = match value {
        Some(value) => Bounds::exactly(Outcome(value)),
        None => Bounds { lower: Outcome(0), upper: Outcome(2) },
    };
    let elapsed = Duration::from_millis(nodes);
    let (jobs, claims, confirmed) = (1, 2, 1);
    FoundOfPosition { number, bounds, best_move: None, nodes, jobs, elapsed, claims, confirmed }
}

/// A queue with what it has written.
struct Kept {
    queue: Queue,
    records: Vec<QueueRecord>,
    actions: Vec<QueueAction>,
}

impl Kept {
    fn new() -> Kept {
        Kept { queue: Queue::new(SETTINGS), records: Vec::new(), actions: Vec::new() }
    }

    /// Does what is to be done; what is written is durable at once.
    fn act(&mut self) -> Vec<QueueAction> {
        let mut all = Vec::new();
        loop {
            let actions = self.queue.take_actions();
            if actions.is_empty() {
                self.actions.extend(all.clone());
                return all;
            }
            for action in &actions {
                if let QueueAction::Record { number, record } = action {
                    assert_eq!(*number, self.records.len() as u64 + 1, "one after the other");
                    self.records.push((**record).clone());
                }
            }
            self.queue.note_durable(self.records.len() as u64);
            all.extend(actions);
        }
    }

    fn submit(&mut self, asked: Vec<Asked>) -> Vec<u64> {
        let submission = format!("s{}", self.records.len());
        let numbers = self.queue.submit(submission, asked, 5).0;
        self.act();
        numbers
    }

    fn states(&self) -> Vec<(u64, State)> {
        self.queue.entries().map(|(number, entry)| (number, entry.state)).collect()
    }
}

/// All that clients can see of it.
fn seen(queue: &Queue) -> String {
    let entries: Vec<String> =
        queue.entries().map(|(number, entry)| format!("{number} {entry:?}")).collect();
    let counts: Vec<(State, u64)> = queue.counts().collect();
    let out: Vec<&str> = queue.names_put_out().collect();
    format!("{entries:#?} {counts:?} {out:?}")
}

#[test]
fn small_entries_are_swept_together_and_large_ones_get_a_solve_of_their_own() {
    let mut kept = Kept::new();
    let games = vec![
        asked("connect4:4x4", "1", None),
        asked("connect4:4x4", "2", None),
        asked("connect4:4x4", "", Some(">=win")),
        asked("woodpush:6", "", None),
    ];
    assert_eq!(kept.submit(games), [1, 2, 3, 4]);
    let swept: Vec<usize> = kept.queue.sweeps().map(|(_, many, _)| many).collect();
    assert_eq!(swept, [2, 1, 1], "by game and goal");
    kept.queue.hear(Tidings::Answered(found(2, 30, Some(1))), 100);
    assert!(kept.act().contains(&QueueAction::Ended(2)));
    let entry = kept.queue.entry(2).unwrap();
    assert_eq!((entry.state, entry.began), (State::Solved, Some(70)));
    kept.queue.hear(Tidings::GivenUp(found(1, 1_000, None)), 200);
    let actions = kept.act();
    assert!(actions.contains(&QueueAction::Open(1)));
    let is_end = |action: &QueueAction| matches!(action, QueueAction::EndSweep(_));
    assert_eq!(actions.iter().filter(|action| is_end(action)).count(), 1, "nothing else is asked");
    let end = entry::Found { nodes: 5_000, ..entry::Found::default() };
    kept.queue.solve_ended(1, EndKind::Solved, String::new(), end, 300);
    assert!(kept.act().contains(&QueueAction::Ended(1)));
}

#[test]
fn nobody_is_told_of_an_end_that_is_not_durable() {
    let mut kept = Kept::new();
    kept.submit(vec![asked("connect4:4x4", "1", None)]);
    kept.queue.hear(Tidings::Answered(found(1, 30, Some(1))), 100);
    let told = |actions: &[QueueAction]| actions.contains(&QueueAction::Ended(1));
    assert!(!told(&kept.queue.take_actions()));
    assert!(!kept.queue.has_ended_for_good(1) && !kept.queue.is_done());
    kept.queue.note_durable(2);
    assert!(told(&kept.queue.take_actions()));
    assert!(kept.queue.has_ended_for_good(1) && kept.queue.is_done());
}

#[test]
fn a_request_that_comes_again_adds_nothing() {
    let mut kept = Kept::new();
    let entries = || vec![asked("connect4:4x4", "1", None), asked("connect4:4x4", "2", None)];
    let first = kept.queue.submit("a".to_owned(), entries(), 1);
    assert_eq!(kept.queue.submit("a".to_owned(), entries(), 2), first);
    assert_eq!(kept.queue.submit("b".to_owned(), entries(), 3).0, [3, 4]);
    kept.act();
    let again = Queue::resume(SETTINGS, 2, kept.records);
    let mut again = Kept { queue: again, ..Kept::new() };
    assert_eq!(again.queue.submit("a".to_owned(), entries(), 9).0, first.0, "also after a restart");
}

#[test]
fn limits_stop_an_entry_with_what_is_known() {
    let mut kept = Kept::new();
    let few = Asked { most_nodes: Some(500), ..asked("connect4:4x4", "", None) };
    let short =
        Asked { most_time: Some(Duration::from_secs(2)), ..asked("connect4:5x4", "", None) };
    kept.submit(vec![few, short]);
    let budget = |action: &QueueAction| match action {
        QueueAction::Ask { positions, .. } => Some(positions[0].budget),
        _ => None,
    };
    let budgets: Vec<u64> = kept.actions.iter().filter_map(budget).collect();
    assert_eq!(budgets, [500, 1_000]);
    kept.queue.hear(Tidings::GivenUp(found(1, 500, None)), 100);
    kept.queue.hear(Tidings::GivenUp(found(2, 1_000, None)), 100);
    kept.act();
    let end = kept.queue.entry(1).unwrap().end.clone().unwrap();
    assert_eq!(
        (end.kind, &*end.reason),
        (EndKind::Stopped, "it has used up its 500 nodes (--most-nodes)")
    );
    let mut worked =
        |millis| kept.queue.note_progress(2, 9_000, Duration::from_millis(millis), 9_999_999);
    assert_eq!(worked(1_999), None, "whatever the clock says");
    let reason = worked(2_000);
    assert_eq!(reason.as_deref(), Some("it has used up its 2 s (--most-time)"));
}

/// A worker that pauses breaks its search off: that has not used up what the entry may take.
#[test]
fn a_search_that_was_broken_off_is_no_limit() {
    let mut kept = Kept::new();
    let limited = Asked { most_nodes: Some(500), ..asked("connect4:4x4", "1", None) };
    kept.submit(vec![limited.clone(), limited]);
    kept.queue.hear(Tidings::GivenUp(found(1, 60, None)), 100);
    kept.queue.hear(Tidings::GivenUp(found(2, 500, None)), 100);
    assert!(kept.act().contains(&QueueAction::Open(1)), "it goes on in a solve of its own");
    let states = [1, 2].map(|number| kept.queue.entry(number).unwrap().state);
    assert_eq!(states, [State::Open, State::Stopped]);
}

#[test]
fn a_solve_that_is_cancelled_is_closed_and_makes_room() {
    let mut kept = Kept::new();
    let proved =
        |priority| Asked { certificate: true, priority, ..asked("connect4:4x4", "", None) };
    kept.submit(vec![proved(1), proved(9), proved(5)]);
    let opened: Vec<&QueueAction> =
        kept.actions.iter().filter(|action| matches!(action, QueueAction::Open(_))).collect();
    assert_eq!(opened, [&QueueAction::Open(2), &QueueAction::Open(3)], "the heaviest first");
    assert_eq!(kept.queue.cancel(&[2, 99], 7), Err(NoSuchEntry(99)));
    assert_eq!(kept.queue.cancel(&[2, 2], 7).unwrap().0, 1);
    assert!(kept.act().contains(&QueueAction::Close(2)));
    kept.queue.solve_ended(2, EndKind::Solved, String::new(), entry::Found::default(), 8);
    assert!(kept.act().contains(&QueueAction::Open(1)));
    assert_eq!(kept.queue.entry(2).unwrap().state, State::Cancelled, "it stays so");
}

#[test]
fn an_answer_that_does_not_count_any_more_is_looked_for_again() {
    let mut kept = Kept::new();
    kept.submit(vec![asked("connect4:4x4", "1", None), asked("connect4:4x4", "2", None)]);
    kept.queue.cancel(&[2], 50).unwrap();
    kept.act();
    kept.queue.hear(Tidings::Answered(found(1, 30, Some(1))), 100);
    let is_drop = |action: &QueueAction| matches!(action, QueueAction::Drop { .. });
    assert!(!kept.act().iter().any(is_drop), "its sweep goes on to watch it");
    kept.queue.hear(Tidings::Withdrawn { number: 1 }, 110);
    let actions = kept.act();
    assert!(
        actions.iter().any(|action| matches!(action, QueueAction::Ask { .. })),
        "it is not idle"
    );
    assert_eq!(kept.states(), [(1, State::Waiting), (2, State::Cancelled)]);
    kept.queue.hear(Tidings::Answered(found(1, 40, Some(2))), 120);
    kept.act();
    let bounds = kept.queue.entry(1).unwrap().found.bounds;
    assert_eq!(bounds, Some(Bounds::exactly(Outcome(2))));
}

#[test]
fn machines_that_were_put_out_are_remembered() {
    let identity = Identity { machine: "m".to_owned(), ..Identity::default() };
    let mut kept = Kept::new();
    kept.queue.put_out(identity.clone(), "w".to_owned());
    kept.act();
    let mut again = Queue::resume(SETTINGS, 1, kept.records);
    assert!(again.is_put_out(&identity));
    assert_eq!((again.reinstate("x"), again.reinstate("w")), (0, 1));
    assert!(!again.is_put_out(&identity));
}

proptest! {
    /// After whatever happens, the records make the same queue of an empty one, and so does what a snapshot holds.
    #[test]
    fn records_and_snapshots_make_the_same_queue(
        steps in prop::collection::vec((0u8..8, 1u64..9, any::<u8>()), 0..60),
    ) {
        let mut kept = Kept::new();
        let mut now = 0;
        for (what, number, choice) in steps {
            now += 10;
            let value = Some(choice % 3);
            match what {
                0 | 1 => {
                    let goal = (choice & 1 > 0).then_some(">=draw");
                    let entry = Asked { certificate: choice & 2 > 0, ..asked("connect4:4x4", "1", goal) };
                    kept.submit(vec![entry; 1 + usize::from(choice & 4 > 0)]);
                }
                2 => kept.queue.hear(Tidings::Answered(found(number, 3, value)), now),
                3 => kept.queue.hear(Tidings::GivenUp(found(number, 3, None)), now),
                4 => drop(kept.queue.cancel(&[number], now)),
                5 => {
                    let found = entry::Found { nodes: now, ..entry::Found::default() };
                    if kept.queue.open().any(|(open, _)| open == number) {
                        kept.queue.solve_ended(number, EndKind::Stopped, "x".to_owned(), found, now);
                    }
                }
                6 => kept.queue.hear(Tidings::Withdrawn { number }, now),
                _ => {
                    let open = kept.queue.open().next().map(|(number, _)| number);
                    if let Some(open) = open {
                        let found = entry::Found::default();
                        kept.queue.solve_ended(open, EndKind::Failed, "y".to_owned(), found, now);
                    }
                }
            }
            kept.act();
            let counted: u64 = kept.queue.counts().map(|(_, count)| count).sum();
            prop_assert_eq!(counted, kept.queue.entries().count() as u64);
            prop_assert!(kept.queue.open().count() <= SETTINGS.most_open);
        }
        let through = kept.records.len() as u64;
        let again = Queue::resume(SETTINGS, through, kept.records.clone());
        prop_assert_eq!(seen(&again), seen(&kept.queue));
        let of_snapshot = Queue::resume(SETTINGS, through, kept.queue.records());
        prop_assert_eq!(seen(&of_snapshot), seen(&kept.queue));
        prop_assert_eq!(again.sweeps().collect::<Vec<_>>(), kept.queue.sweeps().collect::<Vec<_>>());
    }
}
