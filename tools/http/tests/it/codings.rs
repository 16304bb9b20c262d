//! Content codings, as servers name them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use tokio::io::AsyncWriteExt as _;
use tools_http::{HttpError, HttpLimits, Request, Response};
use tools_testkit::http::TestServer;

use crate::setup::{get, local, unlimited};

const TEXT: &str = "<p>A page with more than a few words, words, words, words.</p>";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    brotli::CompressorWriter::new(&mut compressed, 4096, 5, 22)
        .write_all(bytes)
        .unwrap();
    compressed
}

#[tokio::test]
async fn a_text_is_unpacked_that_is_packed_without_a_name_or_once_more_and_an_archive_is_kept() {
    let text = TEXT.as_bytes();
    for kind in [
        "text/html; charset=utf-8",
        "application/json",
        "application/rss+xml",
    ] {
        let kind = format!("content-type: {kind}\r\n");
        for (coding, body) in [
            ("", gzip(text)),
            ("", gzip(&gzip(text))),
            ("content-encoding: gzip\r\n", gzip(&gzip(text))),
            ("content-encoding: br\r\n", brotli(&gzip(text))),
            ("", text.to_vec()),
        ] {
            let answer = answer(&format!("{kind}{coding}"), body).await.unwrap();
            assert_eq!(
                (&*answer.body, answer.is_cut),
                (text, false),
                "{kind}{coding}"
            );
        }
    }
    for kind in [
        "",
        "content-type: application/gzip\r\n",
        "content-type: application/octet-stream\r\n",
    ] {
        let archive = gzip(text);
        assert_eq!(
            answer(kind, archive.clone()).await.unwrap().body,
            archive,
            "{kind}"
        );
    }
}

/// Starts a server whose answers have this body, and headers beside its length.
async fn serving(headers: &str, body: Vec<u8>) -> TestServer {
    let head = format!(
        "HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    TestServer::start(move |_| [head.as_bytes(), &body].concat()).await
}

async fn answer(headers: &str, body: Vec<u8>) -> Result<Response, HttpError> {
    get(&serving(headers, body).await, "/").await
}

#[tokio::test]
async fn codings_are_undone_under_all_of_their_names() {
    let text = TEXT.as_bytes();
    for (headers, body) in [
        ("content-encoding: gzip\r\n", gzip(text)),
        ("Content-Encoding: X-GZIP\r\n", gzip(text)),
        ("content-encoding: gzip, gzip\r\n", gzip(&gzip(text))),
        (
            "content-encoding: gzip\r\ncontent-encoding: br\r\n",
            brotli(&gzip(text)),
        ),
        (
            "content-encoding: deflate,identity , x-gzip\r\n",
            gzip(&zlib(text)),
        ),
        (
            "content-encoding: gzip\r\n",
            [gzip(&text[..9]), gzip(&text[9..])].concat(),
        ),
        ("content-encoding: deflate\r\n", zlib(text)),
        ("content-encoding: deflate\r\n", deflate(text)),
        ("content-encoding: br\r\n", brotli(text)),
        ("content-encoding: identity\r\n", text.to_vec()),
        ("content-encoding: \r\n", text.to_vec()),
        // Named, and not applied.
        ("content-encoding: gzip\r\n", text.to_vec()),
        ("content-encoding: gzip, gzip\r\n", gzip(text)),
    ] {
        let answer = answer(headers, body).await.unwrap();
        assert_eq!((&*answer.body, answer.is_cut), (text, false), "{headers}");
        assert!(
            !answer.headers.contains_key("content-encoding")
                || headers.contains(": identity")
                || headers.len() < 22
        );
    }
    for body in [Vec::new(), gzip(b"")] {
        assert_eq!(
            answer("content-encoding: gzip\r\n", body)
                .await
                .unwrap()
                .body,
            ""
        );
    }
}

#[tokio::test]
async fn an_unknown_coding_is_an_error_that_names_it() {
    for (names, named) in [
        ("zstd", "zstd"),
        ("gzip, x-own", "x-own"),
        ("gzip,gzip,gzip,gzip,gzip", "5 content codings"),
    ] {
        let invalid = answer(&format!("content-encoding: {names}\r\n"), gzip(b"text"))
            .await
            .unwrap_err();
        assert!(
            matches!(&invalid, HttpError::Invalid { reason, .. } if reason.contains(named)),
            "{invalid:?}"
        );
    }
}

#[tokio::test]
async fn the_beginning_of_data_that_ends_early_is_kept_and_marked_but_not_in_the_cache() {
    let text = (0..9_000)
        .map(|line| format!("line {line}\n"))
        .collect::<String>();
    for (coding, body) in [
        ("gzip", gzip(text.as_bytes())),
        ("br", brotli(text.as_bytes())),
        ("deflate", zlib(text.as_bytes())),
    ] {
        let cut = body[..body.len() / 2].to_vec();
        let server = serving(
            &format!("cache-control: max-age=600\r\ncontent-encoding: {coding}\r\n"),
            cut,
        )
        .await;
        let client = local(HttpLimits::default());
        for _ in 0..2 {
            let answer = client
                .send(&unlimited(), Request::get(&server.url("/")).unwrap())
                .await
                .unwrap();
            assert!(answer.is_cut && answer.body.len() > 1000, "{coding}");
            assert!(text.as_bytes().starts_with(&answer.body));
            assert!(
                answer
                    .json::<serde_json::Value>()
                    .unwrap_err()
                    .to_string()
                    .contains("ends early")
            );
        }
        assert_eq!(server.received().len(), 2);
    }
    let nothing = answer("content-encoding: gzip\r\n", gzip(b"text")[..5].to_vec()).await;
    assert!(
        matches!(nothing, Err(HttpError::Invalid { .. })),
        "{nothing:?}"
    );
}

#[tokio::test]
async fn a_stream_gives_compressed_parts_as_they_arrive() {
    let server = TestServer::start_streaming(|_, mut stream| async move {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-encoding: x-gzip\r\n\r\n")
            .await
            .unwrap();
        for part in ["one", "two"] {
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.flush().unwrap();
            let bytes = std::mem::take(encoder.get_mut());
            // The first bytes, by which the form is known, arrive one by one.
            for byte in bytes {
                stream.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
        std::future::pending::<()>().await;
    })
    .await;
    let client = local(HttpLimits::default());
    let mut stream = client
        .stream(&unlimited(), Request::get(&server.url("/")).unwrap())
        .await
        .unwrap();
    let mut read = Vec::new();
    while read.len() < 6 {
        read.extend(stream.chunk().await.unwrap().unwrap());
    }
    assert_eq!(read, b"onetwo");
}
