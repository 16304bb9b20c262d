//! The addresses that are not public.
//!
//! The blocks are those of the registries of special-purpose addresses for [IPv4][v4] and [IPv6][v6] (the latter as updated on
//! 2024-10-22), which [RFC 6890] established, with three differences:
//!
//! - Blocks of services other than documents (AS112, AMT) are refused too, although they are globally reachable.
//! - Of IPv6, only `2000::/3` is assigned for global unicast ([RFC 4291], section 2.4). Every other block is refused, which includes
//!   unspecified, loopback, mapped, compatible, translated, discard-only, segment routing, unique local, link-local, site-local and
//!   multicast addresses.
//! - An address of `64:ff9b::/96` ([RFC 6052]) is public if the IPv4 address in it is: on networks without IPv4, names resolve to these.
//!   `64:ff9b:1::/48` ([RFC 8215]) is local, and refused.
//!
//! [v4]: https://www.iana.org/assignments/iana-ipv4-special-registry
//! [v6]: https://www.iana.org/assignments/iana-ipv6-special-registry
//! [RFC 4291]: https://www.rfc-editor.org/rfc/rfc4291
//! [RFC 6052]: https://www.rfc-editor.org/rfc/rfc6052
//! [RFC 6890]: https://www.rfc-editor.org/rfc/rfc6890
//! [RFC 8215]: https://www.rfc-editor.org/rfc/rfc8215

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const RESERVED_V4: [Ipv4Net; 18] = [
    v4([0, 0, 0, 0], 8),       // this network
    v4([10, 0, 0, 0], 8),      // private use
    v4([100, 64, 0, 0], 10),   // shared address space of carriers
    v4([127, 0, 0, 0], 8),     // loopback
    v4([169, 254, 0, 0], 16),  // link-local, and the metadata services of clouds
    v4([172, 16, 0, 0], 12),   // private use
    v4([192, 0, 0, 0], 24),    // protocol assignments
    v4([192, 0, 2, 0], 24),    // documentation
    v4([192, 31, 196, 0], 24), // AS112
    v4([192, 52, 193, 0], 24), // AMT
    v4([192, 88, 99, 0], 24),  // relays of 6to4
    v4([192, 168, 0, 0], 16),  // private use
    v4([192, 175, 48, 0], 24), // AS112
    v4([198, 18, 0, 0], 15),   // benchmarking
    v4([198, 51, 100, 0], 24), // documentation
    v4([203, 0, 113, 0], 24),  // documentation
    v4([224, 0, 0, 0], 4),     // multicast
    v4([240, 0, 0, 0], 4),     // future use, and broadcast
];

const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0], 3);

const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0], 96);

/// The reserved blocks inside [`GLOBAL_UNICAST`].
const RESERVED_V6: [Ipv6Net; 6] = [
    v6([0x2001, 0, 0], 23), // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, ORCHIDv2, drone identifiers
    v6([0x2001, 0xdb8, 0], 32), // documentation
    v6([0x2002, 0, 0], 16), // 6to4
    v6([0x2620, 0x4f, 0x8000], 48), // AS112
    v6([0x3ffe, 0, 0], 16), // 6bone, returned
    v6([0x3fff, 0, 0], 20), // documentation
];

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6([a, b, c]: [u16; 3], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length)
}

/// Returns true if the address is public: a host of the internet, and of no block for other purposes.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !RESERVED_V4.iter().any(|block| block.contains(&address)),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            is_public(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
        }
        IpAddr::V6(address) => {
            GLOBAL_UNICAST.contains(&address)
                && !RESERVED_V6.iter().any(|block| block.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_last_address_of_each_block_are_refused_and_their_neighbours_are_not() {
        // Neighbours that are in another reserved block, or outside of global unicast, are left out.
        for (first, last, before, after) in [
            ("0.0.0.0", "0.255.255.255", "", "1.0.0.0"),
            ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            (
                "100.64.0.0",
                "100.127.255.255",
                "100.63.255.255",
                "100.128.0.0",
            ),
            (
                "127.0.0.0",
                "127.255.255.255",
                "126.255.255.255",
                "128.0.0.0",
            ),
            (
                "169.254.0.0",
                "169.254.255.255",
                "169.253.255.255",
                "169.255.0.0",
            ),
            (
                "172.16.0.0",
                "172.31.255.255",
                "172.15.255.255",
                "172.32.0.0",
            ),
            ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
            (
                "192.31.196.0",
                "192.31.196.255",
                "192.31.195.255",
                "192.31.197.0",
            ),
            (
                "192.52.193.0",
                "192.52.193.255",
                "192.52.192.255",
                "192.52.194.0",
            ),
            (
                "192.88.99.0",
                "192.88.99.255",
                "192.88.98.255",
                "192.88.100.0",
            ),
            (
                "192.168.0.0",
                "192.168.255.255",
                "192.167.255.255",
                "192.169.0.0",
            ),
            (
                "192.175.48.0",
                "192.175.48.255",
                "192.175.47.255",
                "192.175.49.0",
            ),
            (
                "198.18.0.0",
                "198.19.255.255",
                "198.17.255.255",
                "198.20.0.0",
            ),
            (
                "198.51.100.0",
                "198.51.100.255",
                "198.51.99.255",
                "198.51.101.0",
            ),
            (
                "203.0.113.0",
                "203.0.113.255",
                "203.0.112.255",
                "203.0.114.0",
            ),
            ("224.0.0.0", "255.255.255.255", "223.255.255.255", ""),
            (
                "::",
                "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "",
                "2000::",
            ),
            (
                "2001::",
                "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                "2000:ffff::",
                "2001:200::",
            ),
            (
                "2001:db8::",
                "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001:db7:ffff::",
                "2001:db9::",
            ),
            (
                "2002::",
                "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001:ffff::",
                "2003::",
            ),
            (
                "2620:4f:8000::",
                "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
                "2620:4f:7fff::",
                "2620:4f:8001::",
            ),
            (
                "3ffe::",
                "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "3ffd:ffff::",
                "",
            ),
            (
                "3fff::",
                "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
                "",
                "3fff:1000::",
            ),
            (
                "4000::",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "3fff:ffff::",
                "",
            ),
            (
                "64:ff9b::a00:1",
                "64:ff9b::7f00:1",
                "64:ff9b::9ff:ffff",
                "64:ff9b::8000:0",
            ),
        ] {
            for address in [first, last] {
                assert!(!is_public(address.parse().unwrap()), "{address}");
            }
            for address in [before, after]
                .into_iter()
                .filter(|address| !address.is_empty())
            {
                assert!(is_public(address.parse().unwrap()), "{address}");
            }
        }
    }
}
