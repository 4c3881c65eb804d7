//! Claims as bytes, and back: what a snapshot holds of them.
//!
//! Layout, little-endian: a version; how many claims there are, then each (key, threshold, whether it
//! holds, who makes it, the work, what stands behind it, and whose word that is); then the keys of
//! the positions that were expanded, up to the end.

use super::claims::{Claim, Claims, Standing};
use super::machine::MachineId;

/// The version of the layout.
const VERSION: u32 = 1;

/// Why bytes are no claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// Another layout.
    #[error("its claims have layout version {0}; this release reads version {VERSION}")]
    Version(u32),
    /// Not as long as they say that they are.
    #[error("its claims are cut off")]
    TooShort,
    /// Something that no claims have.
    #[error("its claims are of machines that it does not have, or stand in no way that there is")]
    Unsound,
}

impl Claims {
    /// The claims as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(VERSION.to_le_bytes());
        out.extend((self.all().count() as u64).to_le_bytes());
        for ((key, threshold), claim) in self.all() {
            let (kind, other) = match claim.standing {
                Standing::Claimed => (0, MachineId::COORDINATOR),
                Standing::Contradicted { by } => (1, by),
                Standing::Confirmed { by } => (2, by),
                Standing::Proved => (3, MachineId::COORDINATOR),
                Standing::Hearsay => (4, MachineId::COORDINATOR),
            };
            out.extend(key.to_le_bytes());
            out.extend([threshold, u8::from(claim.holds), kind]);
            out.extend(claim.by.0.to_le_bytes());
            out.extend(other.0.to_le_bytes());
            out.extend(claim.work.to_le_bytes());
        }
        self.expanded().for_each(|key| out.extend(key.to_le_bytes()));
        out
    }

    /// The claims that were written as `bytes`, by the coordinator and so many machines.
    pub fn from_bytes(bytes: &[u8], machines: usize) -> Result<Claims, ClaimsError> {
        let mut rest = bytes;
        let version = u32::from_le_bytes(take(&mut rest)?);
        if version != VERSION {
            return Err(ClaimsError::Version(version));
        }
        let known = |bytes| {
            let machine = u32::from_le_bytes(bytes);
            let is_known = machine as usize <= machines;
            is_known.then_some(MachineId(machine)).ok_or(ClaimsError::Unsound)
        };
        let mut claims = Claims::default();
        for _ in 0..u64::from_le_bytes(take(&mut rest)?) {
            let key = u128::from_le_bytes(take(&mut rest)?);
            let [threshold, holds, kind] = take(&mut rest)?;
            let (by, other) = (known(take(&mut rest)?)?, known(take(&mut rest)?)?);
            let standing = match kind {
                0 => Standing::Claimed,
                1 => Standing::Contradicted { by: other },
                2 => Standing::Confirmed { by: other },
                3 => Standing::Proved,
                4 => Standing::Hearsay,
                _ => return Err(ClaimsError::Unsound),
            };
            let work = u64::from_le_bytes(take(&mut rest)?);
            claims.insert((key, threshold), Claim { holds: holds != 0, by, work, standing });
        }
        while !rest.is_empty() {
            claims.expand(u128::from_le_bytes(take(&mut rest)?));
        }
        Ok(claims)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], ClaimsError> {
    let (head, tail) = rest.split_first_chunk().ok_or(ClaimsError::TooShort)?;
    *rest = tail;
    Ok(*head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standing() -> impl Strategy<Value = Standing> {
        prop_oneof![
            Just(Standing::Claimed),
            (0u32..4).prop_map(|by| Standing::Contradicted { by: MachineId(by) }),
            (0u32..4).prop_map(|by| Standing::Confirmed { by: MachineId(by) }),
            Just(Standing::Proved),
            Just(Standing::Hearsay),
        ]
    }

    proptest! {
        #[test]
        fn claims_go_through_bytes(
            all in prop::collection::vec(
                (any::<u128>(), any::<u8>(), any::<bool>(), 0u32..4, any::<u64>(), standing()), 0..20),
            expanded in prop::collection::vec(any::<u128>(), 0..20),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut claims = Claims::default();
            for (key, threshold, holds, by, work, standing) in all {
                let claim = Claim { holds, by: MachineId(by), work, standing };
                claims.insert((key, threshold), claim);
            }
            expanded.into_iter().for_each(|key| claims.expand(key));
            let bytes = claims.to_bytes();
            prop_assert_eq!(Claims::from_bytes(&bytes, 3), Ok(claims.clone()));
            // Cut anywhere it is an error, or has fewer positions that were expanded.
            if let Ok(fewer) = Claims::from_bytes(&bytes[..cut.index(bytes.len())], 3) {
                prop_assert!(fewer.all().eq(claims.all()));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Claims::from_bytes(&bytes, 3);
        }
    }

    #[test]
    fn claims_of_nobody_are_refused() {
        let mut claims = Claims::default();
        let (by, standing) = (MachineId(2), Standing::Claimed);
        claims.insert((1, 1), Claim { holds: true, by, work: 1, standing });
        assert_eq!(Claims::from_bytes(&claims.to_bytes(), 1), Err(ClaimsError::Unsound));
    }
}
