//! Hostile pages cost little memory and no stack. Quadratic work would take hours on them. The test has a process of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;

use tools_http::HttpLimits;
use tools_web::{Document, Format, Source};

/// The size of the largest page that the client downloads, in bytes.
const LARGE: usize = 10 * 1024 * 1024;

/// The size of pages with many short parts, in bytes. For a large one of them, a debug build takes several seconds.
const SMALL: usize = 500_000;

/// The limit of the peak memory, in KiB. A large page is in memory as bytes, in parts and as Markdown of up to four times its length.
const MOST: u64 = 272 * 1024;

/// The limit of the peak memory before the first large document, in KiB.
const MOST_OF_SMALL: u64 = 96 * 1024;

/// The beginning of a feed.
const JSON_FEED: &str = r#"{"version":"https://jsonfeed.org/version/1","#;

/// A function that makes a page.
type Page = fn() -> String;

/// Repeats a piece up to a size.
fn times(size: usize, piece: &str) -> String {
    piece.repeat(size / piece.len())
}

/// Returns different attributes.
fn attributes() -> String {
    (0..LARGE / 16)
        .map(|at| format!("a{at}=\"{at}\" "))
        .collect()
}

/// Returns hostile pages, each by a function, so that only one is in memory.
fn pages() -> Vec<(&'static str, Page)> {
    vec![
        ("nesting of 100,000", || {
            format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000))
        }),
        ("attributes", || format!("<p {}>x", attributes())),
        ("a long attribute", || {
            format!("<a href=\"{}\">x</a>", "x".repeat(LARGE))
        }),
        ("the same attribute", || {
            format!("<a {}>x</a>", times(LARGE, "href=\"x\" "))
        }),
        ("brackets", || "<".repeat(SMALL)),
        ("ampersands", || "&".repeat(SMALL)),
        ("references", || times(SMALL, "&notit;&amp")),
        ("unclosed comments", || times(LARGE, "<!-- -")),
        ("unclosed sections", || times(LARGE, "<svg><![CDATA[")),
        ("unclosed scripts", || times(LARGE, "<script><!--<script>")),
        ("unclosed titles", || times(LARGE, "<title>")),
        ("end tags of scripts", || {
            format!("<style>{}", times(LARGE, "</styl "))
        }),
        ("unclosed marks", || times(SMALL, "<b>x<i>y")),
        ("marks with attributes", || {
            (0..SMALL / 20)
                .map(|at| format!("<font color={at}><a>x"))
                .collect()
        }),
        ("links to a long base", || {
            format!(
                "<base href='/{}'>{}",
                "x".repeat(4000),
                times(SMALL, "<a href=y>z</a>")
            )
        }),
        ("quotes", || times(SMALL, "<blockquote>x")),
        ("line breaks in quotes", || {
            format!("{}{}", "<blockquote>".repeat(20), times(SMALL, "x<br>"))
        }),
        ("lines of code in lists", || {
            format!(
                "{}<pre>{}x",
                "<ol start=99999999><li>".repeat(20),
                "\n".repeat(SMALL)
            )
        }),
        ("empty lines of code in lists", || {
            format!(
                "{}<pre>x{}x",
                "<ol start=99999999><li>".repeat(12),
                "\n".repeat(LARGE)
            )
        }),
        ("lists", || times(SMALL, "<ul><li>x")),
        ("items of deep lists", || {
            format!("{}{}", "<ul>".repeat(250), times(SMALL, "<li>x"))
        }),
        ("tables", || times(SMALL, "<table><tr><td>x")),
        ("spans", || {
            format!(
                "<table>{}",
                times(LARGE, "<tr><td rowspan=1000 colspan=1000>x")
            )
        }),
        ("rows", || {
            format!(
                "<table><tr>{}{}",
                "<td rowspan=1000>".repeat(64),
                times(SMALL, "<tr><td>x")
            )
        }),
        ("columns", || {
            format!("<table><tr>{}", times(SMALL, "<td>x"))
        }),
        ("end tags out of scope", || {
            format!(
                "<p>x<table><tr><td>{}{}",
                "<section>".repeat(240),
                times(SMALL, "</p>")
            )
        }),
        ("definitions", || {
            format!("{}{}", "<dl>".repeat(250), times(SMALL, "<dt>x<dd>y"))
        }),
        ("code", || times(SMALL, "<code>`")),
        ("backticks", || {
            format!("<code>{}</code>", "`".repeat(LARGE))
        }),
        ("formulas", || {
            format!("{}{}", "<math>".repeat(250), times(SMALL, "<mi>x</mi>"))
        }),
        ("main parts", || times(SMALL, "<main>x</main>")),
        ("names", || format!("<{}>", "a".repeat(LARGE))),
        ("null characters", || "\0".repeat(SMALL)),
        ("white space", || " ".repeat(LARGE)),
    ]
}

/// Returns hostile documents other than pages, with their media types.
fn documents() -> Vec<(&'static str, &'static str, Page)> {
    let (json, json_feed) = ("application/json", "application/feed+json");
    let (xml, rss, atom) = (
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
    );
    vec![
        (json, "nested lists", || "[".repeat(LARGE)),
        (json, "items of nested lists", || {
            format!("{}{}", "[".repeat(100), times(LARGE, "1,"))
        }),
        (json, "texts", || format!("[{}0]", times(LARGE, "\"x\","))),
        (xml, "nested elements", || times(LARGE, "<a>")),
        (xml, "elements", || {
            format!("<a>{}</a>", times(SMALL, "<b>x</b>"))
        }),
        (xml, "attributes", || format!("<a {}/>", attributes())),
        (rss, "titles", || {
            format!("<rss><channel>{}", times(SMALL, "<item><title>&lt;b&gt;"))
        }),
        (rss, "items", || {
            format!("<rss><channel>{}", times(LARGE, "<item/>"))
        }),
        (rss, "a description", || {
            format!("<rss><item><description>{}", times(LARGE, "&lt;b&gt;"))
        }),
        (json_feed, "empty items", || {
            format!("{JSON_FEED}\"items\":[{}{{}}]}}", times(LARGE, "{},"))
        }),
        (json_feed, "items", || {
            format!(
                "{JSON_FEED}\"items\":[{}{{}}]}}",
                times(LARGE, "{\"url\":\"x\"},")
            )
        }),
        (atom, "attributes", || {
            format!("<feed><link {}/>", attributes())
        }),
    ]
}

#[test]
fn hostile_documents_end_in_little_memory() {
    assert_eq!(LARGE, HttpLimits::default().max_body_bytes);
    let url: url::Url = "https://example.org/".parse().unwrap();
    let convert = move |text: &str, media_type: &str| {
        let source = Source {
            bytes: text.as_bytes(),
            media_type: Some(media_type),
            charset: Some("utf-8"),
            url: &url,
        };
        match Document::from_source(source, Format::Markdown, false) {
            Ok(Document::Text { text, .. }) => text.len(),
            other => panic!("{other:?}"),
        }
    };
    // A thread of a runtime has this stack.
    let small_stack = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let checked = small_stack.spawn(move || {
        // The peak of the process never falls, so the small documents are first.
        for (is_large, most) in [(false, MOST_OF_SMALL), (true, MOST)] {
            let all = pages()
                .into_iter()
                .map(|(name, page)| ("text/html", name, page))
                .chain(documents());
            for (media_type, name, page) in all {
                let page = page();
                if (page.len() > 4 * SMALL) != is_large {
                    continue;
                }
                let length = convert(&page, media_type);
                assert!(
                    length <= 64 * 1024 + 4 * page.len(),
                    "{name}: {length} bytes of {}",
                    page.len()
                );
                assert!(peak() < most, "{name}: {} KiB", peak());
            }
        }
    });
    checked.unwrap().join().unwrap();
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}
