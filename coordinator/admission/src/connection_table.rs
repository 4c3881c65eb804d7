//! The connections that are open, and which of them has to go when there are too many.
//!
//! A connection is unauthenticated until it has shown a certificate or a token. There are only so many
//! places for unauthenticated connections. When they are taken, a new one evicts the oldest of the
//! address prefix that has the most of them: so a flood evicts its own connections, and one from an
//! address with few keeps its place until it has shown what it is. Authenticated connections are never
//! evicted. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use super::address_prefix::AddressPrefix;

/// Tells a connection from all others; newer ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// The open connections; `T` is the means to end one.
#[derive(Debug)]
pub struct ConnectionTable<T> {
    max_unauthenticated: usize,
    max: usize,
    next: u64,
    authenticated: usize,
    unauthenticated: HashMap<ConnectionId, (AddressPrefix, T)>,
    /// The unauthenticated ones of each prefix that has any.
    of_prefix: HashMap<AddressPrefix, BTreeSet<ConnectionId>>,
    /// Each such prefix by how many it has, and of those with as many by the oldest of them: the last
    /// is the next that loses one.
    crowded: BTreeMap<(usize, Reverse<ConnectionId>), AddressPrefix>,
}

/// What becomes of a new connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Placement<T> {
    /// It has a place; another one may have lost its own to it.
    Placed(ConnectionId, Option<T>),
    /// All places are taken by authenticated connections.
    Full,
}

impl<T> ConnectionTable<T> {
    /// An empty table for at most this many unauthenticated connections, at least 1, and this many in
    /// all.
    pub fn new(max_unauthenticated: usize, max: usize) -> ConnectionTable<T> {
        ConnectionTable {
            max_unauthenticated: max_unauthenticated.max(1),
            max,
            next: 0,
            authenticated: 0,
            unauthenticated: HashMap::new(),
            of_prefix: HashMap::new(),
            crowded: BTreeMap::new(),
        }
    }

    /// A connection was accepted; `end` ends it.
    pub fn insert(&mut self, from: IpAddr, end: T) -> Placement<T> {
        if self.authenticated >= self.max {
            return Placement::Full;
        }
        let id = ConnectionId(self.next);
        self.next += 1;
        let prefix = AddressPrefix::of(from);
        // It counts before one is evicted, so that its prefix loses one before those that have as many
        // without it.
        self.unauthenticated.insert(id, (prefix, end));
        self.recount(prefix, |ids| {
            ids.insert(id);
        });
        let places = self.max_unauthenticated.min(self.max - self.authenticated);
        let over = self.unauthenticated.len() > places;
        Placement::Placed(id, if over { self.evict() } else { None })
    }

    /// Takes out the oldest connection of the most crowded prefix.
    fn evict(&mut self) -> Option<T> {
        let (&(_, Reverse(oldest)), _) = self.crowded.last_key_value()?;
        self.take(oldest)
    }

    /// A connection has shown that it may come. False if it was evicted before.
    pub fn authenticate(&mut self, id: ConnectionId) -> bool {
        let is_here = self.take(id).is_some();
        self.authenticated += usize::from(is_here);
        is_here
    }

    /// A connection is over; `authenticated` says whether [`authenticate`](Self::authenticate) was
    /// true for it.
    pub fn remove(&mut self, id: ConnectionId, authenticated: bool) {
        if authenticated {
            self.authenticated = self.authenticated.saturating_sub(1);
        } else {
            self.take(id);
        }
    }

    /// Takes out an unauthenticated connection, if it is there.
    fn take(&mut self, id: ConnectionId) -> Option<T> {
        let (prefix, end) = self.unauthenticated.remove(&id)?;
        self.recount(prefix, |ids| {
            ids.remove(&id);
        });
        Some(end)
    }

    /// Changes the connections of a prefix, and how crowded it is.
    fn recount(&mut self, prefix: AddressPrefix, change: impl FnOnce(&mut BTreeSet<ConnectionId>)) {
        let crowdedness =
            |ids: &BTreeSet<ConnectionId>| ids.first().map(|&oldest| (ids.len(), Reverse(oldest)));
        let ids = self.of_prefix.entry(prefix).or_default();
        if let Some(before) = crowdedness(ids) {
            self.crowded.remove(&before);
        }
        change(ids);
        match crowdedness(ids) {
            Some(now) => {
                self.crowded.insert(now, prefix);
            }
            None => {
                self.of_prefix.remove(&prefix);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    fn address(number: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))
    }

    fn insert(
        table: &mut ConnectionTable<u32>,
        from: u8,
        name: u32,
    ) -> (ConnectionId, Option<u32>) {
        match table.insert(address(from), name) {
            Placement::Placed(id, evicted) => (id, evicted),
            Placement::Full => panic!("{name} finds no place"),
        }
    }

    #[test]
    fn a_flood_evicts_its_own_connections() {
        let mut table = ConnectionTable::new(4, 100);
        assert_eq!(insert(&mut table, 1, 0).1, None);
        for name in 1..=3 {
            assert_eq!(insert(&mut table, 2, name).1, None);
        }
        // The oldest of the flood goes, and not the one that came before the flood.
        for name in 4..1000 {
            assert_eq!(insert(&mut table, 2, name).1, Some(name - 3));
        }
        assert_eq!(insert(&mut table, 3, 1000).1, Some(997));
    }

    #[test]
    fn of_prefixes_that_are_equally_crowded_the_one_with_the_oldest_connection_loses_it() {
        let mut table = ConnectionTable::new(3, 100);
        for from in 1..=3 {
            insert(&mut table, from, u32::from(from));
        }
        assert_eq!(insert(&mut table, 4, 4).1, Some(1));
        assert_eq!(insert(&mut table, 3, 5).1, Some(3));
    }

    #[test]
    fn authenticated_connections_are_never_evicted_and_have_a_limit_of_their_own() {
        let mut table = ConnectionTable::new(2, 3);
        let authenticated: Vec<ConnectionId> = (0..3)
            .map(|name| {
                let (id, evicted) = insert(&mut table, 1, name);
                assert_eq!(evicted, None);
                assert!(table.authenticate(id));
                id
            })
            .collect();
        assert_eq!(table.insert(address(2), 9), Placement::Full);
        table.remove(authenticated[0], true);
        assert_eq!(insert(&mut table, 2, 10).1, None);
        // The last place is for one unauthenticated connection at a time.
        assert_eq!(insert(&mut table, 3, 11).1, Some(10));
    }

    #[test]
    fn who_was_evicted_cannot_be_authenticated() {
        let mut table = ConnectionTable::new(1, 10);
        let (first, _) = insert(&mut table, 1, 0);
        assert_eq!(insert(&mut table, 1, 1).1, Some(0));
        assert!(!table.authenticate(first));
    }

    /// The flood that docs/security.md speaks of, as long as an unauthenticated connection may stay:
    /// 1,000 connections a second from 250 addresses, in a table of the default size.
    #[test]
    fn a_flood_from_250_addresses_leaves_a_connection_its_time() {
        let limits = crate::Limits::for_workers(1024);
        let seconds = limits.authentication_timeout.as_secs() as u32;
        let flood = |own: u8| {
            let mut table = ConnectionTable::new(limits.unauthenticated, limits.connections);
            let worker = u32::MAX;
            let idle = |number: u32, table: &mut ConnectionTable<u32>| {
                insert(table, (number % 250) as u8, number).1 == Some(worker)
            };
            // The table is full of the flood when the worker comes.
            (0..5_000).for_each(|number| assert!(!idle(number, &mut table)));
            insert(&mut table, own, worker);
            (5_000..5_000 + 1_000 * seconds).position(|number| idle(number, &mut table))
        };
        assert_eq!(flood(251), None, "from an address of its own it stays until its time is over");
        let among = flood(7).expect("from an address of the flood it is one of the flood");
        assert!(among >= 750, "three quarters of a second: {among}");
    }

    proptest! {
        #[test]
        fn there_are_never_too_many(steps in prop::collection::vec((0u8..5, 0u8..4), 1..200)) {
            let mut table = ConnectionTable::new(3, 6);
            let mut open: Vec<(ConnectionId, usize, bool, u8)> = Vec::new();
            for (name, (from, what)) in steps.into_iter().enumerate() {
                match what {
                    0 | 1 => {
                        if let Placement::Placed(id, evicted) = table.insert(address(from), name) {
                            open.push((id, name, false, from));
                            if let Some(evicted) = evicted {
                                let waiting = || open.iter().filter(|(_, _, done, _)| !done);
                                let count = |from| waiting().filter(|it| it.3 == from).count();
                                let most = waiting().map(|it| count(it.3)).max();
                                let oldest = waiting().find(|it| Some(count(it.3)) == most);
                                prop_assert_eq!(oldest.map(|it| it.1), Some(evicted));
                            }
                            open.retain(|&(_, other, _, _)| Some(other) != evicted);
                        }
                    }
                    2 => {
                        if let Some(last) = open.last_mut() {
                            prop_assert!(last.2 || table.authenticate(last.0));
                            last.2 = true;
                        }
                    }
                    _ => {
                        if !open.is_empty() {
                            let (id, _, authenticated, _) = open.remove(from as usize % open.len());
                            table.remove(id, authenticated);
                        }
                    }
                }
                let authenticated = open.iter().filter(|it| it.2).count();
                prop_assert_eq!(table.authenticated, authenticated);
                prop_assert_eq!(table.unauthenticated.len(), open.len() - authenticated);
                prop_assert!(table.unauthenticated.len() <= 3 && open.len() <= 6);
                let counted: usize = table.of_prefix.values().map(BTreeSet::len).sum();
                prop_assert_eq!(counted, open.len() - authenticated);
                prop_assert_eq!(table.crowded.len(), table.of_prefix.len());
            }
        }
    }
}
