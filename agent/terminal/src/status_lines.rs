//! [`StatusLines`]: animated lines at the bottom of a terminal.

use std::time::Duration;

use host::fit::cut;
use host::style::{FAINT, paint};
use tools::visible::visible;

/// The label of a typed line that waits.
pub(crate) const QUEUED: &str = "queued:";

/// The time between two frames: at most ten a second.
pub const FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// Waits shorter than this show no line.
const START_DELAY: Duration = Duration::from_millis(300);
const FRAMES: [char; 4] = ['-', '\\', '|', '/'];
/// The maximum number of lines.
const MAX_LINES: usize = 8;

/// A wait to be shown: its text, which must be visible, and its duration so far.
pub type Wait = (String, Duration);

/// The lines below the other output of a terminal: typed lines that wait, waits, and the status line.
#[derive(Debug, Default)]
pub(crate) struct StatusLines {
    /// The typed lines that wait for the model.
    queued: Vec<String>,
    waits: Vec<Wait>,
    /// The status line, which must be visible.
    status: Option<String>,
    frame: usize,
}

impl StatusLines {
    /// Replaces the waits by the next frame.
    pub(crate) fn set_waits(&mut self, mut waits: Vec<Wait>) {
        waits.retain(|(_, time)| *time >= START_DELAY);
        self.waits = waits;
        self.frame = (self.frame + 1) % FRAMES.len();
    }

    /// Sets the last line.
    pub(crate) fn set_status(&mut self, status: String) {
        self.status = Some(status);
    }

    /// Adds a typed line that waits.
    pub(crate) fn queue(&mut self, line: &str) {
        self.queued.push(line.trim().to_owned());
    }

    /// Removes the typed lines that a text has.
    pub(crate) fn take_queued(&mut self, text: &str) {
        let text = format!("\n{text}\n");
        self.queued
            .retain(|lines| !text.contains(&format!("\n{lines}\n")));
    }

    /// Returns the lines for a terminal of this size.
    pub(crate) fn lines(&self, width: usize, height: usize) -> Vec<String> {
        // A line that has scrolled off the screen cannot be erased.
        let room = MAX_LINES.min(height.saturating_sub(1)).max(1);
        let frame = FRAMES[self.frame];
        // The last column stays free, because a line that wraps could not be erased.
        let columns = width.saturating_sub(1);
        let waits = self.waits.iter().map(|(text, time)| {
            let first = text.lines().next().unwrap_or_default();
            format!("{frame} {}s {first}", time.as_secs())
        });
        let queued = self.queued.iter();
        let queued = queued.map(|line| format!("{QUEUED} {}", visible(line)));
        let mut lines: Vec<_> = queued.chain(waits).collect();
        let status = self.status.as_ref().filter(|_| room > 1);
        let room = room - usize::from(status.is_some());
        let more = lines.len().saturating_sub(room);
        lines.truncate(room);
        if let Some(last) = lines.last_mut().filter(|_| more > 0) {
            *last = format!("{frame} … and {} more", more + 1);
        }
        // The last lines of programs, while there is room for them.
        for (index, (text, _)) in self.waits.iter().enumerate().rev() {
            let below = text.lines().skip(1);
            let below: Vec<_> = below.map(|line| format!("  | {line}")).collect();
            let place = self.queued.len() + index + 1;
            if place <= lines.len() && lines.len() + below.len() <= room {
                lines.splice(place..place, below);
            }
        }
        let lines = lines.iter().map(|line| cut(line, columns));
        let status = status.map(|status| status_line(status, width));
        lines.chain(status).collect()
    }
}

/// Returns the status line of a terminal of this width.
pub(crate) fn status_line(status: &str, width: usize) -> String {
    paint(FAINT, cut(status, width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(count: u64) -> Vec<Wait> {
        (0..count)
            .map(|number| (format!("call {number}"), Duration::from_secs(number + 1)))
            .collect()
    }

    fn lines(
        status: &mut StatusLines,
        waits: Vec<Wait>,
        width: usize,
        height: usize,
    ) -> Vec<String> {
        status.set_waits(waits);
        status.lines(width, height)
    }

    #[test]
    fn typed_lines_wait_above_the_status_until_they_are_sent() {
        let mut status = StatusLines::default();
        status.set_status("model".to_owned());
        status.queue("be brief ");
        status.queue("/clear");
        status.queue("pasted\n\nlines ");
        let shown = lines(&mut status, waits(1), 80, 24);
        assert_eq!(
            shown,
            [
                "queued: be brief",
                "queued: /clear",
                "queued: pasted\\n\\nlines",
                "\\ 1s call 0",
                "\x1b[2mmodel\x1b[0m"
            ]
        );
        status.take_queued("be brief\npasted\n\nlines\nand more");
        assert_eq!(
            lines(&mut status, Vec::new(), 80, 24),
            ["queued: /clear", "\x1b[2mmodel\x1b[0m"]
        );
        assert_eq!(
            lines(&mut status, waits(9), 80, 3),
            ["/ … and 10 more", "\x1b[2mmodel\x1b[0m"]
        );
    }

    #[test]
    fn each_wait_has_a_line_unless_they_are_too_short_or_too_many() {
        let mut status = StatusLines::default();
        let early = (String::from("early"), Duration::from_millis(100));
        let shown = lines(&mut status, [waits(2), vec![early]].concat(), 80, 24);
        assert_eq!(shown, ["\\ 1s call 0", "\\ 2s call 1"]);
        let shown = lines(&mut status, waits(10), 80, 24);
        assert_eq!((shown.len(), shown[7].as_str()), (8, "| … and 3 more"));
        assert_eq!(lines(&mut status, waits(10), 80, 3).len(), 2);
        assert!(
            lines(&mut status, waits(10), 9, 24)
                .iter()
                .all(|line| line.chars().count() <= 8)
        );
    }
}
