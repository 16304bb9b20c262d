//! The answers to messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse as Posted;
use serde_json::json;
use tokio::time::{Instant, timeout_at};
use tools::visible_line;
use tools_http::{HeaderName, HeaderValue, HttpError, Method, Request, ResponseStream, StatusCode};

use crate::client::http::events::events;
use crate::client::http::requests::{
    EVENTS, Failure, JSON, Requests, SESSION, is_session_unknown, status_failure, try_later,
};
use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::reading;

/// The characters of an unusable answer that an error shows.
const SHOWN: usize = 200;

/// The maximum size of an error that is no JSON, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// The longest wait for the answer that a session is unknown.
const FIRST_ANSWER: Duration = Duration::from_millis(100);

impl Requests {
    /// Sends a message and reads its answer, or the headers of its answer if this is a stream.
    pub(super) async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Posted, Failure> {
        let request =
            Request::new(Method::POST, &uri).and_then(|request| request.with_json(&message));
        let sent = self.send(request, token, headers, [(SESSION, session.as_deref())]);
        let (request, is_call) = match &message {
            ClientJsonRpcMessage::Request(request) => (
                Some(request.id.clone()),
                matches!(request.request, ClientRequest::CallToolRequest(_)),
            ),
            _ => (None, false),
        };
        // After the handshake, the server is one, and an answer that cannot be read is no reason to call again.
        let called = request.as_ref().filter(|_| session.is_some() || is_call);
        let mut response = match (sent.await, called) {
            (Err(Failure::Client(error @ HttpError::Invalid { .. })), Some(id)) => {
                return Ok(fail_unreadable(&error, id));
            }
            (Err(Failure::Client(HttpError::Invalid { .. })), None)
                if is_notification(&message) =>
            {
                return Ok(Posted::Accepted);
            }
            (sent, _) => sent?,
        };
        let status = response.status;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let Some(id) = &request else {
                return Ok(Posted::Accepted);
            };
            // Some servers say so, and answer.
            let (body, _) = read(&mut response, MAX_MESSAGE_BYTES).await?;
            let answer = read_message(&body, Some(id)).unwrap_or_else(|| {
                let reason =
                    format!("it accepted the request (HTTP {status}), but did not answer it");
                fail_request(reason, id)
            });
            return Ok(Posted::Json(answer, None));
        }
        if !status.is_success() {
            return read_refusal(response, &message, session.is_some()).await;
        }
        let id = response.headers.get(SESSION);
        let id = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        match (response.media_type().as_deref(), &request) {
            (Some(EVENTS), request) if request.is_some() || !is_notification(&message) => {
                let events = events(response, self.unanswered.clone(), request.clone());
                let mut events = events.fuse();
                let mut first = Vec::new();
                // No call has run in a session that is unknown, so its answer is the first message, at once. Other calls wait meanwhile.
                let until = Instant::now() + FIRST_ANSWER;
                while session.is_some()
                    && let Ok(Some(event)) = timeout_at(until, events.next()).await
                {
                    let data = event.as_ref().ok().and_then(|event| event.data.clone());
                    let is_empty = event.is_ok() && data.as_deref().is_none_or(str::is_empty);
                    if let Ok(ServerJsonRpcMessage::Error(answer)) =
                        serde_json::from_str(&data.unwrap_or_default())
                        && is_session_unknown(status, Some(&answer.error), &answer.error.message)
                    {
                        return Err(Failure::SessionExpired);
                    }
                    first.push(event);
                    if !is_empty {
                        break;
                    }
                }
                let events = stream::iter(first).chain(events).boxed();
                Ok(Posted::Sse(events, id))
            }
            // Some servers answer a notification by an empty 200.
            (_, None) => Ok(Posted::Accepted),
            // Some servers name another type, or none.
            (media_type, Some(request)) => {
                let max_size = MAX_MESSAGE_BYTES;
                let body = match (read(&mut response, max_size).await, called) {
                    (Err(Failure::Client(error)), Some(id)) => {
                        return Ok(fail_unreadable(&error, id));
                    }
                    (Ok((_, false)), _) => return Err(Failure::ResponseBodyTooLarge { max_size }),
                    (body, _) => body?.0,
                };
                let message = match read_message(&body, Some(request)) {
                    Some(message) => message,
                    None if body.trim_ascii().is_empty() => fail_request(
                        "its answer is no message, because it is empty; the call may have run"
                            .to_owned(),
                        request,
                    ),
                    None if media_type == Some(JSON) || called.is_some() => fail_request(
                        format!(
                            "its answer is no message: {}; the call may have run",
                            begin(&body)
                        ),
                        request,
                    ),
                    None => {
                        return Err(Failure::UnexpectedContentType(
                            media_type.map(str::to_owned),
                        ));
                    }
                };
                if let ServerJsonRpcMessage::Error(answer) = &message
                    && session.is_some()
                    && is_session_unknown(status, Some(&answer.error), &answer.error.message)
                {
                    return Err(Failure::SessionExpired);
                }
                Ok(Posted::Json(message, id))
            }
        }
    }
}

fn is_notification(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Notification(_))
}

/// Returns the answer in a body, with the id of its request: it can answer no other one. Returns `None` if the body has none.
fn read_message(body: &[u8], request: Option<&RequestId>) -> Option<ServerJsonRpcMessage> {
    let own = request.map(|request| json!(request));
    let mut messages = reading::read(body, own.as_ref());
    if messages.is_empty() {
        messages = reading::read(&unframe(body), own.as_ref());
    }
    let mut messages = messages
        .iter()
        .filter_map(|message| serde_json::from_str(message).ok());
    messages.rfind(|message| {
        matches!(
            message,
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
        )
    })
}

/// Returns the data of the events in a body whose type does not say that it has any.
fn unframe(body: &[u8]) -> Vec<u8> {
    let lines = body
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_prefix(b"data:"));
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// Returns the answer in place of one that the server owes.
fn fail_request(reason: String, request: &RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(
        ErrorData::internal_error(reason, None),
        Some(request.clone()),
    )
}

/// Reads an answer that is not a success. Some of them are errors of JSON-RPC.
fn fail_unreadable(error: &HttpError, request: &RequestId) -> Posted {
    let reason = format!("its answer cannot be read: {error}; the call may have run");
    Posted::Json(fail_request(reason, request), None)
}

async fn read_refusal(
    mut response: ResponseStream,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<Posted, Failure> {
    let status = response.status;
    // Some servers know no notifications. If it is the session that is unknown, the next request is refused for it.
    let is_unauthorised = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if is_notification(message) && !is_unauthorised {
        tracing::warn!(target: "tools_mcp::server", %status, "a server refused a notification");
        return Ok(Posted::Accepted);
    }
    // These say something about the connection, not about the message.
    let is_json = response.media_type().as_deref() == Some(JSON) && !is_unauthorised;
    if status == StatusCode::TOO_MANY_REQUESTS || !is_json && try_later(&response).is_some() {
        return Err(status_failure(&response));
    }
    let limit = if is_json {
        MAX_MESSAGE_BYTES
    } else {
        MAX_ERROR_BYTES
    };
    let (body, is_whole) = read(&mut response, limit).await?;
    let request = match message {
        ClientJsonRpcMessage::Request(request) => Some(request),
        _ => None,
    };
    let error = match read_message(&body, None).filter(|_| is_whole && is_json) {
        Some(ServerJsonRpcMessage::Error(error)) => Some(error),
        // The status contradicts the answer, which is clear.
        Some(ServerJsonRpcMessage::Response(response))
            if request.is_some_and(|own| own.id == response.id) =>
        {
            return Ok(Posted::Json(ServerJsonRpcMessage::Response(response), None));
        }
        _ => None,
    };
    let text = begin(&body);
    if has_session && is_session_unknown(status, error.as_ref().map(|error| &error.error), &text) {
        return Err(Failure::SessionExpired);
    }
    // A server of the older generation refuses `server/discover` in its own way. With the id of the request, the answer is that of the
    // protocol, after which the older generation is tried.
    if let Some(request) = request
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !is_unauthorised
        && !has_session
    {
        let error = match error {
            Some(error) => error.error,
            None => ErrorData::invalid_request(format!("HTTP {status}: {text}"), None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(Posted::Json(answer, None));
    }
    match error {
        Some(error) => {
            let id = request.map(|request| request.id.clone()).or(error.id);
            let answer = ServerJsonRpcMessage::error(error.error, id);
            Ok(Posted::Json(answer, None))
        }
        None if try_later(&response).is_some() => Err(status_failure(&response)),
        None => Err(Failure::UnexpectedServerResponse(
            format!("HTTP {status}: {text}").into(),
        )),
    }
}

/// Returns the beginning of an unusable answer, as an error shows it.
fn begin(body: &[u8]) -> String {
    let begin = &body[..body.len().min(4 * SHOWN)];
    visible_line(&String::from_utf8_lossy(begin), SHOWN)
}

/// Reads the first `limit` bytes of a body. Returns false if there are more.
async fn read(response: &mut ResponseStream, limit: usize) -> Result<(Vec<u8>, bool), Failure> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(Failure::Client)? {
        let fits = bytes.len().min(limit - body.len());
        body.extend_from_slice(&bytes[..fits]);
        if fits < bytes.len() {
            return Ok((body, false));
        }
    }
    Ok((body, true))
}
