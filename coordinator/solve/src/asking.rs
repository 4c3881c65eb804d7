//! Positions that are asked for, in a solve of many: what is told of them, and what is to be confirmed before.

use crate::{Action, AskedPosition, Solve};

impl Solve {
    /// Takes further positions in. Some may be answered already, by the rules or by what machines have claimed.
    pub(super) fn ask(&mut self, asked: Vec<AskedPosition>) {
        let Some(positions) = self.tree.positions() else { return };
        let keys: Vec<u128> = asked.into_iter().filter_map(|asked| positions.ask(asked)).collect();
        keys.into_iter().for_each(|key| self.look_at_position(key));
    }

    /// Tells what is known of a position, if it is asked for and has not been told; what only one machine has claimed
    /// of it is searched again first, where an answer needs that.
    pub(super) fn look_at_position(&mut self, key: u128) {
        let confirm = self.belief.confirm();
        let Some(positions) = self.tree.positions() else { return };
        let (news, open) = positions.look_at(key, self.belief.claims(), confirm);
        self.actions.extend(news.into_iter().map(Action::Tidings));
        self.belief.want_confirmed(&open);
    }

    /// The same of all, after what was believed has changed.
    pub(super) fn look_at_all_positions(&mut self) {
        let Some(positions) = self.tree.positions() else { return };
        let withdrawn = positions.take_withdrawn().into_iter();
        let withdrawn = withdrawn.map(|number| crate::Tidings::Withdrawn { number });
        self.actions.extend(withdrawn.map(Action::Tidings));
        positions.keys().into_iter().for_each(|key| self.look_at_position(key));
    }

    /// The same of all, to one who has been told nothing in this life of the solve.
    pub(super) fn tell_of_positions_anew(&mut self) {
        if let Some(positions) = self.tree.positions() {
            positions.forget_told();
        }
        self.look_at_all_positions();
    }
}
