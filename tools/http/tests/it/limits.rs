//! Limits of sizes and numbers.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flate2::{Compress, Compression, FlushCompress};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Notify;
use tools_http::{HttpError, HttpLimits, HttpOptions, Request};
use tools_testkit::http::TestServer;

use crate::setup::{get, local, unlimited};

const MIB: usize = 1024 * 1024;

/// Returns a deflate stream of `blocks` times 16 MiB of zeros, piece by piece: a prefix, and a piece to repeat.
fn zeros() -> Vec<u8> {
    let mut compress = Compress::new(Compression::best(), false);
    let mut piece = Vec::with_capacity(MIB);
    compress
        .compress_vec(&vec![0; 16 * MIB], &mut piece, FlushCompress::Full)
        .unwrap();
    piece
}

/// Returns 1 GiB of zeros in brotli: 64 metablocks of 16 MiB.
fn brotli_zeros() -> Vec<u8> {
    let mut compressed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut compressed, MIB, 3, 24);
    let zeros = vec![0; MIB];
    for _ in 0..64 {
        writer.write_all(&zeros).unwrap();
    }
    drop(writer);
    compressed
}

/// Returns the most memory that the process has used, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        * 1024
}

#[tokio::test]
async fn a_bomb_of_10_gb_ends_at_the_limit_with_flat_memory() {
    let (piece, brotli) = (Arc::new(zeros()), Arc::new(brotli_zeros()));
    let server = TestServer::start_streaming(move |request, mut stream| {
        let (piece, brotli) = (piece.clone(), brotli.clone());
        async move {
            let encoding = &request.path()[1..];
            let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\n\r\n");
            let prefix: &[u8] = match encoding {
                "gzip" => b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
                "deflate" => b"\x78\x9c",
                _ => &brotli,
            };
            let _ = stream.write_all(&[head.as_bytes(), prefix].concat()).await;
            for _ in 0..640 {
                if encoding == "br" || stream.write_all(&piece).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    #[cfg(target_os = "linux")]
    let before = peak();
    for encoding in ["gzip", "deflate", "br"] {
        let refused = get(&server, &format!("/{encoding}")).await.unwrap_err();
        assert!(
            matches!(
                refused,
                HttpError::TooLarge {
                    limit: 10_485_760,
                    ..
                }
            ),
            "{encoding} {refused:?}"
        );
    }
    #[cfg(target_os = "linux")]
    assert!(
        peak() - before < 64 * MIB,
        "{} MiB",
        (peak() - before) / MIB
    );
}

#[tokio::test]
async fn an_endless_body_ends_at_the_limit_of_the_request() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = sent.clone();
    let server = TestServer::start_streaming(move |_, mut stream| {
        let sent = counter.clone();
        async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {
                sent.fetch_add(4096, Ordering::SeqCst);
            }
        }
    })
    .await;
    let request = Request::get(&server.url("/"))
        .unwrap()
        .with_max_body_bytes(100_000);
    let refused = local(HttpLimits::default())
        .send(&unlimited(), request)
        .await
        .unwrap_err();
    assert!(matches!(
        refused,
        HttpError::TooLarge { limit: 100_000, .. }
    ));
    assert!(sent.load(Ordering::SeqCst) < 64 * MIB);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read_and_a_longer_one_is_refused_before_it_is() {
    let server = TestServer::start(|request| {
        let mut answer = TestServer::ok("text/plain", "");
        let length: usize = request.path()[1..].parse().unwrap();
        let head = String::from_utf8(answer.clone())
            .unwrap()
            .replace("length: 0", &format!("length: {length}"));
        answer = head.into_bytes();
        // A body that is too long is only promised.
        answer.extend(vec![b'x'; if length <= 1000 { length } else { 0 }]);
        answer
    })
    .await;
    let request = |length| {
        Request::get(&server.url(&format!("/{length}")))
            .unwrap()
            .with_max_body_bytes(1000)
    };
    let client = local(HttpLimits::default());
    assert_eq!(
        client
            .send(&unlimited(), request(1000))
            .await
            .unwrap()
            .body
            .len(),
        1000
    );
    assert!(matches!(
        client.send(&unlimited(), request(1001)).await,
        Err(HttpError::TooLarge { limit: 1000, .. })
    ));
    // A request cannot raise the limit of the options.
    let mut limits = HttpLimits::default();
    limits.max_body_bytes = 999;
    let refused = local(limits).send(&unlimited(), request(1000)).await;
    assert!(matches!(
        refused,
        Err(HttpError::TooLarge { limit: 999, .. })
    ));
}

#[tokio::test]
async fn headers_have_a_size_and_a_number() {
    let server = TestServer::start(|request| {
        let (number, length) = request.path()[1..].split_once('/').unwrap();
        let value = "x".repeat(length.parse().unwrap());
        let headers: String = (1..number.parse().unwrap())
            .map(|n: usize| format!("x-{n}: {value}\r\n"))
            .collect();
        format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n").into_bytes()
    })
    .await;
    for fits in ["/100/10", "/10/5000"] {
        get(&server, fits).await.unwrap();
    }
    for too_many in ["/101/10", "/300/10", "/10/10000", "/2/70000"] {
        let refused = get(&server, too_many).await.unwrap_err();
        assert!(
            matches!(refused, HttpError::Headers { limit: 65536, .. }),
            "{too_many} {refused:?}"
        );
    }
    // The library's own limits come first for these.
    for far_too_many in ["/1000/10", "/10/100000"] {
        let refused = get(&server, far_too_many).await.unwrap_err();
        assert!(
            matches!(refused, HttpError::Invalid { .. }),
            "{far_too_many} {refused:?}"
        );
    }
}

#[tokio::test]
async fn concurrent_requests_of_a_client_and_its_siblings_are_limited_per_host_and_in_all() {
    let (running, most, release) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(Notify::new()),
    );
    let start = || {
        let (running, most, release) = (running.clone(), most.clone(), release.clone());
        TestServer::start_streaming(move |_, mut stream| {
            let (running, most, release) = (running.clone(), most.clone(), release.clone());
            async move {
                // The body counts: the headers are sent at once.
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n")
                    .await;
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                release.notified().await;
                running.fetch_sub(1, Ordering::SeqCst);
                let _ = stream.write_all(b"x").await;
            }
        })
    };
    let (one, two) = (start().await, start().await);
    let mut limits = HttpLimits::default();
    (limits.max_connections, limits.max_connections_per_host) = (3, 2);
    let client = local(limits);
    // The sibling has other options. Their limits have no effect.
    let sibling = client
        .new_sibling(HttpOptions {
            private_hosts: vec!["127.0.0.1".into()],
            ..HttpOptions::default()
        })
        .unwrap();
    for (clients, hosts, expected) in [
        (vec![&client], vec![&one], 2),
        (vec![&client], vec![&one, &two], 3),
        (
            vec![&client, &sibling, &client.new_session()],
            vec![&one],
            2,
        ),
        (
            vec![&client, &sibling, &client.new_session()],
            vec![&one, &two],
            3,
        ),
    ] {
        most.store(0, Ordering::SeqCst);
        let mut requests = tokio::task::JoinSet::new();
        for number in 0..12 {
            let request = Request::get(&hosts[number % hosts.len()].url("/")).unwrap();
            let client = clients[number % clients.len()].clone();
            requests.spawn(async move { client.send(&unlimited(), request).await.unwrap() });
        }
        for done in 0..12 {
            while running.load(Ordering::SeqCst) < if done == 0 { expected } else { 1 } {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            release.notify_one();
            requests.join_next().await.unwrap().unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test]
async fn waiting_for_a_connection_counts_as_time() {
    let server = TestServer::start_streaming(|_, stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let mut limits = HttpLimits::default();
    (limits.max_connections, limits.total) = (1, Duration::from_secs(1));
    let client = local(limits);
    let request = || Request::get(&server.url("/")).unwrap();
    let (cx, start) = (unlimited(), Instant::now());
    let (first, second) = tokio::join!(client.send(&cx, request()), client.send(&cx, request()));
    assert!(matches!(
        (first, second),
        (Err(HttpError::Time { .. }), Err(HttpError::Time { .. }))
    ));
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}
