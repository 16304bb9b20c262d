//! [`Matched`]: a transport whose answers have the ids of requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::{Instant, sleep_until};
use tools::IgnorePoison as _;

/// The time that a request's own answer has after one without an id, which may be a line of a log.
const GRACE: Duration = Duration::from_secs(2);

/// A transport that finds the request of an answer whose id is missing or altered. Without this, the request would wait for its limit.
pub(crate) struct Matched<T> {
    pub(super) transport: T,
    pub(super) open: Arc<Mutex<Open>>,
    /// The time limit of `server/discover`, which a server of the older generation may leave without an answer.
    pub(super) discovery: Option<Duration>,
}

/// The requests without an answer.
#[derive(Default)]
pub(super) struct Open {
    ids: BTreeMap<i64, Option<Doubt>>,
    /// The first id that was not sent yet.
    next: i64,
    /// The time of the latest cancellation. Some servers answer it.
    cancelled: Option<Instant>,
    /// The latest `server/discover`.
    discovery: Option<i64>,
}

/// The error of a request whose answer may be one without its id, and the time from which on it counts.
type Doubt = (Instant, ServerJsonRpcMessage);

impl Open {
    /// Returns a message with the id of the request that it answers. Returns `None` for an answer to no request: it may be that of each
    /// open one, whose own answer has a short time to arrive.
    fn match_request(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => return Some(message),
        };
        let number = match &id {
            Some(RequestId::Number(number)) => Some(*number),
            Some(RequestId::String(text)) => text.parse().ok(),
            None => None,
        };
        // An answer to a request that has ended is late, and means no other one.
        if let Some(number) = number
            .filter(|number| self.ids.remove(number).is_some() || (0..self.next).contains(number))
        {
            let is_overdue = self.discovery == Some(number) && number + 1 < self.next;
            // Another handshake has begun, which such an answer would end.
            return (!is_overdue).then(|| with_id(message, number));
        }
        tracing::warn!("the server answered no request: its answer has the id {id:?}");
        if self.cancelled.take().is_some_and(|at| at.elapsed() < GRACE) {
            return None;
        }
        let error = match message {
            JsonRpcMessage::Error(_) => message,
            _ => {
                let id = serde_json::to_string(&id).unwrap_or_default();
                let reason = format!(
                    "its answer has the id {id}, which no request has; the call may have run"
                );
                ServerJsonRpcMessage::error(ErrorData::internal_error(reason, None), None)
            }
        };
        for (number, doubt) in &mut self.ids {
            doubt.get_or_insert_with(|| (Instant::now() + GRACE, with_id(error.clone(), *number)));
        }
        None
    }

    /// Returns the time from which on an answer without its id counts.
    fn doubtful_until(&self) -> Option<Instant> {
        self.ids.values().flatten().map(|(until, _)| *until).min()
    }

    /// Returns the error of a request whose own answer does not arrive until this time.
    fn overdue(&mut self, now: Option<Instant>) -> Option<ServerJsonRpcMessage> {
        let mut doubts = self.ids.iter().filter_map(|(number, doubt)| {
            let (until, _) = doubt.as_ref()?;
            now.is_none_or(|now| *until <= now).then_some(*number)
        });
        let number = doubts.next()?;
        self.ids.remove(&number)?.map(|(_, error)| error)
    }
}

fn with_id(mut answer: ServerJsonRpcMessage, number: i64) -> ServerJsonRpcMessage {
    match &mut answer {
        JsonRpcMessage::Response(response) => response.id = RequestId::Number(number),
        JsonRpcMessage::Error(error) => error.id = Some(RequestId::Number(number)),
        _ => {}
    }
    answer
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().ignore_poison()
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Matched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let mut sent = None;
        match &item {
            JsonRpcMessage::Request(request) => {
                if let RequestId::Number(number) = request.id {
                    let mut open = lock(&self.open);
                    open.next = open.next.max(number + 1);
                    // A subscription stays open, and is none that a lost answer would be of.
                    if !matches!(
                        request.request,
                        ClientRequest::SubscriptionsListenRequest(_)
                    ) {
                        open.ids.insert(number, None);
                        sent = Some(number);
                    }
                    if let (ClientRequest::DiscoverRequest(_), Some(limit)) =
                        (&request.request, self.discovery)
                    {
                        let error = ErrorData::new(
                            ErrorCode::METHOD_NOT_FOUND,
                            "it does not answer server/discover",
                            None,
                        );
                        let error = with_id(ServerJsonRpcMessage::error(error, None), number);
                        open.discovery = Some(number);
                        open.ids
                            .insert(number, Some((Instant::now() + limit, error)));
                    }
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(RequestId::Number(number)) = &cancelled.params.request_id
                {
                    let mut open = lock(&self.open);
                    open.ids.remove(number);
                    open.cancelled = Some(Instant::now());
                }
            }
            _ => {}
        }
        let sending = self.transport.send(item);
        let open = self.open.clone();
        async move {
            let outcome = sending.await;
            if let (Err(_), Some(number)) = (&outcome, sent) {
                lock(&open).ids.remove(&number);
            }
            outcome
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let until = lock(&self.open).doubtful_until();
            let found = tokio::select! {
                message = self.transport.receive() => match message {
                    Some(message) => lock(&self.open).match_request(message),
                    // No other answer will arrive.
                    None => {
                        let mut open = lock(&self.open);
                        if let Some(discovery) = open.discovery {
                            open.ids.remove(&discovery);
                        }
                        return open.overdue(None);
                    }
                },
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                    lock(&self.open).overdue(Some(Instant::now()))
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn matched(open: &mut Open, mut answer: Value) -> Option<Value> {
        answer["jsonrpc"] = "2.0".into();
        let read = open.match_request(serde_json::from_value(answer).unwrap());
        read.map(|message| serde_json::to_value(message).unwrap())
    }

    fn overdue(open: &mut Open) -> Option<ServerJsonRpcMessage> {
        open.overdue(Some(Instant::now()))
    }

    fn open(ids: &[i64]) -> Open {
        Open {
            ids: ids.iter().map(|id| (*id, None)).collect(),
            next: 5,
            ..Open::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_without_its_id_ends_the_only_open_request_unless_its_own_one_arrives() {
        for (answer, code) in [
            (
                json!({"id": null, "error": {"code": -32000, "message": "no"}}),
                -32000,
            ),
            (json!({"error": {"code": -32700, "message": "no"}}), -32700),
            (
                json!({"id": "server-error", "error": {"code": -32600, "message": "no"}}),
                -32600,
            ),
            (json!({"id": 77, "result": {"content": []}}), -32603),
        ] {
            let mut other = open(&[4]);
            assert_eq!(matched(&mut other, answer.clone()), None);
            assert_eq!(
                matched(&mut other, json!({"id": 4, "result": {}})).unwrap()["id"],
                4
            );
            let mut open = open(&[4]);
            assert_eq!(
                (matched(&mut open, answer), overdue(&mut open).is_some()),
                (None, false)
            );
            tokio::time::sleep(GRACE).await;
            let read = serde_json::to_value(overdue(&mut open).unwrap()).unwrap();
            assert_eq!(
                (&read["id"], &read["error"]["code"]),
                (&json!(4), &json!(code))
            );
            assert!(open.ids.is_empty() && overdue(&mut other).is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_a_cancellation_ends_no_call() {
        let stray = json!({"id": null, "error": {"code": -32601, "message": "no"}});
        let mut open = open(&[4]);
        open.cancelled = Some(Instant::now());
        assert_eq!(matched(&mut open, stray.clone()), None);
        assert!(open.doubtful_until().is_none());
        assert_eq!(matched(&mut open, stray), None);
        assert!(open.doubtful_until().is_some());
    }

    #[test]
    fn an_id_in_another_form_is_the_same_one() {
        let read = matched(&mut open(&[3, 4]), json!({"id": "4", "result": {}})).unwrap();
        assert_eq!(
            (&read["id"], read.get("result")),
            (&json!(4), Some(&json!({})))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_without_its_id_ends_each_open_request_whose_own_one_does_not_arrive() {
        let stray = |reason| json!({"id": null, "error": {"code": 1, "message": reason}});
        let mut open = open(&[2, 3]);
        assert_eq!(matched(&mut open, stray("first")), None);
        tokio::time::sleep(GRACE / 2).await;
        open.ids.insert(4, None);
        assert_eq!(matched(&mut open, stray("second")), None);
        assert!(matched(&mut open, json!({"id": 3, "result": {}})).is_some());
        for (number, reason) in [(2, "first"), (4, "second")] {
            assert!(overdue(&mut open).is_none());
            tokio::time::sleep(GRACE / 2).await;
            let read = serde_json::to_value(overdue(&mut open).unwrap()).unwrap();
            assert_eq!(
                (&read["id"], &read["error"]["message"]),
                (&json!(number), &json!(reason))
            );
        }
        assert!(open.ids.is_empty());
    }

    #[test]
    fn a_late_answer_ends_no_other_request() {
        for (ids, answer, is_read) in [
            (vec![4], json!({"id": 2, "result": {}}), true),
            (vec![], json!({"id": 77, "result": {}}), false),
        ] {
            let mut open = open(&ids);
            assert_eq!(matched(&mut open, answer).is_some(), is_read);
            assert!(open.ids.len() == ids.len() && open.doubtful_until().is_none());
        }
    }
}
