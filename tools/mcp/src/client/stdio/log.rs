//! [`Log`]: the lines of a server that are no messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tools::{IgnorePoison as _, visible_line};

use crate::client::stdio::lines::Lines;

/// The bytes of a line that are kept.
const KEPT: usize = 4096;

/// The characters of a line that are shown.
const SHOWN: usize = 500;

/// The latest lines that are kept for a report.
const LATEST: usize = 5;

/// Writes the lines of a server that are no messages to the log, in short and with invisible characters made visible.
///
/// A clone has the same latest lines.
#[derive(Clone, Debug)]
pub(super) struct Log {
    server: Arc<str>,
    stream: &'static str,
    lines: Lines,
    latest: Arc<Mutex<VecDeque<Vec<u8>>>>,
}

impl Log {
    pub(super) fn new(server: Arc<str>, stream: &'static str) -> Self {
        Self {
            server,
            stream,
            lines: Lines::cut_at(KEPT),
            latest: Arc::default(),
        }
    }

    /// Takes bytes of a stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line, _| self.line(line));
        self.lines = lines;
    }

    /// Takes a line without an end, because no bytes follow.
    pub(super) fn finish(&mut self) {
        if let Some(line) = self.lines.rest() {
            self.line(&line);
        }
    }

    /// Takes a line.
    pub(super) fn line(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let line = &line[..line.len().min(KEPT)];
        // A server may write millions of lines.
        if tracing::enabled!(target: "tools_mcp::server", tracing::Level::DEBUG) {
            let line = show_line(line);
            tracing::debug!(target: "tools_mcp::server", server = %self.server, stream = self.stream, "{line}");
        }
        let mut latest = self.latest.lock().ignore_poison();
        let oldest = (latest.len() == LATEST).then(|| latest.pop_front());
        let mut kept = oldest.flatten().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(line);
        latest.push_back(kept);
    }

    /// Returns the latest lines as one.
    pub(super) fn latest(&self) -> String {
        let latest = self.latest.lock().ignore_poison();
        let lines: Vec<_> = latest.iter().map(|line| show_line(line)).collect();
        lines.join(" / ")
    }
}

fn show_line(line: &[u8]) -> String {
    visible_line(&String::from_utf8_lossy(line), SHOWN)
}
