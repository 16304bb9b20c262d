//! The tokens are those of another tokenizer.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use proptest::prelude::*;

use super::*;
use crate::html::attributes::Attribute;

/// Writes tokens down, with adjacent texts joined.
#[derive(Debug, Default)]
struct Log {
    tokens: Vec<String>,
    text: String,
}

impl Log {
    fn push(&mut self, token: String) {
        if !self.text.is_empty() {
            self.tokens.push(std::mem::take(&mut self.text));
        }
        self.tokens.push(token);
    }
}

impl Sink for Log {
    fn start(&mut self, element: Element, attributes: &Attributes) {
        let href = attributes.value(Attribute::Href);
        self.push(format!("<{element:?} {href:?}>"));
    }

    fn end(&mut self, element: Element) {
        self.push(format!("</{element:?}>"));
    }

    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn is_foreign(&self) -> bool {
        false
    }
}

fn ours(html: &str) -> Vec<String> {
    let mut log = Log::default();
    tokenize(html, &mut log);
    log.tokens
        .extend((!log.text.is_empty()).then_some(log.text));
    log.tokens
}

fn theirs(html: &str) -> Vec<String> {
    let mut log = Log::default();
    let (mut element, mut name, mut href) = (Element::Other, Vec::new(), None);
    let mut in_script = false;
    let mut emitter = CallbackEmitter::new(
        |event: CallbackEvent<'_>, _: Span<()>| -> Option<std::convert::Infallible> {
            match event {
                CallbackEvent::OpenStartTag { name } => {
                    (element, href) = (Element::from_name(name), None)
                }
                CallbackEvent::AttributeName { name: read } => {
                    name = read.to_vec();
                    if read == b"href" && href.is_none() {
                        href = Some(String::new());
                    } else {
                        name.clear();
                    }
                }
                CallbackEvent::AttributeValue { value } if name == b"href" => {
                    href = Some(String::from_utf8_lossy(value).into_owned());
                    name.clear();
                }
                CallbackEvent::CloseStartTag { .. } => {
                    in_script = element == Element::Script;
                    log.push(format!("<{element:?} {:?}>", href.as_deref()));
                }
                CallbackEvent::EndTag { name } => {
                    in_script = false;
                    log.push(format!("</{:?}>", Element::from_name(name)));
                }
                // The text of scripts is no part of ours.
                CallbackEvent::String { value } if !in_script => {
                    log.text.push_str(&String::from_utf8_lossy(value))
                }
                _ => {}
            }
            None
        },
    );
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    log.tokens
        .extend((!log.text.is_empty()).then_some(log.text));
    log.tokens
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tokens_follow_the_standard(pieces in prop::collection::vec(prop::sample::select(vec![
        "<", ">", "/", "=", "\"", "'", " ", "\n", "\r\n", "a", "A", "p", "x", "é", "!", "-", "--", "-->", "--!>", "<!--", "<!", "<?", "</", "<a", "</a>", "<p ",
        "<br/>", " href", " href=", "href='", "href=\"", "&", "&amp;", "&lt", "&copy", "&notin;", "&notit;", "&#65;", "&#x41", "&#128;", "#", ";",
        "<script>", "</script>", "</SCRIPT >", "<script ", "<title>", "</title>", "<style>", "</style", "<textarea>", "</textarea>", "<xmp>", "</xmp>",
        "<![CDATA[", "]]>", "<!DOCTYPE html>", "]", "<svg>", "1",
    ]), 0..24)) {
        let html = pieces.concat();
        prop_assert_eq!(ours(&html), theirs(&html), "{:?}", html);
    }
}
