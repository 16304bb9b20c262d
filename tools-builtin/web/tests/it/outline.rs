//! The structure of Markdown, as its parser sees it.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use tools_web::{Document, Format, Source};

/// Returns the Markdown of a page.
pub(crate) fn markdown(html: &str) -> String {
    markdown_of(html, false)
}

/// Returns the Markdown of a page, with the parts beside its content if `whole`.
pub(crate) fn markdown_of(html: &str, whole: bool) -> String {
    let url = "https://example.org/a/b".parse().unwrap();
    let source = Source {
        bytes: html.as_bytes(),
        media_type: Some("text/html"),
        charset: Some("utf-8"),
        url: &url,
    };
    match Document::from_source(source, Format::Markdown, whole) {
        Ok(Document::Text { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn parser(markdown: &str) -> Parser<'_> {
    let extensions =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(markdown, extensions)
}

/// Returns the structure of Markdown in one line: `h1(Title) ul(li(One) li(Two))`.
pub(crate) fn outline(markdown: &str) -> String {
    outline_of(parser(markdown))
}

/// Returns the structure of a parser's events.
pub(crate) fn outline_of<'a>(events: impl Iterator<Item = Event<'a>>) -> String {
    let mut out = String::new();
    for event in events {
        match event {
            Event::Start(tag) => {
                if !out.is_empty() && !out.ends_with(['(', ' ']) && is_block(&tag) {
                    out.push(' ');
                }
                out += &opening(&tag);
                out.push('(');
            }
            Event::End(TagEnd::Link | TagEnd::Image) => out.push(')'),
            Event::End(_) => {
                out.truncate(out.trim_end().len());
                out.push(')');
            }
            Event::Text(text) => out += &text.replace('\n', "⏎"),
            Event::Code(code) => out += &format!("`{code}`"),
            Event::InlineHtml(html) | Event::Html(html) => out += &html,
            Event::SoftBreak => out.push(' '),
            Event::HardBreak => out.push('↵'),
            Event::Rule => out += " rule",
            Event::TaskListMarker(done) => out += if done { "☑" } else { "☐" },
            other => panic!("{other:?}"),
        }
    }
    out
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

fn opening(tag: &Tag<'_>) -> String {
    match tag {
        Tag::Paragraph => "p".into(),
        Tag::Heading { level, .. } => format!("h{}", level_of(*level)),
        Tag::BlockQuote(_) => "quote".into(),
        Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !language.is_empty() => {
            format!("code:{language}")
        }
        Tag::CodeBlock(_) => "code".into(),
        Tag::List(None) => "ul".into(),
        Tag::List(Some(1)) => "ol".into(),
        Tag::List(Some(start)) => format!("ol:{start}"),
        Tag::Item => "li".into(),
        Tag::Table(_) => "table".into(),
        Tag::TableHead => "head".into(),
        Tag::TableRow => "row".into(),
        Tag::TableCell => "cell".into(),
        Tag::Emphasis => "em".into(),
        Tag::Strong => "b".into(),
        Tag::Strikethrough => "del".into(),
        Tag::Link { dest_url, .. } => format!("a[{dest_url}]"),
        Tag::Image { dest_url, .. } => format!("img[{dest_url}]"),
        Tag::HtmlBlock => "html".into(),
        other => panic!("{other:?}"),
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    level as u8
}
