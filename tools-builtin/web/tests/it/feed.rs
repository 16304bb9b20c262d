//! Feeds as Markdown.

use tools_web::{Document, Format, Source};

use crate::outline::outline;

fn read(media_type: &str, text: &str) -> (Option<String>, String, Vec<String>) {
    let url = "https://example.org/feed".parse().unwrap();
    let source = Source {
        bytes: text.as_bytes(),
        media_type: Some(media_type),
        charset: None,
        url: &url,
    };
    match Document::from_source(source, Format::Markdown, false) {
        Ok(Document::Text { title, text, notes }) => (title, text, notes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rss_gives_title_date_link_and_summary() {
    let (title, text, notes) = read(
        "application/rss+xml",
        r#"<?xml version="1.0"?><rss version="2.0" xmlns:media="m"><channel><title>News &amp; more</title><link>/</link>
        <image><title>Logo</title></image><description>About</description>
        <item><title>One &lt;b&gt;bold&lt;/b&gt;</title><link>https://example.org/1?a&amp;b</link><media:title>No</media:title>
        <pubDate>Tue, 03 Jun 2025 09:39:21 GMT</pubDate><description><![CDATA[<p>Some <a href="x">text</a></p>]]></description></item>
        <item><title>Two & half&nbsp;done</title><guid>https://example.org/2</guid></item></channel></rss>"#,
    );
    assert_eq!(title.as_deref(), Some("News & more"));
    let expected = "h1(a[https://example.org/](News & more)) p(About) h2(a[https://example.org/1?a&b](One bold)) \
                    p(Tue, 03 Jun 2025 09:39:21 GMT) p(Some text) h2(a[https://example.org/2](Two & half\u{a0}done))";
    assert_eq!(
        outline(&text).replace('\u{a0}', " "),
        expected.replace('\u{a0}', " ")
    );
    assert!(notes.is_empty());
}

#[test]
fn atom_gives_title_date_link_and_summary() {
    let (title, text, _) = read(
        "application/atom+xml",
        r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title><link rel="self" href="/feed"/><link href="/"/>
        <entry><title type="html">&lt;i&gt;Post&lt;/i&gt;</title><link rel="edit" href="/e"/><link rel="alternate" href="post"/>
        <updated>2025-06-03T09:39:21Z</updated><author><name>A</name></author>
        <content type="xhtml"><div xmlns="x"><p>One</p><p>Two</p></div></content></entry></feed>"#,
    );
    assert_eq!(title.as_deref(), Some("Blog"));
    let expected = "h1(a[https://example.org/](Blog)) h2(a[https://example.org/post](Post)) p(2025-06-03T09:39:21Z) p(One Two)";
    assert_eq!(outline(&text), expected);
}

#[test]
fn a_title_that_ends_with_a_backslash_or_a_star_stays_a_link() {
    for title in [r"C:\", "a *"] {
        let item = serde_json::json!({"title": title, "url": "/1"});
        let feed = serde_json::json!({"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": [item]});
        let (_, text, _) = read("application/feed+json", &feed.to_string());
        assert_eq!(
            outline(&text),
            format!("h1(J) h2(a[https://example.org/1]({title}))")
        );
    }
}

#[test]
fn json_feeds_and_rdf_are_feeds() {
    let (_, text, _) = read(
        "application/feed+json",
        r#"{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"1","url":"/1","title":null,"content_html":"<p>x"}]}"#,
    );
    assert_eq!(
        outline(&text),
        "h1(J) h2(a[https://example.org/1](untitled)) p(x)"
    );
    let (_, text, _) = read(
        "application/rdf+xml",
        "<rdf:RDF><channel><title>R</title></channel><item><title>I</title><link>/i</link><dc:date>2025</dc:date></item></rdf:RDF>",
    );
    assert_eq!(
        outline(&text),
        "h1(R) h2(a[https://example.org/i](I)) p(2025)"
    );
}

#[test]
fn a_cut_feed_keeps_its_entries_and_says_so() {
    let (_, text, notes) = read(
        "text/xml",
        "<rss><channel><title>T</title><item><title>A</title></item><item><title>B</",
    );
    assert!(
        text.contains("## A") && notes.len() == 1,
        "{text} {notes:?}"
    );
}

#[test]
fn a_title_cannot_become_structure() {
    let (_, text, _) = read(
        "text/xml",
        "<rss><channel><title>a](x) # b</title><item><title>`c` *d*</title></item></channel></rss>",
    );
    assert_eq!(outline(&text), "h1(a](x) # b) h2(`c` *d*)");
}

#[test]
fn a_feed_of_too_many_entries_is_cut_and_says_so() {
    let entries = |count: usize, entry: &str| vec![entry; count].concat();
    let json = |count| {
        format!(
            r#"{{"version":"https://jsonfeed.org/version/1","items":[{}{{}}]}}"#,
            entries(count, r#"{"title":"A"},"#)
        )
    };
    let rss = |count| {
        format!(
            "<rss><channel>{}</channel></rss>",
            entries(count, "<item><title>A</title></item>")
        )
    };
    for (media_type, text, shown, is_cut) in [
        ("application/feed+json", json(499), 499, false),
        ("application/feed+json", json(500), 500, true),
        ("application/rss+xml", rss(500), 500, false),
        ("application/rss+xml", rss(501), 500, true),
    ] {
        let (_, text, notes) = read(media_type, &text);
        assert_eq!(
            (
                text.matches("## A").count(),
                notes.iter().any(|note| note.contains("500"))
            ),
            (shown, is_cut)
        );
    }
}
