//! The host normaliser.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use protocol::Normaliser;

use crate::sample::config;

/// Returns the host of a URL as a careless program would find it, by splitting at the usual characters.
fn careless_host(url: &str) -> &str {
    let rest = &url[url.find(':').unwrap() + 3..];
    let authority = &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap();
    match host.rfind(':') {
        Some(at) if !host.ends_with(']') => &host[..at],
        _ => host,
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn an_accepted_host_is_the_one_that_any_program_connects_to(
        url in prop_oneof![
            "(http|HTTPS|wS)://([aA]|xn--|0x|1|255|\\.|-|_|:|@|%|\\[|\\]|::|/|\\?|#|\\\\|é){1,8}",
            "(http|wss)://[a-zA-Z0-9-]{1,5}(\\.[a-z0-9]{1,4}){0,3}(:(80|443|[0-9]{1,5}))?(/[ -~]{0,8})?",
            "http://[0-9]{1,3}(\\.[0-9]{1,3}){0,4}(:[0-9]{1,6})?/",
            "http://\\[[0-9a-f:.]{2,12}\\](:80)?(/.{0,4})?",
            any::<String>(),
        ]
    ) {
        if let Ok(host) = Normaliser::Host.apply(&url) {
            // A port follows the brackets of an IPv6 address or the only colon of another host.
            let (host, port) = match host.rsplit_once(':') {
                Some((host, port)) if !port.ends_with(']') => (host.to_owned(), Some(port.to_owned())),
                _ => (host, None),
            };
            let authority = url.split("://").nth(1).unwrap().split('/').next().unwrap();
            let typed = authority.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
            let scheme = url.split(':').next().unwrap().to_ascii_lowercase();
            let is_tls = ["https", "wss"].contains(&&*scheme);
            let own = if is_tls { 443 } else { 80 };
            prop_assert_eq!(port, typed.filter(|port| *port != own).map(|port| port.to_string()));
            let careless = careless_host(&url).to_ascii_lowercase();
            if let Some(address) = careless.strip_prefix('[') {
                let address: Ipv6Addr = address.trim_end_matches(']').parse().unwrap();
                prop_assert_eq!(&host, &format!("[{address}]"));
            } else {
                prop_assert_eq!(&host, &careless);
                let last = host.rsplit('.').next().unwrap();
                let is_hexadecimal = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
                if is_hexadecimal || last.bytes().all(|b| b.is_ascii_digit()) {
                    prop_assert_eq!(host.parse::<Ipv4Addr>().unwrap().to_string(), &*host);
                }
            }
            prop_assert_eq!(Normaliser::Host.apply(&format!("https://{host}:1/")).unwrap(), format!("{host}:1"));
            prop_assert_eq!(Normaliser::Host.apply(&format!("wss://{host}:443/")).unwrap(), host);
        }
    }
}
