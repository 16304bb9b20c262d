//! [`Matched`]: a transport whose answers have the ids of requests.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that finds the request of an answer whose id is missing or altered. Without this, the request would wait for its limit.
pub(crate) struct Matched<T> {
    transport: T,
    open: Arc<Mutex<Open>>,
}

/// The requests without an answer.
#[derive(Default)]
struct Open {
    ids: BTreeSet<i64>,
    /// The first id that was not sent yet.
    next: i64,
}

impl<T> Matched<T> {
    pub(super) fn new(transport: T) -> Self {
        Self { transport, open: Arc::default() }
    }
}

impl Open {
    /// Returns an answer with the id of the request that it belongs to. The answer to no request stays as it is.
    fn matched(&mut self, answer: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let id = match &answer {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => return answer,
        };
        let number = match &id {
            Some(RequestId::Number(number)) => Some(*number),
            Some(RequestId::String(text)) => text.parse().ok(),
            None => None,
        };
        // An answer to a request that has ended is late, and means no other one.
        if let Some(number) = number.filter(|number| self.ids.remove(number) || (0..self.next).contains(number)) {
            return with_id(answer, number);
        }
        let (Some(only), 1) = (self.ids.first().copied(), self.ids.len()) else {
            tracing::warn!("the server answered no request: its answer has the id {id:?}");
            return answer;
        };
        self.ids.clear();
        match answer {
            JsonRpcMessage::Response(_) => {
                let id = serde_json::to_string(&id).unwrap_or_default();
                let message = format!("its answer has the id {id}, which no request has; the call may have run");
                with_id(ServerJsonRpcMessage::error(ErrorData::internal_error(message, None), None), only)
            }
            error => with_id(error, only),
        }
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
    open.lock().unwrap_or_else(PoisonError::into_inner)
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
                    if !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
                        open.ids.insert(number);
                        sent = Some(number);
                    }
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(RequestId::Number(number)) = &cancelled.params.request_id
                {
                    lock(&self.open).ids.remove(number);
                }
            }
            _ => {}
        }
        let (sending, open) = (self.transport.send(item), self.open.clone());
        async move {
            let outcome = sending.await;
            if let (Err(_), Some(number)) = (&outcome, sent) {
                lock(&open).ids.remove(&number);
            }
            outcome
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        Some(lock(&self.open).matched(message))
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn matched(open: &mut Open, mut answer: Value) -> Value {
        answer["jsonrpc"] = "2.0".into();
        serde_json::to_value(open.matched(serde_json::from_value(answer).unwrap())).unwrap()
    }

    fn open(ids: &[i64]) -> Open {
        Open { ids: ids.iter().copied().collect(), next: 5 }
    }

    #[test]
    fn an_answer_without_its_id_ends_the_only_open_request() {
        for (answer, code) in [
            (json!({"id": null, "error": {"code": -32000, "message": "no"}}), -32000),
            (json!({"error": {"code": -32700, "message": "no"}}), -32700),
            (json!({"id": "server-error", "error": {"code": -32600, "message": "no"}}), -32600),
            (json!({"id": 77, "result": {"content": []}}), -32603),
        ] {
            let mut open = open(&[4]);
            let read = matched(&mut open, answer);
            assert_eq!((&read["id"], &read["error"]["code"]), (&json!(4), &json!(code)));
            assert!(open.ids.is_empty());
        }
    }

    #[test]
    fn an_id_in_another_form_is_the_same_one() {
        let read = matched(&mut open(&[3, 4]), json!({"id": "4", "result": {}}));
        assert_eq!((&read["id"], read.get("result")), (&json!(4), Some(&json!({}))));
    }

    #[test]
    fn a_late_answer_or_one_of_several_requests_ends_no_other() {
        for (ids, answer) in [
            (vec![4], json!({"id": 2, "result": {}})),
            (vec![3, 4], json!({"id": null, "error": {"code": 1, "message": "no"}})),
            (vec![], json!({"id": 77, "result": {}})),
        ] {
            let mut open = open(&ids);
            let read = matched(&mut open, answer.clone());
            assert_eq!(read.get("id").cloned().unwrap_or_default(), answer["id"]);
            assert_eq!(open.ids.len(), ids.len());
        }
    }
}
