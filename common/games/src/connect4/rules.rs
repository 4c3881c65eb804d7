//! Which pieces of the game's knowledge are used.

/// Which of the game's knowledge is used; for measuring what each piece is worth. Threats, which
/// forced moves and the order of moves come from, are always used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Moves that make two threats at once.
    pub double_threat: bool,
    /// The follow-up rule, for columns that are all even.
    pub follow_up: bool,
    /// Pairs of odd columns in it.
    pub pairs: bool,
    /// Vertical pairs among them.
    pub vertical: bool,
    /// Threats at cells that it gives to the leader.
    pub led_threats: bool,
    /// Such threats that are given up for a tempo.
    pub tempo: bool,
    /// That who has no line left does not win, where it says nothing.
    pub lines_left: bool,
    /// Columns that are turned where the number of odd columns is odd; only with the rule of lines left.
    pub turned_column: bool,
    /// Two columns that are turned where the number of odd columns is even.
    pub turned_pair: bool,
    /// Lines that come too late in it.
    pub aftereven: bool,
    /// That the follow-up rule can show a loss, and not only that a win is out of reach.
    pub wins_by_follow_up: bool,
}

impl Default for Rules {
    /// All of them.
    fn default() -> Rules {
        Rules {
            double_threat: true,
            follow_up: true,
            pairs: true,
            vertical: true,
            led_threats: true,
            tempo: true,
            lines_left: true,
            turned_column: true,
            turned_pair: true,
            aftereven: true,
            wins_by_follow_up: true,
        }
    }
}
