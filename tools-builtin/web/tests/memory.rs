//! Hostile pages cost little memory and no stack. Quadratic work would take hours on them. The test has a process of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;

use tools_web::{Document, Format, Source};

/// The size of most pages in bytes. A debug build takes about a microsecond for a byte.
const SIZE: usize = 500_000;

/// The size of the pages that the limit of the client allows.
const LARGE: usize = 10_000_000;

/// The limit of the peak memory, in KiB. A page of 10 MB is in memory as bytes and as text.
const MOST: u64 = 160 * 1024;

/// The beginning of a feed.
const JSON_FEED: &str = r#"{"version":"https://jsonfeed.org/version/1","#;

/// A function that makes a page.
type Page = fn() -> String;

/// Repeats a piece up to a size.
fn times(size: usize, piece: &str) -> String {
    piece.repeat(size / piece.len())
}

/// Returns hostile pages, each by a function, so that only one is in memory.
fn pages() -> Vec<(&'static str, Page)> {
    vec![
        ("nesting of 100,000", || format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000))),
        ("attributes of 10 MB", || {
            format!("<p {}>x", (0..LARGE / 12).map(|at| format!("a{at}=\"{at}\" ")).collect::<String>())
        }),
        ("an attribute of 10 MB", || format!("<a href=\"{}\">x</a>", "x".repeat(LARGE))),
        ("the same attribute", || format!("<a {}>x</a>", times(SIZE, "href=\"x\" "))),
        ("brackets", || "<".repeat(SIZE)),
        ("ampersands", || "&".repeat(SIZE)),
        ("references", || times(SIZE, "&notit;&amp")),
        ("unclosed comments", || times(LARGE, "<!-- -")),
        ("unclosed sections", || times(SIZE, "<svg><![CDATA[")),
        ("unclosed scripts", || times(LARGE, "<script><!--<script>")),
        ("unclosed titles", || times(LARGE, "<title>")),
        ("end tags of scripts", || format!("<style>{}", times(SIZE, "</styl "))),
        ("unclosed marks", || times(SIZE, "<b>x<i>y")),
        ("marks with attributes", || (0..SIZE / 20).map(|at| format!("<font color={at}><a>x")).collect()),
        ("links to a long base", || format!("<base href='/{}'>{}", "x".repeat(4000), times(SIZE, "<a href=y>z</a>"))),
        ("quotes", || times(SIZE, "<blockquote>x")),
        ("line breaks in quotes", || format!("{}{}", "<blockquote>".repeat(20), times(SIZE, "x<br>"))),
        ("lines of code in lists", || format!("{}<pre>{}x", "<ol start=99999999><li>".repeat(20), "\n".repeat(SIZE))),
        ("empty lines of code in lists", || {
            format!("{}<pre>x{}x", "<ol start=99999999><li>".repeat(12), "\n".repeat(4 * SIZE))
        }),
        ("lists", || times(SIZE, "<ul><li>x")),
        ("items of deep lists", || format!("{}{}", "<ul>".repeat(250), times(SIZE, "<li>x"))),
        ("tables", || times(SIZE, "<table><tr><td>x")),
        ("spans", || format!("<table>{}", times(SIZE, "<tr><td rowspan=1000 colspan=1000>x"))),
        ("rows", || format!("<table><tr>{}{}", "<td rowspan=1000>".repeat(64), times(SIZE, "<tr><td>x"))),
        ("columns", || format!("<table><tr>{}", times(SIZE, "<td>x"))),
        ("end tags out of scope", || format!("<p>x<table><tr><td>{}{}", "<section>".repeat(240), times(SIZE, "</p>"))),
        ("definitions", || format!("{}{}", "<dl>".repeat(250), times(SIZE, "<dt>x<dd>y"))),
        ("code", || times(SIZE, "<code>`")),
        ("backticks", || format!("<code>{}</code>", "`".repeat(SIZE))),
        ("formulas", || format!("{}{}", "<math>".repeat(250), times(SIZE, "<mi>x</mi>"))),
        ("main parts", || times(SIZE, "<main>x</main>")),
        ("names", || format!("<{}>", "a".repeat(SIZE))),
        ("null characters", || "\0".repeat(SIZE)),
        ("white space", || " ".repeat(SIZE)),
    ]
}

#[test]
fn hostile_documents_end_in_little_memory() {
    let url: url::Url = "https://example.org/".parse().unwrap();
    let convert = move |text: &str, media_type: &str| {
        let source = Source { bytes: text.as_bytes(), media_type: Some(media_type), charset: Some("utf-8"), url: &url };
        match Document::from_source(source, Format::Markdown, false) {
            Ok(Document::Text { text, .. }) => text.len(),
            other => panic!("{other:?}"),
        }
    };
    // A thread of a runtime has this stack.
    let small_stack = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let checked = small_stack.spawn(move || {
        for (name, page) in pages() {
            let page = page();
            let length = convert(&page, "text/html");
            assert!(length <= 64 * 1024 + 4 * page.len(), "{name}: {length} bytes of {}", page.len());
            assert!(peak() < MOST, "{name}: {} KiB", peak());
        }
        for (media_type, text) in [
            ("application/json", "[".repeat(SIZE)),
            ("application/json", format!("{}{}", "[".repeat(100), times(SIZE, "1,"))),
            ("application/xml", times(SIZE, "<a>")),
            (
                "application/xml",
                format!("<a {}/>", (0..SIZE / 12).map(|at| format!("a{at}=\"{at}\" ")).collect::<String>()),
            ),
            ("application/rss+xml", format!("<rss><channel>{}", times(SIZE, "<item><title>&lt;b&gt;"))),
            ("application/rss+xml", format!("<rss><channel>{}", times(LARGE, "<item/>"))),
            ("application/rss+xml", format!("<rss><item><description>{}", times(LARGE, "&lt;b&gt;"))),
            ("application/feed+json", format!("{JSON_FEED}\"items\":[{}{{}}]}}", times(LARGE, "{},"))),
            ("application/feed+json", format!("{JSON_FEED}\"items\":[{}{{}}]}}", times(SIZE, "{\"url\":\"x\"},"))),
            (
                "application/atom+xml",
                format!("<feed><link {}/>", (0..SIZE / 12).map(|at| format!("a{at}=\"{at}\" ")).collect::<String>()),
            ),
        ] {
            let length = convert(&text, media_type);
            assert!(length <= 64 * 1024 + 4 * text.len(), "{media_type}: {length} bytes of {}", text.len());
            assert!(peak() < MOST, "{media_type}: {} KiB", peak());
        }
    });
    checked.unwrap().join().unwrap();
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}
