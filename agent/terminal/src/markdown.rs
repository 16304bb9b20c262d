//! [`MarkdownStream`]: the Markdown of a model, rendered while it is written.

mod code;
mod render;
mod table;
mod wrap;

use std::mem;

use pulldown_cmark::{Event, Parser};

use self::code::CodeBlock;
use self::render::{OPTIONS, render};

/// The bytes of a block above which it is ended, because each piece renders the whole block again.
const MAX_BLOCK_BYTES: usize = 16 * 1024;
/// The minimum columns of a text, however narrow the terminal.
const MIN_WIDTH: usize = 20;

/// The Markdown of a model, rendered block by block.
#[derive(Debug, Default)]
pub struct MarkdownStream {
    /// The part of the text that is not finished.
    source: String,
    /// The fenced code block that the text is in.
    code: Option<CodeBlock>,
    /// True after a block, from which an empty line separates the next one.
    has_block: bool,
}

impl MarkdownStream {
    /// Adds a piece of the text. Returns the lines that are finished with it, for a terminal with this number of columns.
    pub fn push(&mut self, text: &str, width: usize) -> Vec<String> {
        self.source += text;
        let mut finished = Vec::new();
        if text.contains('\n') || self.source.len() > MAX_BLOCK_BYTES {
            while self.take_finished(text_width(width), &mut finished) {}
        }
        finished
    }

    /// Ends the text. Returns its last lines.
    pub fn finish(&mut self, width: usize) -> Vec<String> {
        mem::take(self).live(width)
    }

    /// Ends the block in progress, and a code block in the middle of it. Returns its lines.
    pub fn interrupt(&mut self, width: usize) -> Vec<String> {
        let lines = self.live(width);
        self.has_block |= !lines.is_empty();
        self.source.clear();
        lines
    }

    /// Moves the lines of finished blocks, or the finished lines of a code block. Returns true if there may be more.
    fn take_finished(&mut self, width: usize, finished: &mut Vec<String>) -> bool {
        if let Some(code) = &mut self.code {
            let Some(line) = take_line(&mut self.source) else {
                return false;
            };
            if code.is_end(&line) {
                self.code = None;
            } else {
                finished.extend(code.rows(&line, width));
            }
            return true;
        }
        let text = self.source.trim_start_matches(['\n', '\r']);
        self.source.drain(..self.source.len() - text.len());
        if let Some(code) = CodeBlock::begin(&self.source) {
            take_line(&mut self.source);
            finished.extend(self.gap());
            finished.extend(code.title());
            self.code = Some(code);
            return true;
        }
        let is_long = self.source.len() > MAX_BLOCK_BYTES;
        let whole = self.source.rfind('\n').map_or(0, |end| end + 1);
        let end = match last_block(&self.source[..whole]) {
            0 if is_long && whole > 0 => whole,
            0 if is_long => self.source.len(),
            start => start,
        };
        let rest = self.source.split_off(end);
        let block = mem::replace(&mut self.source, rest);
        if !block.trim().is_empty() {
            finished.extend(self.gap());
            finished.extend(render(&block, width));
        }
        end > 0
    }

    /// Returns the lines of the block in progress.
    pub fn live(&self, width: usize) -> Vec<String> {
        let width = text_width(width);
        if let Some(code) = &self.code {
            let is_end = self.source.is_empty() || code.is_end(&self.source);
            return if is_end {
                Vec::new()
            } else {
                code.rows(&self.source, width)
            };
        }
        let lines = render(&self.source, width);
        let gap = (self.has_block && !lines.is_empty()).then(String::new);
        gap.into_iter().chain(lines).collect()
    }

    /// Returns the empty line before a block that is not the first one.
    fn gap(&mut self) -> Option<String> {
        mem::replace(&mut self.has_block, true).then(String::new)
    }
}

/// Renders a whole text for a terminal with this number of columns.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut stream = MarkdownStream::default();
    let mut lines = stream.push(text, width);
    lines.extend(stream.finish(width));
    lines
}

/// Returns the columns for text. The last column stays free, because some terminals go to the next row behind it.
fn text_width(width: usize) -> usize {
    width.saturating_sub(1).max(MIN_WIDTH)
}

/// Removes the first line with its end. Returns `None` if it has no end yet.
fn take_line(source: &mut String) -> Option<String> {
    let end = source.find('\n')?;
    let rest = source.split_off(end + 1);
    let mut line = mem::replace(source, rest);
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Some(line)
}

/// Returns the start of the line at which the last block of a text begins.
fn last_block(text: &str) -> usize {
    let mut depth = 0;
    let mut last = 0;
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    last = range.start;
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Rule if depth == 0 => last = range.start,
            _ => {}
        }
    }
    text[..last].rfind('\n').map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(lines: &[String]) -> Vec<String> {
        let lines = lines.iter();
        lines
            .map(|line| anstream::adapter::strip_str(line).to_string())
            .collect()
    }

    fn shown(text: &str, width: usize) -> String {
        plain(&lines(text, width)).join("\n")
    }

    const EXAMPLE: &str = "# Title\n\nSome *emphasised*, **strong** and `code` text that is longer than a row.\n\n- one\n- two\n  \
        - deep\n\n1. first\n2. second\n\n> quoted\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|--:|\n| x | 10 |\n\n---\n\
        See [the page](https://example.org/x).\n";

    #[test]
    fn blocks_are_rendered() {
        let expected = "Title\n\nSome emphasised, strong and code text\nthat is longer than a row.\n\n• one\n• two\n  • deep\n\n\
            1. first\n2. second\n\n│ quoted\n\nrust\n  fn main() {}\n\na │  b\n──┼───\nx │ 10\n\n────────────────────────────────────────\n\n\
            See the page (https://example.org/x).";
        assert_eq!(shown(EXAMPLE, 42), expected);
    }

    #[test]
    fn pieces_end_as_the_whole_text_does_and_finished_lines_stay() {
        for size in [1, 3, 7, 50] {
            let mut stream = MarkdownStream::default();
            let mut finished = Vec::new();
            let characters: Vec<_> = EXAMPLE.chars().collect();
            for piece in characters.chunks(size) {
                let piece: String = piece.iter().collect();
                finished.extend(stream.push(&piece, 42));
            }
            finished.extend(stream.finish(42));
            assert_eq!(finished, lines(EXAMPLE, 42), "{size}");
        }
    }

    #[test]
    fn other_output_in_a_code_block_does_not_end_it() {
        let mut stream = MarkdownStream::default();
        let mut lines = stream.push("```\na\n*b", 40);
        lines.extend(stream.interrupt(40));
        lines.extend(stream.push("*\n```\n*c*", 40));
        lines.extend(stream.finish(40));
        assert_eq!(plain(&lines), ["  a", "  *b", "  *", "", "c"]);
    }

    #[test]
    fn a_block_that_never_ends_is_written_all_the_same() {
        let mut stream = MarkdownStream::default();
        let mut finished = 0;
        for _ in 0..400 {
            finished += stream.push(&"word ".repeat(20), 80).len();
        }
        assert!(
            finished > 300 && stream.source.len() <= MAX_BLOCK_BYTES,
            "{finished}"
        );
    }

    #[test]
    fn no_text_of_a_model_controls_the_terminal_or_hides() {
        for text in [
            "a\u{1b}]0;title\u{7}b\u{9b}2J",
            "&#x1b;]0;title&#7;",
            "`\u{1b}[2J`",
            "```\n\u{1b}[2J\n```",
            "```\u{1b}[2J\nx\n```",
            "[\u{1b}[2J](https://e\u{202e}x.org/&#x1b;)",
            "| \u{1b}[2J |\n|---|\n| &#x202e; |",
            "[a]: https://\u{202e}x \"\u{1b}\"\n",
            "<b \u{1b}>\u{200b}</b>",
        ] {
            let lines = lines(text, 60);
            assert!(!lines.is_empty(), "{text:?}");
            for line in plain(&lines) {
                assert!(
                    !line.contains(tools::protocol::is_invisible),
                    "{text:?}: {line:?}"
                );
            }
            for line in &lines {
                let commands = line.split('\x1b').skip(1);
                assert!(
                    commands.into_iter().all(|command| command.starts_with('[')),
                    "{line:?}"
                );
            }
        }
        assert_eq!(
            shown("a\u{202e}b&#x200d;&zwj;", 60),
            r"a\u{202e}b\u{200d}\u{200d}"
        );
        assert_eq!(shown("a\u{1b}]0;b", 60), r"a\u{1b}]0;b");
    }

    #[test]
    fn the_target_of_a_link_is_shown() {
        assert_eq!(
            shown("[https://bank.example](https://evil.example \"good\")", 100),
            "https://bank.example (https://evil.example \"good\")"
        );
        assert_eq!(shown("<https://a.example>", 60), "https://a.example");
        assert_eq!(shown("![a cat](cat.png)", 60), "a cat (cat.png)");
        assert_eq!(
            shown("[x]\n\n[x]: https://evil.example\n", 60),
            "x (https://evil.example)\n\n[x]: https://evil.example"
        );
        assert_eq!(shown("a <!-- hidden --> b", 60), "a <!-- hidden --> b");
    }

    #[test]
    fn text_is_wrapped_at_words_and_long_words_stay_whole() {
        assert_eq!(
            shown("one two three four five", 12),
            "one two three four\nfive"
        );
        let url = format!("https://example.org/{}", "x".repeat(40));
        assert_eq!(
            shown(&format!("at {url} it is"), 30),
            format!("at\n{url}\nit is")
        );
        assert_eq!(
            shown(&"語".repeat(12), 21),
            format!("{}\n語語", "語".repeat(10))
        );
    }

    proptest! {
        #[test]
        fn any_text_is_rendered_in_pieces(text in "([-a-z0-9 #>*_`|\\[\\]()~!&;:.<\\\\]|\n|\t|語|\u{1b}|\u{202e}){0,120}", size in 1usize..9) {
            let mut stream = MarkdownStream::default();
            let characters: Vec<_> = text.chars().collect();
            let mut all = Vec::new();
            for piece in characters.chunks(size) {
                let piece: String = piece.iter().collect();
                all.extend(stream.push(&piece, 40));
            }
            all.extend(stream.finish(40));
            for line in plain(&all) {
                prop_assert!(!line.contains(tools::protocol::is_invisible), "{:?}", line);
            }
        }
    }
}
