//! [`Calls`]: the requests to a server that run for a call of a tool.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use tools::IgnorePoison as _;
use tools::{Progress, ToolContext};

/// The reason that a server is told when a call has ended before its answer.
const ABANDONED: &str = "the caller no longer waits for the result";

/// The time of a call that its progress can prolong it to.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// The requests to a server that run for a call of a tool, with the context of the call.
///
/// Notifications and requests of the server that belong to a call find its context here.
#[derive(Default)]
pub(super) struct Calls {
    /// Held while a request is sent and entered, so that an early notification waits for the entry.
    sending: tokio::sync::Mutex<()>,
    running: Mutex<Vec<Running>>,
    /// The number of the next request.
    next: AtomicU64,
}

struct Running {
    /// Distinguishes requests of different connections, which count their ids from 0.
    number: u64,
    id: RequestId,
    token: ProgressToken,
    cx: ToolContext,
}

impl Calls {
    /// Sends a request for a call, and waits for its result. The server is told if the future is dropped before.
    pub(super) async fn request(
        &self,
        peer: &Peer<RoleClient>,
        cx: &ToolContext,
        request: ClientRequest,
    ) -> Result<ServerResult, ServiceError> {
        let sending = self.sending.lock().await;
        let handle = peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await?;
        let number = self.enter(handle.id.clone(), handle.progress_token.clone(), cx.clone());
        drop(sending);
        let mut sent = Sent {
            calls: self,
            number,
            id: handle.id.clone(),
            peer: peer.clone(),
            is_answered: false,
        };
        let result = RequestHandle::await_response(handle).await;
        sent.is_answered = true;
        result
    }

    /// Enters a request, and returns its number.
    fn enter(&self, id: RequestId, token: ProgressToken, cx: ToolContext) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().push(Running {
            number,
            id,
            token,
            cx,
        });
        number
    }

    fn leave(&self, number: u64) {
        self.lock().retain(|running| running.number != number);
    }

    /// Returns the context of the latest request of these.
    fn latest(&self, is_it: impl Fn(&Running) -> bool) -> Option<ToolContext> {
        let running = self.lock();
        let found = running.iter().rev().find(|running| is_it(running));
        found.map(|running| running.cx.clone())
    }

    /// Reports the progress of the call with a token. Progress of an ended call is dropped.
    pub(super) async fn report(&self, token: &ProgressToken, progress: Progress) {
        // Some servers return the number as a text.
        let mut cx = self.find(token);
        if cx.is_none() {
            drop(self.sending.lock().await);
            cx = self.find(token);
        }
        if let Some(cx) = cx {
            cx.renew_deadline(LONGEST);
            cx.report(progress);
        }
    }

    /// Returns the context of the call that a request of the server belongs to.
    ///
    /// `origin` is the request on whose stream it came, if the transport tells. Otherwise the call is known only if a single one runs,
    /// or if all belong to one session of one principal.
    fn find(&self, token: &ProgressToken) -> Option<ToolContext> {
        // A request of an earlier connection may have the same token.
        let text = token.0.to_string();
        self.latest(|running| running.token.0.to_string() == text)
    }

    pub(super) fn caller(&self, origin: Option<&RequestId>) -> Option<ToolContext> {
        if let Some(origin) = origin {
            return self.latest(|running| running.id == *origin);
        }
        let running = self.lock();
        let (Running { cx, .. }, others) = running.split_last()?;
        let is_one = others.iter().all(|Running { cx: other, .. }| {
            cx.session().is_some()
                && other.session() == cx.session()
                && other.principal() == cx.principal()
        });
        is_one.then(|| cx.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Running>> {
        self.running.lock().ignore_poison()
    }
}

/// A sent request. Dropping it without an answer cancels it.
struct Sent<'a> {
    calls: &'a Calls,
    number: u64,
    id: RequestId,
    peer: Peer<RoleClient>,
    is_answered: bool,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        self.calls.leave(self.number);
        if self.is_answered {
            return;
        }
        // Without a runtime the connection has ended too.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let peer = self.peer.clone();
            let id = self.id.clone();
            runtime.spawn(async move {
                let params = CancelledNotificationParam::new(Some(id), Some(ABANDONED.to_owned()));
                let _ = peer.notify_cancelled(params).await;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rmcp::model::NumberOrString;
    use tools::ProgressSink;

    use super::*;
    use tools::Host;

    #[derive(Default)]
    struct Messages(Mutex<Vec<String>>);

    impl ProgressSink for Messages {
        fn report(&self, cx: &ToolContext, progress: Progress) {
            let message = format!("{}: {}", cx.session().unwrap(), progress.message.unwrap());
            self.0.lock().unwrap().push(message);
        }
    }

    fn number(number: i64) -> (RequestId, ProgressToken) {
        (
            NumberOrString::Number(number),
            ProgressToken(NumberOrString::Number(number)),
        )
    }

    #[tokio::test]
    async fn progress_that_is_faster_than_its_request_waits_for_it() {
        let (calls, messages) = (Arc::new(Calls::default()), Arc::new(Messages::default()));
        let (id, token) = number(7);
        let sending = calls.sending.lock().await;
        let early = tokio::spawn({
            let (calls, token) = (calls.clone(), token.clone());
            async move { calls.report(&token, Progress::message("early")).await }
        });
        tokio::task::yield_now().await;
        calls.enter(
            id,
            token,
            Host::new()
                .with_session("one")
                .with_progress(messages.clone())
                .into(),
        );
        drop(sending);
        early.await.unwrap();
        assert_eq!(*messages.0.lock().unwrap(), ["one: early"]);
    }

    #[tokio::test]
    async fn a_request_of_an_earlier_connection_is_another_one() {
        let (calls, messages) = (Calls::default(), Arc::new(Messages::default()));
        let (id, token) = number(7);
        let cx = |session: &str| {
            Host::new()
                .with_session(session)
                .with_progress(messages.clone())
        };
        let earlier = calls.enter(id.clone(), token.clone(), cx("earlier").into());
        calls.enter(id.clone(), token.clone(), cx("later").into());
        calls.report(&token, Progress::message("a")).await;
        assert_eq!(calls.caller(Some(&id)).unwrap().session(), Some("later"));
        calls.leave(earlier);
        calls.report(&token, Progress::message("b")).await;
        assert_eq!(*messages.0.lock().unwrap(), ["later: a", "later: b"]);
    }
}
