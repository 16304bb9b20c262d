//! The address filter against listeners that must not be reached.
//!
//! Each reserved block in each spelling: in a URL, in a redirect, and behind a name. A spelling must be refused as a URL or as an
//! address, before anything is dialled. The listener takes connections on every address of the machine, so that each spelling of
//! `127.0.0.0/8`, `::1`, `0.0.0.0` and `::` would reach it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tools::Host;
use tools::protocol::Normaliser;
use tools_http::{HttpClient, HttpError, HttpLimits, HttpOptions, Request};
use tools_testkit::http::{TestResolver, TestServer};

use crate::setup::granted;

/// Addresses of every block of the IANA registries: the first, the last, and well-known ones.
const RESERVED: [&str; 82] = [
    "0.0.0.0",
    "0.0.0.1",
    "0.255.255.255",
    "10.0.0.0",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "100.100.100.200",
    "127.0.0.0",
    "127.0.0.1",
    "127.0.1.1",
    "127.1.2.3",
    "127.255.255.254",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.17.0.1",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.8",
    "192.0.0.170",
    "192.0.0.255",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.1.1",
    "192.168.255.255",
    "192.175.48.1",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::2",
    "::7f00:1",
    "::ffff:7f00:1",
    "::ffff:a00:1",
    "::ffff:0:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1::1",
    "100::",
    "100::1",
    "100:0:0:1::1",
    "200::1",
    "400::1",
    "1000::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:1::1",
    "2001:2::1",
    "2001:3::1",
    "2001:4:112::1",
    "2001:10::1",
    "2001:20::1",
    "2001:30::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2620:4f:8000::1",
    "3ffe::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "8000::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
];

/// Returns the hosts of URLs that programs read as this address.
fn spellings(address: IpAddr) -> Vec<String> {
    match address {
        IpAddr::V4(address) => v4_spellings(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h] = address.segments();
            let [.., w, x, y, z] = address.octets();
            let full = format!("{a:04x}:{b:04x}:{c:04x}:{d:04x}:{e:04x}:{f:04x}:{g:04x}:{h:04x}");
            let plain = format!("{a:x}:{b:x}:{c:x}:{d:x}:{e:x}:{f:x}:{g:x}:{h:x}");
            let dotted = format!("{a:x}:{b:x}:{c:x}:{d:x}:{e:x}:{f:x}:{w}.{x}.{y}.{z}");
            let mut found = vec![
                format!("[{address}]"),
                format!("[{full}]"),
                format!("[{plain}]"),
                format!("[{dotted}]"),
                format!("[{}]", full.to_uppercase()),
                format!("[{address}%25lo]"),
                format!("[{address}%lo]"),
                format!("%5B{address}%5D"),
                format!("[{address}]."),
                format!("[v1.{address}]"),
                format!("user@[{address}]"),
            ];
            found.extend(address.to_ipv4().map(v4_spellings).unwrap_or_default());
            found
        }
    }
}

fn v4_spellings(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let (number, low24, low16) = (
        u32::from(address),
        u32::from_be_bytes([0, b, c, d]),
        u32::from_be_bytes([0, 0, c, d]),
    );
    let text = address.to_string();
    let wide = |digits: &str, from: char| {
        digits
            .chars()
            .map(|c| match c.to_digit(10) {
                Some(digit) => char::from_u32(from as u32 + digit).unwrap(),
                None => c,
            })
            .collect::<String>()
    };
    vec![
        text.clone(),
        format!("{number}"),
        format!("{number:#x}"),
        format!("{number:#X}"),
        format!("0{number:o}"),
        format!("{a}.{low24}"),
        format!("{a}.{b}.{low16}"),
        format!("{a:#x}.{low24:#x}"),
        format!("0{a:o}.0{low24:o}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("{a:#x}.{b}.0{c:o}.{d}"),
        format!("{a:#x}.0{b:o}.{low16}"),
        format!("000{a:o}.{b}.{c}.{d}"),
        format!("{a:03}.{b:03}.{c:03}.{d:03}"),
        format!("{text}."),
        format!("{number}."),
        format!("{a}..{b}.{c}.{d}"),
        format!("{}", u64::from(number) + (1 << 32)),
        format!("{}.{b}.{c}.{d}", u32::from(a) + 256),
        text.replace('.', "%2e"),
        text.replace('.', "\u{3002}"),
        text.replace('.', "\u{ff0e}"),
        text.replace('.', "\u{ff61}"),
        wide(&text, '\u{ff10}'),
        wide(&text, '\u{1d7ce}'),
        text.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        format!("{a}\u{ad}.{b}.{c}.{d}"),
        format!("{text}%00.example.org"),
        format!("{text}\\@example.org"),
        format!("example.org@{text}"),
        format!("example.org:80@{text}"),
        format!("{text}\t"),
        format!("\t{text}"),
        format!("[::ffff:{text}]"),
        format!("[::{text}]"),
        format!("[::ffff:0:{text}]"),
        format!("[64:ff9b::{text}]"),
        format!("[64:ff9b:1::{text}]"),
        format!(
            "[2002:{:x}:{:x}::]",
            u16::from_be_bytes([a, b]),
            u16::from_be_bytes([c, d])
        ),
        format!(
            "[2001:0:{:x}:{:x}::]",
            u16::from_be_bytes([a, b]),
            u16::from_be_bytes([c, d])
        ),
    ]
}

/// Returns a context with a grant that names the host of each URL, so that only the address filter stands in the way.
fn naming<'a>(urls: impl IntoIterator<Item = &'a str>) -> Host {
    let clauses: Vec<_> = urls
        .into_iter()
        .filter_map(|url| Normaliser::Host.apply(url).ok())
        .map(|host| format!("net:read:{}", host.replace('[', "\\[").replace(']', "\\]")))
        .collect();
    granted(clauses.iter().map(|clause| &**clause))
}

fn quick() -> HttpLimits {
    let mut limits = HttpLimits::default();
    (limits.first_byte, limits.total) = (Duration::from_secs(5), Duration::from_secs(5));
    limits
}

/// Counts refusals; anything else than a refused URL or address fails.
fn refused(url: &str, answered: Result<tools_http::Response, HttpError>) {
    let is_refused = matches!(
        answered,
        Err(HttpError::Url { .. } | HttpError::Address { .. })
    );
    assert!(is_refused, "{url:?} was not refused: {answered:?}");
}

async fn forbidden() -> TestServer {
    // One socket for both families, or for IPv4 alone where there is no IPv6.
    let address = if std::net::TcpListener::bind("[::]:0").is_ok() {
        "[::]:0"
    } else {
        "0.0.0.0:0"
    };
    TestServer::start_at(address, |_| TestServer::ok("text/plain", "reached")).await
}

#[tokio::test]
async fn no_spelling_of_a_reserved_address_is_dialled() {
    let listener = forbidden().await;
    let port = listener.address().port();
    let client = HttpClient::from_options(HttpOptions {
        limits: quick(),
        ..HttpOptions::default()
    })
    .unwrap();
    let mut urls = Vec::new();
    for host in RESERVED
        .iter()
        .flat_map(|address| spellings(address.parse().unwrap()))
    {
        urls.extend([
            format!("http://{host}:{port}/"),
            format!("http://{host}/"),
            format!("https://{host}:{port}/x?y#z"),
        ]);
    }
    for url in &urls {
        match Request::get(url) {
            Ok(request) => refused(url, client.send(&naming([&**url]), request).await),
            Err(error) => refused(url, Err(error)),
        }
    }
    println!(
        "direct: {} URLs of {} reserved addresses, {} connections",
        urls.len(),
        RESERVED.len(),
        listener.connections()
    );
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn no_redirect_to_a_reserved_address_is_dialled() {
    let listener = forbidden().await;
    let port = listener.address().port();
    // The path says where to: its bytes in hexadecimal, so that the location is sent as it is.
    let server = TestServer::start(|request| {
        let location = data_encoding::HEXLOWER
            .decode(&request.path().as_bytes()[1..])
            .unwrap();
        [
            b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: ",
            &location[..],
            b"\r\n\r\n",
        ]
        .concat()
    })
    .await;
    let start = server.address();
    let options = HttpOptions {
        private_hosts: vec![start.to_string()],
        limits: quick(),
        ..HttpOptions::default()
    };
    let client = HttpClient::from_options(options).unwrap();
    let mut count = 0;
    for host in RESERVED
        .iter()
        .flat_map(|address| spellings(address.parse().unwrap()))
    {
        for location in [
            format!("http://{host}:{port}/"),
            format!("//{host}:{port}/"),
            format!("/\\{host}:{port}/"),
        ] {
            let url = format!(
                "http://{start}/{}",
                data_encoding::HEXLOWER.encode(location.as_bytes())
            );
            let cx = naming([&*url, &format!("http://{host}:{port}/")]);
            refused(
                &location,
                client.send(&cx, Request::get(&url).unwrap()).await,
            );
            count += 1;
        }
    }
    println!(
        "redirects: {count} locations, {} connections",
        listener.connections()
    );
    assert_eq!(
        (listener.connections(), server.received().len()),
        (0, count)
    );
}

#[tokio::test]
async fn no_name_of_a_reserved_address_is_dialled() {
    let listener = forbidden().await;
    let port = listener.address().port();
    let public: SocketAddr = "[2000::1]:0".parse().unwrap();
    let mut count = 0;
    for address in RESERVED {
        let reserved = SocketAddr::new(address.parse().unwrap(), 0);
        // Alone, among public ones, and with the port of the listener.
        for answer in [
            vec![reserved],
            vec![public, reserved],
            vec![reserved, public],
            vec![SocketAddr::new(reserved.ip(), port)],
        ] {
            let resolver = Arc::new(TestResolver::new().with_answers("name.example", [answer]));
            let client = HttpClient::from_options(
                // An address that the options name permits no name that resolves to it.
                HttpOptions {
                    resolver: Some(resolver),
                    limits: quick(),
                    private_hosts: vec![address.into()],
                    ..HttpOptions::default()
                },
            )
            .unwrap();
            for url in [
                format!("http://name.example:{port}/"),
                "http://name.example/".to_owned(),
            ] {
                let answered = client
                    .send(&naming([&*url]), Request::get(&url).unwrap())
                    .await;
                assert!(
                    matches!(answered, Err(HttpError::Address { .. })),
                    "{address} {answered:?}"
                );
                let told = answered.unwrap_err().to_string();
                assert!(!told.contains(address), "{told}");
                count += 1;
            }
        }
    }
    println!(
        "names: {count} requests, {} connections",
        listener.connections()
    );
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_between_check_and_dial_does_not_help() {
    let listener = forbidden().await;
    let port = listener.address().port();
    let url = format!("http://name.example:{port}/");
    // An address of the internet that is assigned to nobody.
    let (public, loopback) = (
        "[2000::1]:0".parse().unwrap(),
        SocketAddr::from(([127, 0, 0, 1], 0)),
    );
    let mut limits = quick();
    limits.first_byte = Duration::from_millis(300);
    let mut lookups = 0;
    for answers in [
        [vec![public], vec![loopback], vec![loopback]],
        [vec![public], vec![public], vec![loopback]],
        [vec![loopback], vec![public], vec![loopback]],
    ] {
        let expected: Vec<_> = answers.iter().map(|answer| answer[0] == loopback).collect();
        let resolver = Arc::new(TestResolver::new().with_answers("name.example", answers));
        let options = HttpOptions {
            resolver: Some(resolver.clone()),
            limits: limits.clone(),
            ..HttpOptions::default()
        };
        let client = HttpClient::from_options(options).unwrap();
        for is_refused in expected {
            let answered = client
                .send(&naming([&*url]), Request::get(&url).unwrap())
                .await;
            assert_eq!(
                matches!(answered, Err(HttpError::Address { .. })),
                is_refused,
                "{answered:?}"
            );
            assert!(answered.is_err());
        }
        // One lookup for each request: the addresses that were checked are those that were dialled.
        assert_eq!(resolver.lookups().len(), 3);
        lookups += 3;
    }
    println!(
        "rebinding: {lookups} lookups, {} connections",
        listener.connections()
    );
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn without_the_filter_the_same_probes_reach_the_listener() {
    let listener = forbidden().await;
    let port = listener.address().port();
    // The options name loopback addresses, and names that resolve to them.
    let resolver =
        TestResolver::new().with_name("name.example", SocketAddr::from(([127, 0, 0, 1], 0)));
    let options = HttpOptions {
        private_hosts: vec!["127.0.0.0/8".into(), "name.example".into()],
        resolver: Some(Arc::new(resolver)),
        limits: quick(),
        ..HttpOptions::default()
    };
    let client = HttpClient::from_options(options).unwrap();
    for host in ["127.0.0.1", "127.1.2.3", "name.example"] {
        let url = format!("http://{host}:{port}/");
        let answered = client
            .send(&naming([&*url]), Request::get(&url).unwrap())
            .await
            .unwrap();
        assert_eq!(&answered.body[..], b"reached", "{url}");
    }
    let named = listener.connections();
    // A client without a filter reads many of the spellings as loopback.
    let bare = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(2))
        .build()
        .unwrap();
    let mut reached = 0;
    for host in v4_spellings(Ipv4Addr::LOCALHOST) {
        reached += usize::from(
            bare.get(format!("http://{host}:{port}/"))
                .send()
                .await
                .is_ok(),
        );
    }
    println!(
        "control: {named} connections by name and address, {reached} spellings through a bare client"
    );
    assert!(named == 3 && reached >= 15, "{named} {reached}");
}
