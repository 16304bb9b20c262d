//! [`Spans`]: styled text, wrapped at words.

use anstyle::Style;

use crate::fit;
use crate::notice::paint;
use crate::visible::harmless;

/// Text in styles. Its line breaks stay.
#[derive(Debug, Default)]
pub(super) struct Spans {
    spans: Vec<(Style, String)>,
}

/// A piece of text that stays on one line.
#[derive(Default)]
struct Word {
    pieces: Vec<(Style, String)>,
    columns: usize,
    /// True behind a space.
    is_apart: bool,
    /// True behind a line break.
    is_on_new_line: bool,
}

impl Spans {
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds untrusted text, made harmless.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        // A joiner depends on the character before it, also if that has another style or was an entity.
        let before = self.spans.last().and_then(|(_, text)| text.chars().last());
        let before = before.unwrap_or(' ').to_string();
        let text = harmless(&format!("{before}{text}"))[before.len()..].replace('\t', " ");
        match self.spans.last_mut() {
            Some((last, all)) if *last == style => *all += &text,
            _ if text.is_empty() => {}
            _ => self.spans.push((style, text)),
        }
    }

    /// Returns the text without styles.
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|(_, text)| &**text).collect()
    }

    /// Returns lines of at most this number of columns. A longer word of ASCII, such as an URL, stays whole unless `breaks_words`.
    pub(super) fn wrap(&self, room: usize, breaks_words: bool) -> Vec<String> {
        let mut lines: Vec<Vec<(Style, String)>> = vec![Vec::new()];
        let mut used = 0;
        for word in self.words(room, breaks_words) {
            let space = usize::from(word.is_apart && used > 0);
            if word.is_on_new_line || (used > 0 && used + space + word.columns > room) {
                lines.push(Vec::new());
                used = 0;
            }
            let line = lines.last_mut().into_iter();
            for line in line {
                if word.is_apart && used > 0 {
                    // The space between two words of a style has it too.
                    let style = line.last().map(|(style, _)| *style);
                    let style = style
                        .filter(|style| word.pieces.first().is_some_and(|(next, _)| next == style));
                    add(line, style.unwrap_or_default(), " ");
                    used += 1;
                }
                used += word.columns;
                for (style, text) in &word.pieces {
                    add(line, *style, text);
                }
            }
        }
        let lines = lines.into_iter();
        lines
            .map(|line| {
                line.into_iter()
                    .map(|(style, text)| painted(style, &text))
                    .collect()
            })
            .collect()
    }

    fn words(&self, room: usize, breaks_words: bool) -> Vec<Word> {
        let mut words = Vec::new();
        let mut word = Word::default();
        let mut was_wide = false;
        for (style, text) in &self.spans {
            for c in text.chars() {
                let columns = columns_of(c);
                let is_space = matches!(c, ' ' | '\n');
                let is_too_long = (breaks_words || !c.is_ascii()) && word.columns + columns > room;
                // Texts of wide characters have no spaces.
                let may_break = columns > 0 && (columns > 1 || was_wide || is_too_long);
                if is_space || (may_break && word.columns > 0) {
                    words.push(std::mem::take(&mut word));
                }
                match c {
                    '\n' => word.is_on_new_line = true,
                    ' ' => word.is_apart = true,
                    c => {
                        add(&mut word.pieces, *style, c.encode_utf8(&mut [0; 4]));
                        word.columns += columns;
                    }
                }
                was_wide = columns > 1;
            }
        }
        words.push(word);
        words.retain(|word| word.columns > 0 || word.is_on_new_line);
        while words.last().is_some_and(|word| word.columns == 0) {
            words.pop();
        }
        words
    }
}

/// Returns the text in a style, without control sequences if the style is none.
pub(super) fn painted(style: Style, text: &str) -> String {
    if style.is_plain() {
        text.to_owned()
    } else {
        paint(style, text)
    }
}

fn add(line: &mut Vec<(Style, String)>, style: Style, text: &str) {
    match line.last_mut() {
        Some((last, all)) if *last == style => *all += text,
        _ => line.push((style, text.to_owned())),
    }
}

fn columns_of(c: char) -> usize {
    fit::columns(c.encode_utf8(&mut [0; 4]))
}
