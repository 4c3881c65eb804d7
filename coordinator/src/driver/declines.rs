//! Leases that workers decline: each worker is told of once for each of its reasons.

use std::collections::BTreeSet;

/// The most that is remembered; what goes beyond is not told of.
const MOST: usize = 4096;

/// The workers with the reasons that were told of.
#[derive(Debug, Default)]
pub(super) struct Declines(BTreeSet<(String, String)>);

impl Declines {
    /// Whether nobody was told yet that the worker declines for this reason.
    pub fn is_news(&mut self, worker: &str, reason: &str) -> bool {
        self.0.len() < MOST && self.0.insert((worker.to_owned(), reason.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_of_a_worker_is_news_once() {
        let mut declines = Declines::default();
        let told = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")];
        let told = told.map(|(worker, reason)| declines.is_news(worker, reason));
        assert_eq!(told, [true, false, true, true, false]);
    }

    #[test]
    fn a_worker_with_ever_new_reasons_does_not_fill_the_memory() {
        let mut declines = Declines::default();
        let told = (0..2 * MOST).filter(|number| declines.is_news("a", &number.to_string()));
        assert_eq!(told.count(), MOST);
    }
}
