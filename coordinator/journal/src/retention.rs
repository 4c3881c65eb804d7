//! What a whole journal no longer needs.

/// A snapshot, as far as keeping it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeptSnapshot {
    /// The serial number of its file.
    pub serial: u64,
    /// The number of the last record it covers.
    pub through: u64,
    /// Whether it is settled.
    pub settled: bool,
}

impl KeptSnapshot {
    /// Newer is greater.
    pub fn age(&self) -> (u64, u64) {
        (self.through, self.serial)
    }
}

/// What compaction deletes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Superfluous {
    /// The serial numbers of the snapshots that go.
    pub snapshots: Vec<u64>,
    /// Records up to this number go.
    pub records_through: u64,
}

/// The last two settled snapshots stay, with all records after the older: should the newer be
/// damaged nothing is lost. Of the unsettled ones that are newer than those the last two stay.
/// Before there are two settled snapshots all records stay.
pub(super) fn superfluous(snapshots: &[KeptSnapshot]) -> Superfluous {
    let mut newest_first = snapshots.to_vec();
    newest_first.sort_unstable_by_key(|kept| std::cmp::Reverse(kept.age()));
    let (mut settled, mut unsettled) = (0, 0);
    let mut superfluous = Superfluous { snapshots: Vec::new(), records_through: 0 };
    for kept in newest_first {
        let stays = if kept.settled {
            settled += 1;
            if settled == 2 {
                superfluous.records_through = kept.through;
            }
            settled <= 2
        } else {
            unsettled += 1;
            settled == 0 && unsettled <= 2
        };
        if !stays {
            superfluous.snapshots.push(kept.serial);
        }
    }
    superfluous
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Snapshots with serial numbers from 1; true for settled.
    fn after(snapshots: &[(u64, bool)]) -> (Vec<u64>, u64) {
        let kept: Vec<KeptSnapshot> = (1..)
            .zip(snapshots)
            .map(|(serial, &(through, settled))| KeptSnapshot { serial, through, settled })
            .collect();
        let Superfluous { mut snapshots, records_through } = superfluous(&kept);
        snapshots.sort_unstable();
        (snapshots, records_through)
    }

    #[test]
    fn two_settled_snapshots_and_what_they_need_stay() {
        assert_eq!(after(&[]), (vec![], 0));
        assert_eq!(after(&[(10, true)]), (vec![], 0));
        assert_eq!(after(&[(10, true), (20, true)]), (vec![], 10));
        assert_eq!(after(&[(10, true), (20, true), (30, true)]), (vec![1], 20));
    }

    #[test]
    fn unsettled_snapshots_stay_while_they_are_news() {
        assert_eq!(after(&[(10, false), (20, false), (30, false)]), (vec![1], 0));
        assert_eq!(after(&[(10, true), (20, false), (30, true)]), (vec![2], 10));
        assert_eq!(
            after(&[(10, true), (20, true), (30, false), (40, false), (50, false)]),
            (vec![3], 10)
        );
    }
}
