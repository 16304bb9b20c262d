//! [`ProgressLine`]: the progress of a call as MCP wants it.

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tools::{Progress, ProgressSink, ToolContext};

use crate::server::peer::{Message, Peer};

/// Passes reports of a tool to the client.
pub(super) struct PeerProgress(pub(super) Peer);

impl ProgressSink for PeerProgress {
    fn report(&self, _cx: &ToolContext, progress: Progress) {
        self.0.send(Message::Progress(progress));
    }
}

/// The progress of one call. MCP requires that each value is larger than the one before.
#[derive(Debug, Default)]
pub(super) struct ProgressLine {
    last: Option<f64>,
    is_measured: bool,
}

impl ProgressLine {
    /// Returns the notification. Returns `None` if the value does not increase.
    ///
    /// A report without an amount counts one further, or the smallest step if another report had an amount.
    pub(super) fn next(
        &mut self,
        token: &ProgressToken,
        progress: Progress,
    ) -> Option<ProgressNotificationParam> {
        let value = match (progress.done, self.last) {
            (Some(done), _) => {
                self.is_measured = true;
                done
            }
            (None, Some(last)) if self.is_measured => last.next_up(),
            (None, last) => last.unwrap_or_default() + 1.0,
        };
        if !value.is_finite() || self.last.is_some_and(|last| value <= last) {
            return None;
        }
        self.last = Some(value);
        let mut notification = ProgressNotificationParam::new(token.clone(), value);
        notification.total = progress.total.filter(|total| total.is_finite());
        notification.message = progress.message;
        Some(notification)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn values(reports: &[Progress]) -> Vec<f64> {
        let (mut line, token) = (
            ProgressLine::default(),
            ProgressToken(NumberOrString::Number(1)),
        );
        reports
            .iter()
            .filter_map(|report| Some(line.next(&token, report.clone())?.progress))
            .collect()
    }

    #[test]
    fn progress_only_increases() {
        let reports =
            [0.0, 50.0, 50.0, 20.0, f64::NAN, 100.0].map(|done| Progress::new(done, 100.0));
        assert_eq!(values(&reports), [0.0, 50.0, 100.0]);
    }

    #[test]
    fn messages_without_an_amount_count() {
        assert_eq!(values(&["a", "b"].map(Progress::message)), [1.0, 2.0]);
        let mixed = values(&[
            Progress::new(50.0, 100.0),
            Progress::message("half"),
            Progress::new(51.0, 100.0),
        ]);
        assert_eq!(mixed.len(), 3);
        assert!(mixed[1] > 50.0 && mixed[1] < 50.001, "{mixed:?}");
    }
}
