//! Solves of games with more outcomes than the compiler knows widths for.

#[path = "../../../../common/search/tests/searches/many_outcomes/coins.rs"]
mod coins;

use coins::COINS;
use jlpns_games::spec::Games;

use super::*;

/// Rows of coins with 34 outcomes, 71 and 255, the most that there can be.
const SPECS: [&str; 3] = ["coins:5-9-3-8-8", "coins:13-1-22-9-17-8", "coins:60-21-54-3-77-39"];

fn coins_settings(spec: &str) -> SolveSettings {
    let spec =
        Games::built_in().with(COINS).spec(spec).expect("no more outcomes than there can be");
    SolveSettings { spec, job_nodes: 8, ..settings("connect4:4x4", "", None) }
}

fn minimax(settings: &SolveSettings) -> Outcome {
    with_game!(settings.spec.game(), game => {
        jlpns_minimax::value(game, &mut game.start(), u64::MAX).expect("there is no limit")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn solves_of_many_outcomes_end_with_the_right_value(
        spec in prop::sample::select(&SPECS[..]),
        goal in prop::option::of(0u8..34),
        sub_search in prop::sample::select(vec![
            Algorithm::Pns, Algorithm::Gpns, Algorithm::Gpns2, Algorithm::GpnsPn2,
            Algorithm::Pds, Algorithm::AlphaBeta,
        ]),
        selection in prop::sample::select(vec![
            Selection::Locking, Selection::VirtualWin, Selection::VirtualLoss,
        ]),
        merge: bool,
        seed in any::<u64>(),
    ) {
        let mut settings = coins_settings(spec);
        settings.goal = goal.map(|goal| Goal::AtLeast(Outcome(goal)));
        settings.sub_search = sub_search;
        settings.selection = selection;
        settings.merge = merge;
        let value = minimax(&settings);
        prop_assert_eq!(true_value(&settings), value, "alpha-beta finds what minimax does");
        check_cluster(settings, StdRng::seed_from_u64(seed));
    }

    /// What a snapshot holds of it is all that there is to know.
    #[test]
    fn solves_of_many_outcomes_go_on_from_their_snapshots(
        spec in prop::sample::select(&SPECS[..]),
        reports in 0usize..12,
        merge: bool,
    ) {
        let mut settings = coins_settings(spec);
        settings.sub_search = Algorithm::Gpns;
        settings.merge = merge;
        let mut cluster = Cluster::new(settings.clone());
        cluster.join(2);
        for _ in 0..reports {
            let Some(held) = cluster.held.pop() else { break };
            cluster.report(held.worker, &held).expect("a true report");
        }
        let snapshot = cluster.solve.snapshot();
        let before = cluster.solve.status(cluster.now);
        let resumed = Solve::resume(settings.clone(), 1_000, vec![snapshot], [])
            .expect("what was written can be read");
        let after = resumed.status(Duration::ZERO);
        prop_assert_eq!(after.tree_nodes, before.tree_nodes);
        prop_assert_eq!((after.lower, after.upper), (before.lower, before.upper));
        // Without leases its numbers are the same however often it is written.
        let written = resumed.snapshot();
        let again = Solve::resume(settings.clone(), 2_000, vec![written.clone()], [])
            .expect("what was written can be read");
        prop_assert!(again.snapshot().tree == written.tree, "the tree is the same");
        let mut cluster = Cluster { solve: resumed, ..Cluster::new(settings.clone()) };
        cluster.act();
        if !cluster.over {
            cluster.join(2);
        }
        while !cluster.over {
            let held = cluster.held.pop().expect("a job is out until the solve is over");
            cluster.report(held.worker, &held).expect("a true report");
        }
        let end = cluster.solve.end().expect("it is over");
        prop_assert_eq!(end.bounds, Bounds::exactly(minimax(&settings)));
    }
}
