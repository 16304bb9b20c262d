//! The time of a budget, which stands still while a question to a person is open.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use tokio::time::{Instant, sleep_until};
use tools::call::PersonClock;

use super::{Budget, Exhausted, Node};

impl Budget {
    /// Returns the time at which the first limit on time ends, with that limit. Returns `None` if there is no such limit.
    ///
    /// The time moves while a call of the budget or of a descendant waits for an approval or for the answer to a question.
    pub fn deadline(&self) -> Option<(Instant, Exhausted)> {
        let ends = self.chain().filter_map(|(node, scope)| {
            Some((node.end()?, Exhausted::time(node.limits.time?, scope)))
        });
        ends.min_by_key(|(end, _)| *end)
    }

    /// Waits until a limit on time has ended, and returns it. Never completes if there is no such limit.
    pub(crate) async fn time_over(&self) -> Exhausted {
        let mut limits: Vec<_> = self
            .chain()
            .filter_map(|(node, scope)| Some((node, Exhausted::time(node.limits.time?, scope))))
            .map(|(node, exhausted)| {
                Box::pin(async {
                    node.time_over().await;
                    exhausted
                })
            })
            .collect();
        poll_fn(|task| {
            let mut over = limits.iter_mut().map(|limit| limit.as_mut().poll(task));
            over.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }

    /// Returns the clock of the questions during which the time stands still.
    pub(crate) fn person_clock(&self) -> &Arc<PersonClock> {
        &self.0.person_clock
    }
}

impl Node {
    /// Returns the end of the time as of now. Returns `None` if the time is not limited.
    fn end(&self) -> Option<Instant> {
        let time = self.limits.time?.checked_add(self.person_clock.total())?;
        self.started.checked_add(time)
    }

    async fn time_over(&self) {
        while let Some(end) = self.end() {
            if Instant::now() >= end {
                return;
            }
            sleep_until(end).await;
            // While a question is open, the end moves on with the clock, so that there is no time to sleep until.
            self.person_clock.until_idle().await;
        }
        pending().await
    }
}
