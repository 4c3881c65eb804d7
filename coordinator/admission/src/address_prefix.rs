//! The part of an address by which connections and refusals are counted.

use std::net::{IpAddr, Ipv6Addr};

/// A whole address of IPv4, or the first 64 bits of one of IPv6: who owns one address of those owns all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressPrefix(IpAddr);

impl AddressPrefix {
    /// The prefix of an address. One of IPv4 that is written as IPv6 is one of IPv4.
    pub fn of(address: IpAddr) -> AddressPrefix {
        AddressPrefix(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_of_version_6_have_one_prefix() {
        let prefix = |text: &str| AddressPrefix::of(text.parse().expect("an address"));
        assert_eq!(prefix("2001:db8::1"), prefix("2001:db8::ffff:1:2"));
        assert_ne!(prefix("2001:db8::1"), prefix("2001:db8:0:1::1"));
        assert_eq!(prefix("::ffff:10.0.0.1"), prefix("10.0.0.1"));
        assert_ne!(prefix("10.0.0.1"), prefix("10.0.0.2"));
    }
}
