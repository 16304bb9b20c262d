//! [`Live`]: the lines at the end of a terminal that may still change.

use std::mem;

use host::fit;

/// The lines at the end of a terminal that may still change, such as the block that a model writes and the status line. The cursor is
/// behind the last one, or at the start of an empty row if there is none.
#[derive(Debug, Default)]
pub(crate) struct Live {
    drawn: Vec<String>,
    /// The columns of the terminal at that time.
    width: usize,
}

impl Live {
    /// Returns true if a line is drawn.
    pub(crate) fn is_drawn(&self) -> bool {
        self.drawn.iter().any(|line| !line.is_empty())
    }

    /// Replaces the lines by `finished` ones, which stay, and `live` ones. Returns the text that changes a terminal of this width and
    /// height. It writes changed lines alone, and none that has scrolled off the screen.
    pub(crate) fn update(
        &mut self,
        finished: Vec<String>,
        live: Vec<String>,
        (width, height): (usize, usize),
    ) -> String {
        let width = width.max(1);
        let rows = |line: &String| rows(line, width);
        let mut new = finished;
        new.extend_from_slice(&live);
        if live.is_empty() {
            new.push(String::new());
        }
        let was_empty = self.drawn.is_empty();
        let mut old = mem::replace(&mut self.drawn, live);
        if was_empty {
            old.push(String::new());
        }
        let mut reach = old.len() - 1;
        let mut used = rows(&old[reach]);
        while reach > 0 && used + rows(&old[reach - 1]) <= height {
            reach -= 1;
            used += rows(&old[reach]);
        }
        // A terminal that was resized has broken the lines anew.
        let is_same_width = mem::replace(&mut self.width, width) == width || was_empty;
        let pairs = old.iter().zip(&new).skip(reach).filter(|_| is_same_width);
        let first = reach + pairs.take_while(|(old, new)| old == new).count();
        if first == old.len() && first == new.len() && is_same_width {
            return String::new();
        }
        let first = first.min(new.len() - 1);
        let old_rows: usize = old.iter().skip(first).map(rows).sum();
        // Behind a full row, the cursor may be on its last character.
        let growth = old.get(first);
        let growth =
            growth.filter(|line| first + 1 == old.len() && is_same_width && !is_full(line, width));
        let growth = growth.and_then(|line| new[first].strip_prefix(&**line));
        let mut text = match old_rows {
            0 => "\n".to_owned(),
            _ if growth.is_some() => String::new(),
            1 => "\r".to_owned(),
            _ => format!("\x1b[{}A\r", old_rows - 1),
        };
        if !is_same_width {
            text += "\x1b[J";
        }
        let mut row = 0;
        let mut is_aligned = is_same_width;
        for (at, line) in new.iter().enumerate().skip(first) {
            if at > first {
                text += "\n";
            }
            let before = old.get(at).filter(|_| is_aligned);
            match before {
                Some(before) if before == line => text += &pass(line, width),
                _ => {
                    let covers = growth.is_none() && is_same_width && row < old_rows;
                    // The whole row, because some terminals break the spaces of an erased end when they are resized.
                    text += if covers { "\x1b[2K" } else { "" };
                    text += growth.filter(|_| at == first).unwrap_or(line);
                    let has_more_rows = covers && rows(line) > 1 && !is_full(line, width);
                    text += if has_more_rows { "\x1b[K" } else { "" };
                }
            }
            is_aligned &= before.is_some_and(|before| rows(before) == rows(line));
            row += rows(line);
        }
        if row < old_rows {
            let is_full = new.last().is_some_and(|line| is_full(line, width));
            text += if is_full { "\n\x1b[J\x1b[A" } else { "\x1b[J" };
        }
        text
    }
}

fn rows(line: &str, width: usize) -> usize {
    fit::columns(line).div_ceil(width).max(1)
}

/// Returns true if the line fills its last row.
fn is_full(line: &str, width: usize) -> bool {
    !line.is_empty() && fit::columns(line).is_multiple_of(width)
}

/// Returns the text that moves the cursor from the start of a line to its end.
fn pass(line: &str, width: usize) -> String {
    let down = rows(line, width) - 1;
    let mut text = String::new();
    if down > 0 {
        text += &format!("\x1b[{down}B");
    }
    match fit::columns(line) - down * width {
        0 => text,
        column => text + &format!("\x1b[{column}C"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use tools_testkit::Screen;

    use super::*;

    fn wrapped(lines: &[String], width: usize) -> Vec<String> {
        let rows = lines.iter().flat_map(|line| {
            let characters: Vec<_> = line.chars().collect();
            let mut rows: Vec<String> = characters
                .chunks(width)
                .map(|row| row.iter().collect())
                .collect();
            if rows.is_empty() {
                rows.push(String::new());
            }
            rows
        });
        let mut rows: Vec<_> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    proptest! {
        #[test]
        fn the_terminal_shows_the_finished_lines_and_the_last_live_ones(
            steps in prop::collection::vec((prop::collection::vec("[a-c]{0,9}", 0..3), prop::collection::vec("[a-c]{0,9}", 0..4)), 1..12),
        ) {
            // The screen is high enough for all live lines.
            let size = (4, 40);
            let mut screen = Screen::new(size.0, size.1);
            let mut live = Live::default();
            let mut all = Vec::new();
            for (finished, lines) in steps {
                all.extend(finished.clone());
                screen.write(&live.update(finished, lines.clone(), size).replace('\n', "\r\n"));
                let expected = [&all[..], &lines].concat();
                prop_assert_eq!(screen.text(), wrapped(&expected, size.0));
            }
        }
    }

    #[test]
    fn only_changes_are_written() {
        let mut live = Live::default();
        let mut update = |lines: &[&str]| {
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            live.update(Vec::new(), lines, (20, 10))
        };
        assert_eq!(update(&["one", "status"]), "one\nstatus");
        assert_eq!(update(&["one", "status"]), "");
        assert_eq!(
            update(&["one two", "status"]),
            "\x1b[1A\r\x1b[2Kone two\n\x1b[6C"
        );
        assert_eq!(update(&["one two", "status 2"]), " 2");
        assert_eq!(update(&["one two"]), "\x1b[1A\r\x1b[7C\x1b[J");
        assert_eq!(update(&[]), "\r\x1b[2K");
    }

    #[test]
    fn a_resized_terminal_gets_all_lines_anew() {
        let mut live = Live::default();
        let lines = || vec!["0123456789".to_owned(), "ab".to_owned()];
        live.update(Vec::new(), lines(), (20, 10));
        // The first line has two rows now.
        let text = live.update(Vec::new(), lines(), (6, 10));
        assert_eq!(text, "\x1b[2A\r\x1b[J0123456789\nab");
        assert_eq!(live.update(Vec::new(), lines(), (6, 10)), "");
    }

    #[test]
    fn a_row_that_has_scrolled_off_is_left_alone() {
        let mut live = Live::default();
        let lines: Vec<_> = ["a", "b", "c", "d"].map(str::to_owned).into();
        live.update(Vec::new(), lines, (20, 3));
        let changed: Vec<_> = ["A", "b", "c", "D"].map(str::to_owned).into();
        assert_eq!(live.update(Vec::new(), changed, (20, 3)), "\r\x1b[2KD");
    }
}
