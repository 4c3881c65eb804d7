//! The header of a journal as bytes, for `solve.json` and for the first frame of each segment.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Header;

/// The version of the journal's format.
pub const FORMAT: u64 = 1;

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// They are damaged.
    Damaged,
    /// They are of another version.
    Version(u64),
}

#[derive(Serialize, Deserialize)]
struct StoredHeader {
    format: u64,
    solve: String,
    facts: Facts,
    /// The CRC-32 of everything else, so that a changed letter is not taken for another game.
    check: String,
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

/// Names and values, as a JSON object that keeps their order.
#[derive(Clone)]
struct Facts(Vec<(String, String)>);

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Facts, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Facts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Facts, A::Error> {
                let mut facts = Vec::new();
                while let Some(fact) = map.next_entry()? {
                    facts.push(fact);
                }
                Ok(Facts(facts))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The header for people and programs.
pub(super) fn encode(header: &Header) -> Vec<u8> {
    let identity = StoredHeader {
        format: FORMAT,
        solve: header.solve_id.clone(),
        facts: Facts(header.facts.clone()),
        check: check(header),
    };
    let mut json = serde_json::to_vec_pretty(&identity).expect("strings are valid JSON");
    json.push(b'\n');
    json
}

/// The header that was encoded, if it is whole.
pub(super) fn decode(json: &[u8]) -> Result<Header, Unreadable> {
    let version: Version = serde_json::from_slice(json).map_err(|_| Unreadable::Damaged)?;
    if version.format != FORMAT {
        return Err(Unreadable::Version(version.format));
    }
    let identity: StoredHeader = serde_json::from_slice(json).map_err(|_| Unreadable::Damaged)?;
    let header = Header { solve_id: identity.solve, facts: identity.facts.0 };
    if identity.check == check(&header) { Ok(header) } else { Err(Unreadable::Damaged) }
}

/// What is not the same in the facts of two headers; `None` if all is.
pub(super) fn difference(stored: &Header, given: &Header) -> Option<String> {
    if stored.facts == given.facts {
        return None;
    }
    let value = |header: &Header, name: &str| {
        header.facts.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    };
    for (name, _) in stored.facts.iter().chain(&given.facts) {
        let said = match (value(stored, name), value(given, name)) {
            (Some(stored), Some(given)) if stored != given => {
                format!("its {name} is {stored}, not {given}")
            }
            (Some(stored), None) => format!("its {name} is {stored}, and now none is given"),
            (None, Some(given)) => format!("it has no {name}, and now {given} is given"),
            _ => continue,
        };
        return Some(said);
    }
    Some("what it says of its solve is in another order".to_owned())
}

fn check(header: &Header) -> String {
    let json = serde_json::to_vec(&(FORMAT, &header.solve_id, &header.facts))
        .expect("strings are valid JSON");
    format!("{:08x}", crc32fast::hash(&json))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(facts: &[(&str, &str)]) -> Header {
        let own = |text: &str| text.to_owned();
        let facts = facts.iter().map(|(name, value)| (own(name), own(value))).collect();
        Header { solve_id: own("s-1"), facts }
    }

    #[test]
    fn differences_are_told_by_name() {
        let stored = header(&[("game", "connect4:6x5"), ("goal", ">=draw")]);
        let told = |facts: &[(&str, &str)]| difference(&stored, &header(facts));
        assert_eq!(told(&[("game", "connect4:6x5"), ("goal", ">=draw")]), None);
        assert_eq!(
            told(&[("game", "connect4:7x6"), ("goal", ">=draw")]).as_deref(),
            Some("its game is connect4:6x5, not connect4:7x6")
        );
        assert_eq!(
            told(&[("game", "connect4:6x5")]).as_deref(),
            Some("its goal is >=draw, and now none is given")
        );
        assert!(told(&[("goal", ">=draw"), ("game", "connect4:6x5")]).is_some());
    }

    #[test]
    fn another_version_is_told() {
        assert_eq!(decode(b"{\"format\": 2, \"new\": []}"), Err(Unreadable::Version(2)));
        assert_eq!(decode(b""), Err(Unreadable::Damaged));
    }

    proptest! {
        #[test]
        fn headers_come_back_and_damage_is_seen(
            solve_id in any::<String>(),
            facts in prop::collection::vec(any::<(String, String)>(), 0..4),
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let header = Header { solve_id, facts };
            let mut json = encode(&header);
            prop_assert_eq!(decode(&json), Ok(header.clone()));
            let place = place.index(json.len());
            json[place] = byte;
            if let Ok(other) = decode(&json) {
                prop_assert_eq!(other, header);
            }
        }
    }
}
