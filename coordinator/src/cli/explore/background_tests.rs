use std::time::Duration;

use jlpns_games::spec::{GameSpec, parse_moves};
use jlpns_games::with_game;
use jlpns_search::TranspositionTable;

use super::*;

/// Longer than any machine takes for what is waited for.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn another_position_stops_the_search_and_the_end_does_not_wait_for_it() {
    let spec: GameSpec = "connect4:9x8".parse().expect("a spec");
    let table = TranspositionTable::with_bytes(1 << 24).expect("a small table");
    let won = with_game!(spec.game(), game => parse_moves(game, "121212")).expect("legal moves");
    let background = Background::start(Looker::new(spec, None, table, 1)).expect("a thread");
    // This would take for ever.
    background.look_at(&[]);
    loop {
        if let Found::Position(_, known) = background.found.recv_timeout(LIMIT).expect("findings")
            && known.nodes > 0
        {
            break;
        }
    }
    background.look_at(&won);
    loop {
        if let Found::Line(after, line) = background.found.recv_timeout(LIMIT).expect("a line") {
            assert_eq!((after, line.moves.len()), (won, 1));
            break;
        }
    }
    background.look_at(&[]);
    drop(background);
}
