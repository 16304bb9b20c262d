//! [`RecordingProgress`]: a progress sink that records the reports.

use std::sync::{Arc, Mutex};

use tools::IgnorePoison as _;
use tools::{Progress, ProgressSink, ToolContext, ToolName};

/// A [`ProgressSink`] that records each report. Clones share the record.
///
/// ```
/// use serde_json::json;
/// use tools::{Progress, ToolContext, tool};
/// use tools_testkit::{RecordingProgress, TestHost};
///
/// /// Counts down.
/// #[tool(name = "count.down", pure)]
/// fn down(
///     cx: &ToolContext,
///     /// The first number.
///     from: u32,
/// ) {
///     (0..from).rev().for_each(|left| cx.report(Progress::message(format!("{left} left"))));
/// }
///
/// let progress = RecordingProgress::new();
/// let host = TestHost::new(&[&DOWN_TOOL]).with_progress(progress.clone());
/// host.call_blocking("count.down", json!({"from": 2}))?;
/// assert_eq!(progress.messages(), ["1 left", "0 left"]);
/// # Ok::<(), tools::ToolError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordingProgress(Arc<Mutex<Vec<RecordedProgress>>>);

/// A recorded progress report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedProgress {
    /// The reporting tool. `None` for a report outside of a call.
    pub tool: Option<ToolName>,
    /// The report.
    pub progress: Progress,
}

impl RecordingProgress {
    /// Creates a sink without reports.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the reports so far, oldest first.
    pub fn reports(&self) -> Vec<RecordedProgress> {
        self.0.lock().ignore_poison().clone()
    }

    /// Returns the messages of the reports so far, oldest first. Skips reports without a message.
    pub fn messages(&self) -> Vec<String> {
        self.reports()
            .into_iter()
            .filter_map(|report| report.progress.message)
            .collect()
    }
}

impl ProgressSink for RecordingProgress {
    fn report(&self, cx: &ToolContext, progress: Progress) {
        let report = RecordedProgress {
            tool: cx.tool().cloned(),
            progress,
        };
        self.0.lock().ignore_poison().push(report);
    }
}
