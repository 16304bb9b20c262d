//! Reports the last lines of a running program.

use std::convert::Infallible;
use std::time::Duration;

use tools::{Progress, ToolContext, head};

use crate::supervise::{Capture, Running};

/// The time between two reports.
const INTERVAL: Duration = Duration::from_millis(500);

/// The number of lines in a report.
const LINES: usize = 3;

/// The most bytes of a line in a report.
const LONGEST: usize = 300;

/// Reports the last lines of the output stream that has changed, until the future is dropped.
pub(crate) async fn report_output(cx: &ToolContext, running: &Running<Capture>) -> Infallible {
    let mut seen = [0, 0];
    loop {
        tokio::time::sleep(INTERVAL).await;
        let streams = [running.with_stdout(look), running.with_stderr(look)];
        let changed = (0..2).find(|index| streams[*index].0 != seen[*index]);
        seen = [streams[0].0, streams[1].0];
        let lines = changed.map(|index| last_lines(&streams[index].1));
        if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
            cx.report(Progress::message(lines));
        }
    }
}

/// Returns the number of bytes so far, and the last ones.
fn look(capture: &mut Capture) -> (u64, Vec<u8>) {
    (capture.total(), capture.last_bytes(LINES * LONGEST))
}

/// Returns the last lines of bytes that may begin amid a character. Of a line that a program has written anew, its last text counts.
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().rev().map(|line| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or(line).trim_end()
    });
    let lines = lines.filter(|line| !line.is_empty()).take(LINES);
    let mut lines: Vec<_> = lines.map(|line| head(line, LONGEST)).collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_those_that_a_terminal_would_show() {
        assert_eq!(last_lines(b"a\nb\n\nc\nd\n"), "b\nc\nd");
        assert_eq!(last_lines(b"10 %\r50 %\r90 %"), "90 %");
        assert_eq!(last_lines(b"x\r\n 90 %\r100 %\r"), "x\n100 %");
        assert_eq!(last_lines(b"\n"), "");
        assert_eq!(
            last_lines("é".repeat(400).as_bytes()),
            "é".repeat(LONGEST / 2)
        );
    }
}
