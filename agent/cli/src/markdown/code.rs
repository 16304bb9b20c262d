//! [`CodeBlock`]: a fenced block of code, and the colours of code.

use anstyle::{AnsiColor, Style};

use super::wrap::painted;
use crate::fit;
use crate::notice::{FAINT, GOOD};
use crate::visible::harmless;

/// The style of code.
pub(super) const CODE: Style = AnsiColor::Cyan.on_default();
const KEYWORD: Style = AnsiColor::Magenta.on_default();
const INDENT: &str = "  ";

/// The keywords of common languages.
const KEYWORDS: &str = "and as async await break case catch class const continue def default defer do done elif else end enum esac \
    export extends extern false fi finally fn for from func function go if impl import in interface is lambda let loop match mod \
    module move mut new nil not null or package pass private pub public raise return select self static struct super switch then \
    this throw trait true try type unsafe use var void where while with yield";

/// The beginnings of comments, and their languages.
const COMMENTS: [(&str, &str); 3] = [
    (
        "#",
        "bash sh shell zsh console python py ruby rb toml yaml yml make makefile dockerfile perl r",
    ),
    ("--", "sql lua haskell hs ada"),
    (
        "//",
        "rust rs c cpp c++ h go java javascript js jsx typescript ts tsx json kotlin swift scala csharp cs php zig dart",
    ),
];

/// A fenced block of code.
#[derive(Debug)]
pub(super) struct CodeBlock {
    mark: char,
    length: usize,
    indent: usize,
    /// The text behind the fence.
    info: String,
}

impl CodeBlock {
    /// Returns the block that the first line of a text begins, if that line is whole.
    pub(super) fn begin(text: &str) -> Option<Self> {
        let (line, _) = text.split_once('\n')?;
        let (indent, mark, length, rest) = fence(line)?;
        // An info string with a backtick would be code in a line.
        (mark != '`' || !rest.contains('`')).then(|| Self {
            mark,
            length,
            indent,
            info: rest.trim().to_owned(),
        })
    }

    /// Returns a block without a fence of its own.
    pub(super) fn with_info(info: &str) -> Self {
        Self {
            mark: '`',
            length: 3,
            indent: 0,
            info: info.trim().to_owned(),
        }
    }

    /// Returns true if the line ends the block.
    pub(super) fn is_end(&self, line: &str) -> bool {
        fence(line).is_some_and(|(_, mark, length, rest)| {
            mark == self.mark && length >= self.length && rest.trim().is_empty()
        })
    }

    /// Returns the line that names the language.
    pub(super) fn title(&self) -> Option<String> {
        let info = harmless(&self.info);
        (!info.is_empty()).then(|| painted(FAINT, &info))
    }

    /// Returns the rows of a line of code. One of ASCII stays whole, so that it can be copied.
    pub(super) fn rows(&self, line: &str, room: usize) -> Vec<String> {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let line = harmless(&line[spaces.min(self.indent)..]);
        let line = line.trim_end_matches(['\n', '\r']).replace('\t', "    ");
        if line.is_empty() {
            return vec![String::new()];
        }
        let language = self.info.split([' ', ',', '{']).next().unwrap_or_default();
        let language = language.to_lowercase();
        let comment = COMMENTS
            .iter()
            .find(|(_, languages)| has_word(languages, &language));
        let room = room.saturating_sub(INDENT.len());
        let rows = if line.is_ascii() {
            vec![&*line]
        } else {
            fit::rows(&line, 0, room)
        };
        let rows = rows.into_iter();
        rows.map(|row| {
            format!(
                "{INDENT}{}",
                coloured(row, comment.map(|(begin, _)| *begin))
            )
        })
        .collect()
    }
}

/// Returns the indentation, the character and the length of a fence, and the text behind it.
fn fence(line: &str) -> Option<(usize, char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let mark = text
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    (indent < 4 && length >= 3).then_some((indent, mark, length, rest))
}

/// Returns a row of code in colours: words alone if the language is unknown, which `comment` says.
fn coloured(row: &str, comment: Option<&str>) -> String {
    let Some(comment) = comment else {
        return painted(CODE, row);
    };
    let mut text = String::new();
    let mut rest = row;
    let mut is_after_space = true;
    while let Some(c) = rest.chars().next() {
        let (style, length) = match c {
            // In a shell, `#` inside of a word is none.
            _ if is_after_space && rest.starts_with(comment) => (FAINT, rest.len()),
            '"' | '\'' | '`' => match string_end(rest, c) {
                Some(end) => (GOOD, end),
                None => (Style::new(), 1),
            },
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                match &rest[..end] {
                    word if has_word(KEYWORDS, word) => (KEYWORD, end),
                    word if word.starts_with(|c: char| c.is_ascii_digit()) => (CODE, end),
                    _ => (Style::new(), end),
                }
            }
            c => (Style::new(), c.len_utf8()),
        };
        is_after_space = c.is_whitespace() || matches!(c, ';' | '{' | '}' | ')' | ',');
        text += &painted(style, &rest[..length]);
        rest = &rest[length..];
    }
    text
}

fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Returns the end of the string at the start of the text. Returns `None` if the row does not end it, as with a lifetime.
fn string_end(text: &str, mark: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, c)| {
        let is_end = c == mark && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_strings_numbers_and_comments_have_colours() {
        let rows = CodeBlock::with_info("rust").rows("let s: &'a str = \"x\\\"\"; // 1", 80);
        let shown = rows[0].replace("\x1b[0m", "$").replace('\x1b', "^");
        assert_eq!(shown, "  ^[35mlet$ s: &'a str = ^[32m\"x\\\"\"$; ^[2m// 1$");
        let rows = CodeBlock::with_info("").rows("let", 80);
        assert_eq!(rows, ["  \x1b[36mlet\x1b[0m"]);
    }

    #[test]
    fn a_fence_ends_at_one_that_is_as_long() {
        let block = CodeBlock::begin("````md x\n").unwrap();
        assert!(!block.is_end("```") && block.is_end("`````  ") && !block.is_end("````a"));
        assert!(CodeBlock::begin("``` a`b\n").is_none() && CodeBlock::begin("```").is_none());
    }
}
