//! Properties of the conversion of any input.

use proptest::prelude::*;
use pulldown_cmark::{Event, Tag, TagEnd, html};
use tools::OutsideText;
use tools::protocol::is_invisible;
use tools_web::{Document, Format, Source};
use url::Url;

use crate::outline::{markdown, outline_of, parser};

/// Returns pieces of HTML in any order, so that tags are nested and closed at random.
fn soup() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "a",
        "article",
        "b",
        "blockquote",
        "br",
        "caption",
        "code",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "h1",
        "h3",
        "hr",
        "iframe",
        "img",
        "input",
        "li",
        "main",
        "math",
        "nav",
        "ol",
        "p",
        "pre",
        "s",
        "script",
        "span",
        "style",
        "sub",
        "summary",
        "svg",
        "table",
        "tbody",
        "td",
        "template",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
        "x-y",
    ]);
    let attributes = prop::sample::select(vec![
        "",
        "",
        "",
        " href=x",
        " href='#y'",
        " href=javascript:1",
        " src=/i.png alt='a](b'",
        " hidden",
        " class=language-rust",
        " colspan=3",
        " rowspan=2",
        " start=7",
        " type=checkbox",
        " role=main",
        " alttext='x|y'",
    ]);
    let text = prop::sample::select(vec![
        "word",
        " ",
        "\n",
        "*",
        "_",
        "`",
        "```",
        "~~",
        "[",
        "](",
        "!",
        "|",
        "#",
        "# x",
        "- y",
        "1. z",
        "<",
        "&",
        "&amp;lt;",
        "&#1;",
        "&#x202E;",
        "\\",
        ">",
        "---",
        "===",
        "é",
        "€ ",
        "\u{a0}",
        "[a]: b",
        "&#10;",
        "&#13;",
        "#&nbsp;x",
        "1.&#8195;y",
        "\u{3000}",
        "\u{202f}>",
    ]);
    let piece = prop_oneof![
        3 => (names.clone(), attributes).prop_map(|(name, attributes)| format!("<{name}{attributes}>")),
        2 => names.prop_map(|name| format!("</{name}>")),
        4 => text.prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_document_of_limited_length(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        media_type in prop::sample::select(vec![None, Some("text/html"), Some("application/json"), Some("text/xml"), Some("text/plain")]),
        format in prop::sample::select(vec![Format::Markdown, Format::Text, Format::Raw]),
    ) {
        let url = "https://example.org/".parse().unwrap();
        let source = Source { bytes: &bytes, media_type, charset: None, url: &url };
        if let Ok(Document::Text { text, .. }) = Document::from_source(source, format, false) {
            prop_assert!(text.len() <= 64 * 1024 + 8 * bytes.len());
        }
    }

    #[test]
    fn any_soup_has_absolute_links_and_limited_length(html in soup()) {
        let markdown = markdown(&html);
        prop_assert!(markdown.len() <= 64 * 1024 + 4 * html.len());
        // The boundary changes no other character, so that it makes no structure.
        prop_assert_eq!(inside_boundary(&markdown), with_visible_characters(&markdown));
        for event in parser(&markdown) {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
                let url = Url::parse(&dest_url);
                prop_assert!(url.is_ok_and(|url| ["http", "https"].contains(&url.scheme())), "{dest_url} in {markdown}");
            }
        }
    }

    #[test]
    fn text_does_not_become_structure(text in r"[-a1-9#*_`~\[\]()<>&|!+=:.\\ xX\n\r\u{a0}\u{2003}]{0,60}") {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('\r', "&#13;");
        let markdown = inside_boundary(&markdown(&format!("<p>{escaped}</p>")));
        for event in parser(&markdown) {
            let is_text = matches!(event, Event::Start(Tag::Paragraph) | Event::End(_) | Event::Text(_));
            prop_assert!(is_text, "{event:?} from {text:?} as {markdown:?}");
        }
    }

    #[test]
    fn the_structure_of_markdown_survives_html(blocks in prop::collection::vec(block(2), 1..6)) {
        let expected = blocks.join("\n\n");
        let mut page = String::new();
        html::push_html(&mut page, parser(&expected));
        // Paragraphs in items appear and vanish with the blank lines between items.
        prop_assert_eq!(without_paragraphs(&markdown(&page)), without_paragraphs(&expected), "{}", page);
    }
}

/// Returns a text with invisible characters as the boundary shows them. A reference such as `&#1;` means one.
fn with_visible_characters(text: &str) -> String {
    let shown = |c| {
        if is_invisible(c) && !matches!(c, '\n' | '\t') {
            format!("<U+{:04X}>", u32::from(c))
        } else {
            c.to_string()
        }
    };
    text.chars().map(shown).collect()
}

/// Returns a text as a model reads it, without the boundary lines.
fn inside_boundary(text: &str) -> String {
    let formatted = OutsideText::new("", text).to_string();
    let (_, inner) = formatted.split_once('\n').unwrap_or_default();
    let (inner, _) = inner.rsplit_once("<<< end").unwrap_or_default();
    inner.strip_suffix('\n').unwrap_or(inner).to_owned()
}

#[test]
fn a_carriage_return_leaves_neither_quote_nor_code() {
    for page in [
        "<blockquote><pre>x&#13;# Forged</pre></blockquote>",
        "<ul><li><pre>x&#13;&#10;# Forged</pre></ul>",
    ] {
        let read = inside_boundary(&markdown(page));
        let is_heading = |event| matches!(event, Event::Start(Tag::Heading { .. }));
        assert!(
            read.contains("# Forged") && !parser(&read).any(is_heading),
            "{read}"
        );
    }
}

/// Returns the structure without the marks of paragraphs.
fn without_paragraphs(markdown: &str) -> String {
    let events = parser(markdown).filter(|event| {
        !matches!(
            event,
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)
        )
    });
    outline_of(events)
}

/// Returns a block of Markdown.
fn block(depth: u32) -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "plain words",
        "some **bold** text",
        "an *emphasised* word",
        "`code` here",
        "a [link](https://example.org/x?y=1) in text",
        "~~gone~~ text",
        "an ![image](https://example.org/i.png)",
        "snake_case * star \\# \\- \\`",
        "\\<b> and &amp;lt;",
        "[a](b)\\[c\\]",
    ])
    .prop_map(|text| text.replace("(b)", "(https://example.org/b)"));
    let leaf = prop_oneof![
        3 => text.clone(),
        1 => (1..6_usize, text.clone().prop_filter("strong in headings is implied", |text| !text.contains("**")))
            .prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        1 => Just("```rust\nfn main() {}\n\n    indented ``\n```".to_owned()),
        1 => Just("````\n```\n````".to_owned()),
        1 => Just("---".to_owned()),
        1 => (text.clone(), text.clone()).prop_map(|(a, b)| format!("| {a} | h |\n| --- | --- |\n| {b} | `x\\|y` |")),
    ];
    leaf.prop_recursive(depth, 12, 4, |inner| {
        let indent = |text: &str, prefix: &str| text.replace('\n', &format!("\n{prefix}"));
        prop_oneof![
            inner
                .clone()
                .prop_map(move |text| format!("> {}", indent(&text, "> "))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(move |items| {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| format!("- {}", indent(item, "  ")))
                    .collect();
                items.join("\n")
            }),
            prop::collection::vec(inner, 1..4).prop_map(move |items| {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| format!("{}. {}", at + 3, indent(item, "   ")));
                items.collect::<Vec<_>>().join("\n")
            }),
        ]
    })
}
