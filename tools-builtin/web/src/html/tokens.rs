//! A tokenizer of HTML, which passes tokens to a [`Sink`].
//!
//! Tokens follow the tokenization of the HTML standard, without a tree. Each byte is read once, its memory is that of one tag, and no
//! function calls itself. The tokenizers of crates that were looked at either recurse or compare each attribute with all others.

use memchr::{memchr, memchr2, memmem};

use super::attributes::{Attributes, known_name};
use super::element::Element;
use super::references::{decode, decoded_value, normalize};

/// The receiver of tokens.
pub(crate) trait Sink {
    /// Called for a start tag.
    fn start(&mut self, element: Element, attributes: &Attributes);
    /// Called for an end tag.
    fn end(&mut self, element: Element);
    /// Called for text, whose parts may arrive one by one.
    fn text(&mut self, text: &str);
    /// Called for a script.
    fn script(&mut self, _script: &str) {}
    /// Returns true inside of `svg` and `math`, where the tokens follow the rules of XML.
    fn is_foreign(&self) -> bool;
    /// Returns true if the sink takes no more tokens.
    fn is_over(&mut self) -> bool {
        false
    }
}

/// Passes the tokens of a document to a sink, until its end or until the sink takes no more.
pub(crate) fn tokenize(html: &str, sink: &mut impl Sink) {
    let mut tokenizer = Tokenizer {
        html,
        at: 0,
        attributes: Attributes::default(),
    };
    while tokenizer.at < html.len() && !sink.is_over() {
        tokenizer.step(sink);
    }
}

#[derive(Debug)]
struct Tokenizer<'a> {
    html: &'a str,
    at: usize,
    attributes: Attributes,
}

/// The text of an element that contains no tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RawText {
    /// With character references.
    Decoded,
    Verbatim,
    Script,
    /// Up to the end of the document.
    Rest,
}

impl<'a> Tokenizer<'a> {
    /// Reads the text up to the next tag, or the tag.
    fn step(&mut self, sink: &mut impl Sink) {
        let rest = self.rest();
        let Some(length) = memchr(b'<', rest.as_bytes()) else {
            self.at = self.html.len();
            return sink.text(&decode(rest));
        };
        if length > 0 {
            self.at += length;
            return sink.text(&decode(&rest[..length]));
        }
        match rest.as_bytes().get(1..).unwrap_or_default() {
            [b'!', b'-', b'-', ..] => self.skip_comment(),
            [b'!', ..] if rest[2..].starts_with("[CDATA[") && sink.is_foreign() => {
                self.read_cdata(sink)
            }
            [b'!' | b'?', ..] => self.skip_past(b'>', 2),
            [b'/', letter, ..] if letter.is_ascii_alphabetic() => {
                self.at += 2;
                if let Some((element, _)) = self.read_tag() {
                    sink.end(element);
                }
            }
            [b'/', _, ..] => self.skip_past(b'>', 2),
            [letter, ..] if letter.is_ascii_alphabetic() => {
                self.at += 1;
                self.read_element(sink);
            }
            _ => {
                self.at += 1;
                sink.text("<");
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.html[self.at..]
    }

    /// Moves behind the next `byte`, which is looked for after `skipped` bytes, or to the end.
    fn skip_past(&mut self, byte: u8, skipped: usize) {
        self.at += skipped;
        let length = memchr(byte, self.rest().as_bytes());
        self.at = length.map_or(self.html.len(), |length| self.at + length + 1);
    }

    fn skip_comment(&mut self) {
        // The dashes of the beginning may be those of the end: `<!-->`.
        self.at += 2;
        let rest = self.rest().as_bytes();
        for at in memmem::find_iter(rest, b"--").flat_map(|at| [at, at + 1]) {
            let end = match rest.get(at..).unwrap_or_default() {
                [b'-', b'-', b'>', ..] => 3,
                [b'-', b'-', b'!', b'>', ..] if at >= 2 => 4,
                _ => continue,
            };
            self.at += at + end;
            return;
        }
        self.at = self.html.len();
    }

    fn read_cdata(&mut self, sink: &mut impl Sink) {
        self.at += "<![CDATA[".len();
        let rest = self.rest();
        let end = memmem::find(rest.as_bytes(), b"]]>");
        sink.text(&normalize(&rest[..end.unwrap_or(rest.len())]));
        self.at = end.map_or(self.html.len(), |end| self.at + end + 3);
    }

    /// Reads a start tag, and the text after it if the element contains no tags.
    fn read_element(&mut self, sink: &mut impl Sink) {
        let name_at = self.at;
        let Some((element, is_self_closing)) = self.read_tag() else {
            return;
        };
        let was_foreign = sink.is_foreign();
        sink.start(element, &self.attributes);
        // The HTML standard ignores the slash of its own elements.
        if is_self_closing && (was_foreign || sink.is_foreign()) {
            return sink.end(element);
        }
        let Some(kind) = raw_text(element) else {
            return;
        };
        let name = &self.html[name_at..];
        let name = &name[..name_length(name)];
        let rest = self.rest();
        let length = match kind {
            RawText::Rest => rest.len(),
            RawText::Script => script_length(rest.as_bytes()),
            RawText::Decoded | RawText::Verbatim => raw_length(rest.as_bytes(), name.as_bytes()),
        };
        self.at += length;
        let text = &rest[..length];
        match kind {
            RawText::Decoded => sink.text(&decode(text)),
            RawText::Verbatim | RawText::Rest => sink.text(&normalize(text)),
            RawText::Script => sink.script(text),
        }
    }

    /// Reads a tag after its first bracket. Returns its element, and true if it ends with `/>`. Returns `None` if the document ends in it.
    fn read_tag(&mut self) -> Option<(Element, bool)> {
        let tag = self.read_whole_tag();
        if tag.is_none() {
            self.at = self.html.len();
        }
        tag
    }

    fn read_whole_tag(&mut self) -> Option<(Element, bool)> {
        self.attributes.clear();
        let rest = self.rest();
        let length = name_length(rest);
        let element = known_name(&rest[..length], Element::from_name).unwrap_or(Element::Other);
        self.at += length;
        let mut is_self_closing = false;
        loop {
            let rest = self.rest();
            match rest.bytes().next() {
                None => return None,
                Some(b'>') => {
                    self.at += 1;
                    return Some((element, is_self_closing));
                }
                Some(b'/') => {
                    self.at += 1;
                    is_self_closing = true;
                }
                Some(byte) if is_space(byte) => {
                    self.at += 1;
                    is_self_closing = false;
                }
                Some(_) => {
                    is_self_closing = false;
                    self.read_attribute()?;
                }
            }
        }
    }

    /// Reads an attribute. Returns `None` if the document ends in it.
    fn read_attribute(&mut self) -> Option<()> {
        let rest = self.rest();
        // An equals sign at the beginning is part of the name.
        let mut after = rest.bytes().skip(1);
        let length = 1 + after.position(|it| is_space(it) || matches!(it, b'/' | b'>' | b'='))?;
        let name = &rest[..length];
        self.at += length;
        self.skip_space();
        if !self.rest().starts_with('=') {
            self.attributes.add(name, || "".into());
            return Some(());
        }
        self.at += 1;
        self.skip_space();
        let rest = self.rest();
        let (value, length) = match rest.bytes().next()? {
            quote @ (b'"' | b'\'') => {
                let end = memchr(quote, &rest.as_bytes()[1..])? + 1;
                (&rest[1..end], end + 1)
            }
            b'>' => ("", 0),
            _ => {
                let end = rest
                    .bytes()
                    .position(|byte| is_space(byte) || byte == b'>')?;
                (&rest[..end], end)
            }
        };
        self.at += length;
        self.attributes.add(name, || decoded_value(value));
        Some(())
    }

    fn skip_space(&mut self) {
        let spaces = self.rest().bytes().take_while(|&byte| is_space(byte));
        self.at += spaces.count();
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}

fn name_length(rest: &str) -> usize {
    rest.bytes()
        .position(|byte| is_space(byte) || matches!(byte, b'/' | b'>'))
        .unwrap_or(rest.len())
}

fn raw_text(element: Element) -> Option<RawText> {
    match element {
        Element::Title | Element::Textarea => Some(RawText::Decoded),
        Element::Script => Some(RawText::Script),
        Element::Style | Element::Xmp | Element::Iframe | Element::Noembed | Element::Noframes => {
            Some(RawText::Verbatim)
        }
        Element::Plaintext => Some(RawText::Rest),
        _ => None,
    }
}

/// Returns true if the text begins with `tag`, in any case, and the tag's name ends there.
fn begins_tag(text: &[u8], start: &[u8], name: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(start) else {
        return false;
    };
    rest.len() > name.len()
        && rest[..name.len()].eq_ignore_ascii_case(name)
        && (is_space(rest[name.len()]) || matches!(rest[name.len()], b'/' | b'>'))
}

/// Returns the length of the text up to the end tag.
fn raw_length(text: &[u8], name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', text)
        .find(|&at| begins_tag(&text[at..], b"</", name))
        .unwrap_or(text.len())
}

/// Returns the length of a script. In a comment, a script may contain tags of scripts.
fn script_length(text: &[u8]) -> usize {
    let mut at = 0;
    let mut in_comment = false;
    let mut is_nested = false;
    while let Some(skipped) = memchr2(b'<', b'-', &text[at..]) {
        at += skipped;
        let rest = &text[at..];
        if begins_tag(rest, b"</", b"script") {
            if !is_nested {
                return at;
            }
            is_nested = false;
        } else if in_comment && rest.starts_with(b"-->") {
            (in_comment, is_nested) = (false, false);
        } else if in_comment && begins_tag(rest, b"<", b"script") {
            is_nested = true;
        } else if !in_comment && rest.starts_with(b"<!--") {
            in_comment = true;
            // The dashes may be those of the end.
            at += 1;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests;
