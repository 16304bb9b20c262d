//! [`Screen`]: the text of a terminal, line by line.

use vte::{Params, Parser, Perform};

use crate::supervise::{Collect, Recent, Ring};

/// The characters of the longest line. A longer one is continued on the next.
const LONGEST: usize = 4096;

/// The distance of tab stops.
const TAB: usize = 8;

/// Reduces the output of a terminal to plain text: it follows the cursor inside of the last line, so that a progress bar is one line, and
/// leaves out colours, titles and all other control sequences. A cursor that leaves its line begins a new one.
pub(super) struct Screen {
    parser: Parser,
    text: Lines,
    /// The part of the last line that was read.
    shown: String,
}

/// The performer of the parser.
struct Lines {
    /// The lines before the last one.
    above: Ring,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    /// Keeps at most `limit` unread bytes before the last line.
    pub(super) fn new(limit: usize) -> Self {
        let text = Lines {
            above: Ring::new(limit),
            line: Vec::new(),
            column: 0,
        };
        Self {
            parser: Parser::new(),
            text,
            shown: String::new(),
        }
    }

    /// Takes the text since the last read. A line that has changed otherwise than at its end is repeated.
    pub(super) fn read(&mut self) -> Recent {
        let mut recent = self.text.above.read();
        let line: String = self.text.line.iter().collect();
        recent.text += &line;
        let shown = std::mem::replace(&mut self.shown, line);
        if let Some(new) = recent
            .text
            .strip_prefix(&shown)
            .filter(|_| recent.skipped == 0)
        {
            recent.text = new.to_owned();
        }
        recent
    }
}

impl Collect for Screen {
    fn push(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.text, bytes);
    }

    fn finish(&mut self) {
        self.text.above.finish();
    }
}

impl Lines {
    fn end_line(&mut self) {
        let line: String = self.line.drain(..).chain(['\n']).collect();
        self.above.push(line.as_bytes());
        self.column = 0;
    }
}

impl Perform for Lines {
    fn print(&mut self, character: char) {
        if character.is_control() {
            return;
        }
        if self.column >= LONGEST {
            self.end_line();
        }
        if self.line.len() <= self.column {
            self.line.resize(self.column + 1, ' ');
        }
        self.line[self.column] = character;
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_line(),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.column = (self.column / TAB + 1) * TAB,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, parameters: &Params, intermediates: &[u8], _: bool, action: char) {
        if !intermediates.is_empty() {
            return;
        }
        let first = usize::from(
            parameters
                .iter()
                .next()
                .and_then(|values| values.first().copied())
                .unwrap_or(0),
        );
        let count = first.max(1);
        let end = self.line.len();
        match action {
            'C' => self.column += count,
            'D' => self.column = self.column.saturating_sub(count),
            'G' | '`' => self.column = count - 1,
            'K' if first == 0 => self.line.truncate(self.column),
            'K' if first == 1 => self.line[..end.min(self.column + 1)].fill(' '),
            'K' => self.line.clear(),
            'P' => drop(
                self.line
                    .drain(self.column.min(end)..end.min(self.column + count)),
            ),
            '@' if self.column < end => {
                // A program chooses the number, and must not choose the memory.
                let blanks = std::iter::repeat_n(' ', count.min(LONGEST));
                drop(self.line.splice(self.column..self.column, blanks));
                self.line.truncate(LONGEST);
            }
            // The cursor leaves the line.
            'A' | 'B' | 'E' | 'F' | 'H' | 'd' | 'f' if end > 0 => self.end_line(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads after each piece.
    fn read(pieces: &[&str]) -> Vec<String> {
        let mut screen = Screen::new(1000);
        let mut reads = Vec::new();
        for piece in pieces {
            screen.push(piece.as_bytes());
            reads.push(screen.read().text);
        }
        reads
    }

    #[test]
    fn control_sequences_are_left_out_wherever_they_are_cut() {
        let text = "\x1b[1;32mgreen\x1b[0m \x1b]0;title\x07\x1b[?25lé🦀\x1b(B\x1bP1$r\x1b\\\u{9b}!\x07\r\n";
        for cut in 0..text.len() {
            let mut screen = Screen::new(1000);
            screen.push(&text.as_bytes()[..cut]);
            screen.push(&text.as_bytes()[cut..]);
            assert_eq!(screen.read().text, "green é🦀!\n", "cut at {cut}");
        }
    }

    #[test]
    fn a_line_that_is_written_over_is_shown_as_it_was_left() {
        assert_eq!(read(&["10%\r50%\r100%\ndone"]), ["100%\ndone"]);
        assert_eq!(read(&["downloading\r\x1b[Kok\n"]), ["ok\n"]);
        assert_eq!(read(&["abc\x08\x08X\x1b[CY"]), ["aXcY"]);
        assert_eq!(read(&["abcdef\x1b[3G\x1b[2P|\x1b[1@-"]), ["ab|-f"]);
        assert_eq!(read(&["a\tb\x1b[1K"]), ["         "]);
        assert_eq!(read(&["one\x1b[5;1Htwo\x1b[2J\x1b[H"]), ["one\ntwo\n"]);
    }

    #[test]
    fn each_read_gives_what_is_new() {
        assert_eq!(
            read(&[">>> ", "1+1\r\n2\r\n>>> ", ""]),
            [">>> ", "1+1\n2\n>>> ", ""]
        );
        assert_eq!(read(&["50%", "\r60%", "\r\n"]), ["50%", "60%", "\n"]);
    }

    #[test]
    fn lines_and_moves_are_bounded() {
        let mut screen = Screen::new(100);
        screen.push(b"\x1b[65535Cx\x1b[65535@\x1b[99999999C");
        screen.push("y".repeat(3 * LONGEST).as_bytes());
        assert!(screen.text.line.len() <= LONGEST + 1);
        screen.push(b"\x1b]0;");
        screen.push("t".repeat(100_000).as_bytes());
        screen.push(b"\x07\nend");
        let recent = screen.read();
        assert!(
            recent.skipped > 0 && recent.text.ends_with("end") && recent.text.len() <= 103,
            "{recent:?}"
        );
    }
}
