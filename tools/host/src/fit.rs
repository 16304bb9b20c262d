//! Text that fits a number of columns.

use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, wrap};

/// The distance of the tab stops of a terminal, in columns.
const TAB: usize = 8;

/// Returns the number of columns that the text takes.
pub fn columns(text: &str) -> usize {
    display_width(text)
}

/// Returns the columns to fill without a terminal: `COLUMNS`, or else 80.
pub fn default_columns() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .unwrap_or(80)
}

/// Cuts a line to this number of columns.
pub fn cut(line: &str, room: usize) -> String {
    if columns(line) <= room {
        return line.to_owned();
    }
    let mut used = 0;
    let end = line.find(|c| {
        used += columns_of(c);
        // The last column is for the `…`.
        used >= room
    });
    let end = end.unwrap_or(line.len());
    if room > 0 {
        format!("{}…", &line[..end])
    } else {
        String::new()
    }
}

/// Breaks a line to rows of at most this number of columns, after spaces if possible. The rows together are the line. They start at
/// this column of the terminal, which determines the width of tabs. Returns at least one row, which may be empty.
pub fn rows(line: &str, start: usize, room: usize) -> Vec<&str> {
    let next = |used: usize, c: char| match c {
        '\t' => used + TAB - (start + used) % TAB,
        // A terminal may give a column to a character that takes none.
        _ => used + columns_of(c).max(1),
    };
    let mut rows = Vec::new();
    let mut begin = 0;
    let mut used = 0;
    for (position, c) in line.char_indices() {
        while position > begin && next(used, c) > room {
            let space = line[begin..position].rfind(' ');
            let end = space.map_or(position, |space| begin + space + 1);
            rows.push(&line[begin..end]);
            begin = end;
            used = line[begin..position].chars().fold(0, next);
        }
        used = next(used, c);
    }
    rows.push(&line[begin..]);
    rows
}

fn columns_of(c: char) -> usize {
    columns(c.encode_utf8(&mut [0; 4]))
}

/// Wraps the text at spaces to lines of at most this number of columns. A longer word gets its own line, so that it can be copied.
/// Returns at least one line, which may be empty.
pub fn wrap_text(text: &str, room: usize) -> Vec<String> {
    with_starts(text, room, "", "")
}

/// Wraps the text like [`wrap_text`], but breaks words that are longer than the line. Returns at least one line, which may be empty.
pub fn wrap_words(text: &str, room: usize) -> Vec<String> {
    let options = Options::new(room).word_separator(WordSeparator::AsciiSpace);
    let options = options.word_splitter(WordSplitter::NoHyphenation);
    let lines = wrap(text, options.wrap_algorithm(WrapAlgorithm::FirstFit));
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// Wraps the text like [`wrap_text`] to lines that begin with `first` or, after the first line, with `next`. Ends the last line.
pub fn hanging(text: &str, room: usize, first: &str, next: &str) -> String {
    with_starts(text, room, first, next).join("\n") + "\n"
}

fn with_starts(text: &str, room: usize, first: &str, next: &str) -> Vec<String> {
    let options = Options::new(room)
        // A path or a command that is broken cannot be copied.
        .break_words(false)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let options = options
        .word_separator(WordSeparator::Custom(words))
        .word_splitter(WordSplitter::NoHyphenation);
    let lines = wrap(text, options.initial_indent(first).subsequent_indent(next));
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// Splits a line after spaces, but not in backticks: a shell runs each line of a command that is broken.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let (mut begin, mut is_quoted, mut words) = (0, false, Vec::new());
    for (at, character) in line.char_indices() {
        let is_start = line[..at].ends_with(' ') && character != ' ';
        if is_start && !is_quoted {
            words.push(Word::from(&line[begin..at]));
            begin = at;
        }
        if character == '`' {
            is_quoted = !is_quoted && line[at + 1..].contains('`');
        }
    }
    words.push(Word::from(&line[begin..]));
    Box::new(words.into_iter())
}

/// Wraps running text. Line breaks inside of a paragraph move; those before empty or indented lines and list items stay.
pub fn paragraphs(text: &str, room: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        // Such lines are Markdown that a reader sees as lines.
        let starts = line.is_empty() || line.starts_with([' ', '\t', '-', '*', '|', '#']);
        match lines.last_mut().filter(|last| !starts && !last.is_empty()) {
            Some(last) => *last = format!("{last} {line}"),
            None => lines.push(line.to_owned()),
        }
    }
    lines
        .iter()
        .flat_map(|line| wrap_text(line, room))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_its_columns() {
        assert_eq!(cut("| 2s fs.read", 12), "| 2s fs.read");
        assert_eq!(cut("| 2s fs.read", 8), "| 2s fs…");
        assert_eq!(cut("| 你好你好", 7), "| 你好…");
        assert_eq!(cut("| 你好你好", 6), "| 你…");
        assert_eq!([cut("| 2s", 1), cut("| 2s", 0)], ["…", ""]);
    }

    #[test]
    fn rows_break_after_spaces_or_else_anywhere_and_lose_nothing() {
        assert_eq!(rows("", 4, 16), [""]);
        assert_eq!(
            rows("one two-three  four", 4, 9),
            ["one ", "two-three", "  four"]
        );
        assert_eq!(rows("a    b", 4, 3), ["a  ", "  b"]);
        assert_eq!(rows("語語e\u{301}", 4, 4), ["語語", "e\u{301}"]);
        assert_eq!(
            rows("a\tb\tc\td", 4, 16),
            ["a\tb\tc", "\td"],
            "tab stops are at columns 8, 16 and 24"
        );
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_stay_whole() {
        assert_eq!(
            wrap_text(&format!("a {} b", "x".repeat(40)), 24),
            ["a", &"x".repeat(40), "b"]
        );
        assert_eq!(
            wrap_text("run `mv a b` or `c`", 8),
            ["run", "`mv a b`", "or `c`"]
        );
        assert_eq!(
            wrap_text("one two-three\n  four", 8),
            ["one", "two-three", "  four"]
        );
        assert_eq!(wrap_text("", 24), [""]);
        assert_eq!(wrap_words("a 語語語語", 4), ["a", "語語", "語語"]);
    }

    #[test]
    fn lines_begin_with_their_starts_and_styles_take_no_room() {
        assert_eq!(
            hanging("one two three", 9, "- ", "  "),
            "- one two\n  three\n"
        );
        assert_eq!(
            hanging("\u{1b}[1mone\u{1b}[0m two", 7, "", "  "),
            "\u{1b}[1mone\u{1b}[0m two\n"
        );
    }

    #[test]
    fn paragraphs_are_filled_and_lists_stay() {
        let text = "One two\nthree four.\n\nFive:\n- six\n- seven eight\n  nine";
        assert_eq!(
            paragraphs(text, 11),
            "One two\nthree four.\n\nFive:\n- six\n- seven\neight\n  nine"
        );
    }
}
