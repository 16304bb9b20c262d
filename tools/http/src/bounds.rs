//! [`Bounds`]: the time and the cancellation that end a request.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tools::{CancellationToken, ToolContext};
use url::Url;

use crate::error::HttpError;

/// The time and the cancellation that end a request, from its start to the end of its response.
#[derive(Debug)]
pub(crate) struct Bounds {
    url: String,
    cancellation: CancellationToken,
    /// The end, and the time until then at the start.
    end: Instant,
    limit: Duration,
}

impl Bounds {
    /// Starts the time of a request. The earlier of `total` and the deadline of the call ends it.
    pub(crate) fn new(cx: &ToolContext, url: &Url, total: Duration) -> Self {
        let now = Instant::now();
        let deadline = cx.deadline().map(Instant::from_std);
        // A limit of centuries overflows, and is none.
        let end = now.checked_add(total).into_iter().chain(deadline).min();
        let end = end.unwrap_or_else(|| now + Duration::from_secs(86_400 * 365));
        Self {
            url: url.to_string(),
            cancellation: cx.cancellation().clone(),
            end,
            limit: total.min(end - now),
        }
    }

    /// Does a part of the request.
    ///
    /// # Errors
    /// Returns [`HttpError::Cancelled`] and [`HttpError::Time`] if the request ends first.
    pub(crate) async fn run<T>(
        &self,
        part: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        match self
            .cancellation
            .run_until_cancelled(timeout_at(self.end, part))
            .await
        {
            None => Err(HttpError::Cancelled {
                url: self.url.clone(),
            }),
            Some(Err(_)) => Err(HttpError::Time {
                url: self.url.clone(),
                limit: self.limit,
            }),
            Some(Ok(done)) => done,
        }
    }
}
