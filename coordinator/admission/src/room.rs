//! The connections that are open, and which of them has to go when there are too many.
//!
//! A connection is a stranger's until it has shown that it belongs. Strangers share a room of
//! limited size. When it is full, a newcomer takes the place of the one that has waited longest
//! among those from the address with the most: so a flood from one address pushes out itself, and
//! a friend, who needs a moment to show who it is, gets through. Pure.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::strangers::neighbourhood;

/// Tells a connection from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// The open connections; `T` is the means to end one.
#[derive(Debug)]
pub struct Room<T> {
    most_strangers: usize,
    most: usize,
    next: u64,
    friends: usize,
    /// In the order in which they came.
    strangers: BTreeMap<ConnectionId, (IpAddr, T)>,
}

/// What becomes of a new connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Entrance<T> {
    /// It is in; another one may have to go for it.
    In(ConnectionId, Option<T>),
    /// There are friends only, and no place.
    Full,
}

impl<T> Room<T> {
    /// An empty room for at most this many strangers, and this many connections in all.
    pub fn new(most_strangers: usize, most: usize) -> Room<T> {
        Room { most_strangers, most, next: 0, friends: 0, strangers: BTreeMap::new() }
    }

    /// Somebody has connected.
    pub fn enter(&mut self, from: IpAddr, end: T) -> Entrance<T> {
        if self.friends >= self.most {
            return Entrance::Full;
        }
        let full = self.strangers.len() >= self.most_strangers
            || self.friends + self.strangers.len() >= self.most;
        let from = neighbourhood(from);
        let evicted = if full { self.evict(from) } else { None };
        let id = ConnectionId(self.next);
        self.next += 1;
        self.strangers.insert(id, (from, end));
        Entrance::In(id, evicted)
    }

    /// Takes out who has to go for one from `newcomer`.
    fn evict(&mut self, newcomer: IpAddr) -> Option<T> {
        // The newcomer counts, so that it goes before those who have as many without it.
        let mut counts = HashMap::from([(newcomer, 1)]);
        for (from, _) in self.strangers.values() {
            *counts.entry(*from).or_insert(0) += 1;
        }
        let most = self.strangers.values().map(|(from, _)| counts[from]).max()?;
        let (&id, _) = self.strangers.iter().find(|(_, (from, _))| counts[from] == most)?;
        self.strangers.remove(&id).map(|(_, end)| end)
    }

    /// A connection has shown that it belongs. False if it has had to go before.
    pub fn befriend(&mut self, id: ConnectionId) -> bool {
        if self.strangers.remove(&id).is_none() {
            return false;
        }
        self.friends += 1;
        true
    }

    /// A connection is over.
    pub fn leave(&mut self, id: ConnectionId, friend: bool) {
        if friend {
            self.friends = self.friends.saturating_sub(1);
        } else {
            self.strangers.remove(&id);
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

    fn enter(room: &mut Room<u32>, from: u8, name: u32) -> (ConnectionId, Option<u32>) {
        match room.enter(address(from), name) {
            Entrance::In(id, evicted) => (id, evicted),
            Entrance::Full => panic!("{name} finds no place"),
        }
    }

    #[test]
    fn a_flood_pushes_out_itself() {
        let mut room = Room::new(4, 100);
        assert_eq!(enter(&mut room, 1, 0).1, None);
        for name in 1..=3 {
            assert_eq!(enter(&mut room, 2, name).1, None);
        }
        // The oldest of the flood goes, and not the one that came before the flood.
        for name in 4..1000 {
            assert_eq!(enter(&mut room, 2, name).1, Some(name - 3));
        }
        assert_eq!(enter(&mut room, 3, 1000).1, Some(997));
    }

    #[test]
    fn friends_are_never_pushed_out_and_have_a_limit_of_their_own() {
        let mut room = Room::new(2, 3);
        let friends: Vec<ConnectionId> = (0..3)
            .map(|name| {
                let (id, evicted) = enter(&mut room, 1, name);
                assert_eq!(evicted, None);
                assert!(room.befriend(id));
                id
            })
            .collect();
        assert_eq!(room.enter(address(2), 9), Entrance::Full);
        room.leave(friends[0], true);
        assert_eq!(enter(&mut room, 2, 10).1, None);
        // The last place is for one stranger at a time.
        assert_eq!(enter(&mut room, 3, 11).1, Some(10));
    }

    #[test]
    fn who_was_pushed_out_cannot_become_a_friend() {
        let mut room = Room::new(1, 10);
        let (first, _) = enter(&mut room, 1, 0);
        assert_eq!(enter(&mut room, 1, 1).1, Some(0));
        assert!(!room.befriend(first));
    }

    proptest! {
        #[test]
        fn there_are_never_too_many(steps in prop::collection::vec((0u8..5, 0u8..4), 1..200)) {
            let mut room = Room::new(3, 6);
            let mut open = Vec::new();
            for (name, (from, what)) in steps.into_iter().enumerate() {
                match what {
                    0 | 1 => {
                        if let Entrance::In(id, evicted) = room.enter(address(from), name) {
                            open.retain(|&(_, other, _)| Some(other) != evicted);
                            open.push((id, name, false));
                        }
                    }
                    2 => {
                        if let Some(last) = open.last_mut() {
                            prop_assert!(last.2 || room.befriend(last.0));
                            last.2 = true;
                        }
                    }
                    _ => {
                        if !open.is_empty() {
                            let (id, _, friend) = open.remove(from as usize % open.len());
                            room.leave(id, friend);
                        }
                    }
                }
                let friends = open.iter().filter(|(_, _, friend)| *friend).count();
                prop_assert_eq!(room.friends, friends);
                prop_assert_eq!(room.strangers.len(), open.len() - friends);
                prop_assert!(room.strangers.len() <= 3 && open.len() <= 6);
            }
        }
    }
}
