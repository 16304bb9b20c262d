//! [`StatusLines`]: animated lines at the bottom of a terminal.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};

use crate::fit::cut;
use crate::notice::{size, write_raw};

/// The time between two frames: at most ten a second.
pub(crate) const FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// Waits shorter than this show no line.
const START_DELAY: Duration = Duration::from_millis(300);
const FRAMES: [char; 4] = ['-', '\\', '|', '/'];
/// The maximum number of lines.
const MAX_LINES: usize = 8;

/// A wait to be shown: its text, which must be visible, and its duration so far.
pub(crate) type Wait = (String, Duration);

/// The lines drawn below the other output on standard error.
#[derive(Debug, Default)]
pub(crate) struct StatusLines {
    drawn: usize,
    frame: usize,
}

impl StatusLines {
    /// Returns true if standard error is a terminal that takes more than plain text.
    pub(crate) fn are_shown() -> bool {
        io::stderr().is_terminal() && AutoStream::choice(&io::stderr()) != ColorChoice::Never
    }

    /// Replaces the drawn lines by one line for each wait.
    pub(crate) fn draw(&mut self, waits: Vec<Wait>) {
        let (width, height) = size().unwrap_or((80, 24));
        let lines = self.lines(waits, width, height);
        if !lines.is_empty() || self.drawn > 0 {
            write_raw(&(self.erasure() + &lines.join("\n")));
            self.drawn = lines.len();
        }
    }

    /// Erases the lines. Returns true if there were any.
    pub(crate) fn clear(&mut self) -> bool {
        let is_drawn = self.drawn > 0;
        if is_drawn {
            write_raw(&self.erasure());
            self.drawn = 0;
        }
        is_drawn
    }

    fn lines(&mut self, mut waits: Vec<Wait>, width: usize, height: usize) -> Vec<String> {
        waits.retain(|(_, time)| *time >= START_DELAY);
        // A line that has scrolled off the screen cannot be erased.
        let room = MAX_LINES.min(height.saturating_sub(1)).max(1);
        let more = waits.len().saturating_sub(room);
        self.frame = (self.frame + 1) % FRAMES.len();
        let frame = FRAMES[self.frame];
        // The last column stays free, because a line that wraps could not be erased.
        let columns = width.saturating_sub(1);
        let mut lines: Vec<_> = waits
            .iter()
            .take(room)
            .map(|(text, time)| {
                let first = text.lines().next().unwrap_or_default();
                cut(&format!("{frame} {}s {first}", time.as_secs()), columns)
            })
            .collect();
        if let Some(last) = lines.last_mut().filter(|_| more > 0) {
            *last = cut(&format!("{frame} … and {} more", more + 1), columns);
        }
        // The last lines of programs, while there is room for them.
        for (index, (text, _)) in waits.iter().enumerate().take(lines.len()).rev() {
            let below = text.lines().skip(1);
            let below: Vec<_> = below
                .map(|line| cut(&format!("  | {line}"), columns))
                .collect();
            if lines.len() + below.len() <= room {
                lines.splice(index + 1..index + 1, below);
            }
        }
        lines
    }

    /// Returns the control sequence that moves to the first drawn line and erases everything from there.
    fn erasure(&self) -> String {
        match self.drawn {
            0 => String::new(),
            1 => "\r\u{1b}[J".to_owned(),
            drawn => format!("\r\u{1b}[{}A\u{1b}[J", drawn - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(count: u64) -> Vec<Wait> {
        (0..count)
            .map(|number| (format!("call {number}"), Duration::from_secs(number + 1)))
            .collect()
    }

    #[test]
    fn each_wait_has_a_line_unless_they_are_too_short_or_too_many() {
        let mut status = StatusLines::default();
        let early = (String::from("early"), Duration::from_millis(100));
        let lines = status.lines([waits(2), vec![early]].concat(), 80, 24);
        assert_eq!(lines, ["\\ 1s call 0", "\\ 2s call 1"]);
        let lines = status.lines(waits(10), 80, 24);
        assert_eq!((lines.len(), lines[7].as_str()), (8, "| … and 3 more"));
        assert_eq!(status.lines(waits(10), 80, 3).len(), 2);
        assert!(
            status
                .lines(waits(10), 9, 24)
                .iter()
                .all(|line| line.chars().count() <= 8)
        );
    }
}
