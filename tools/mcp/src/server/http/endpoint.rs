//! [`Endpoint`]: from an HTTP request to its answer.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::select_all;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody};
use hyper::body::Incoming;
use rmcp::model::{ErrorData, RequestId};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use serde_json::json;
use subtle::ConstantTimeEq as _;
use tools::Secret;
use tools_http::server::{Place, check_names, check_port, read_body};

use crate::server::handler::Handler;
use crate::server::http::first_write::join_parts;
use crate::server::http::options::HttpOptions;
use crate::server::http::sessions::{SessionError, Sessions};
use crate::server::{batch, client_message};

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Answers HTTP requests. All connections share one: a router of `axum` would copy the service of `rmcp` for each request.
pub(super) struct Endpoint {
    pub(super) mcp: StreamableHttpService<Handler, Sessions>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) token: Option<Secret>,
    pub(super) max_bytes: usize,
    /// The port that is served.
    pub(super) port: u16,
    /// The names of the server that the host of the program has added.
    pub(super) hosts: Vec<String>,
    /// The time for the head of a request.
    pub(super) head_timeout: Duration,
    /// The time for the body of a request.
    pub(super) read_timeout: Duration,
}

impl Endpoint {
    pub(super) async fn answer(&self, request: Request<Incoming>, place: &Place) -> Answer {
        match (request.method(), request.uri().path()) {
            (_, HttpOptions::PATH) => self.mcp(request, place).await,
            (&Method::GET | &Method::HEAD, "/healthz") => text(StatusCode::OK, "ok"),
            _ => text(StatusCode::NOT_FOUND, "not found"),
        }
    }

    /// Refuses a request that does not name this server and one page, that lacks the token, if there is one, or whose body is too long or
    /// too slow.
    async fn mcp(&self, request: Request<Incoming>, place: &Place) -> Answer {
        let named = check_names(request.uri(), request.headers());
        if let Err(refusal) = named.and_then(|host| check_port(&host, self.port, &self.hosts)) {
            return text(refusal.status, refusal.body);
        }
        let token = self.token.as_ref();
        if token.is_some_and(|token| !has_token(request.headers(), token)) {
            let refused = text(StatusCode::UNAUTHORIZED, "a bearer token is required");
            return with_header(refused, WWW_AUTHENTICATE, "Bearer");
        }
        let (head, body) = request.into_parts();
        let body = match read_body(body, self.max_bytes, self.read_timeout).await {
            Ok(ref body)
                if head.method == Method::POST
                    && self.sessions.takes_batches(&head.headers)
                    && let Some(elements) = batch::elements(body) =>
            {
                place.keep();
                return self.batch(&head, &elements).await;
            }
            // `rmcp` answers 415 to a message that it cannot read.
            Ok(body) if head.method == Method::POST => match client_message::read(&body) {
                Ok(read) => match read.text {
                    Cow::Borrowed(text) if text.len() == body.len() => Full::new(body),
                    text => Full::new(text.into_owned().into()),
                },
                Err(refused) => return unreadable(&refused.0, refused.1.as_ref()),
            },
            Ok(body) => Full::new(body),
            Err(refusal) => {
                let refused = text(refusal.status, refusal.body);
                return with_header(refused, CONNECTION, "close");
            }
        };
        if head.method == Method::GET {
            // A stream of messages may be ended: its client opens another.
            place.release();
        } else {
            place.keep();
        }
        let method = head.method.clone();
        let mut answer = self.mcp.handle(Request::from_parts(head, body)).await;
        match (method, answer.status()) {
            // `rmcp` ends a session with 202, by which some clients report a failure.
            (Method::DELETE, StatusCode::ACCEPTED) => *answer.status_mut() = StatusCode::NO_CONTENT,
            // `rmcp` answers 500.
            (Method::POST, StatusCode::INTERNAL_SERVER_ERROR) if self.sessions.is_full().await => {
                let reason = SessionError::TooMany.to_string();
                let refused = text(StatusCode::SERVICE_UNAVAILABLE, reason);
                return with_header(refused, RETRY_AFTER, "10");
            }
            (Method::POST, _) => return join_parts(answer).await,
            _ => {}
        }
        answer
    }

    /// Answers the messages of a batch, the requests among them in one stream.
    async fn batch(&self, head: &Parts, elements: &[&[u8]]) -> Answer {
        let mut streams = Vec::new();
        for element in elements {
            match client_message::read(element) {
                Ok(read) => {
                    let body = Full::new(Bytes::from(read.text.into_owned()));
                    let request = Request::from_parts(head.clone(), body);
                    let answer = self.mcp.handle(request).await;
                    match answer.status() {
                        StatusCode::ACCEPTED => {}
                        StatusCode::OK => streams.push(answer.into_body()),
                        _ => return answer,
                    }
                }
                Err(refused) => {
                    let error = error_message(&refused.0, refused.1.as_ref());
                    let event = format!("data: {error}\n\n");
                    streams.push(Full::new(Bytes::from(event)).boxed());
                }
            }
        }
        if streams.is_empty() {
            return text(StatusCode::ACCEPTED, "");
        }
        let frames = select_all(streams.into_iter().map(BodyStream::new));
        let answer = Response::new(StreamBody::new(frames).boxed());
        join_parts(with_header(answer, CONTENT_TYPE, "text/event-stream")).await
    }
}

/// Returns the answer to a body that is no message.
fn unreadable(error: &ErrorData, id: Option<&RequestId>) -> Answer {
    let answer = text(StatusCode::BAD_REQUEST, error_message(error, id));
    with_header(answer, CONTENT_TYPE, "application/json")
}

fn error_message(error: &ErrorData, id: Option<&RequestId>) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

fn with_header(mut answer: Answer, name: HeaderName, value: &'static str) -> Answer {
    let value = HeaderValue::from_static(value);
    answer.headers_mut().insert(name, value);
    answer
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    answer
}

/// Returns true if the request has the bearer token. The time does not depend on how much of it is right.
fn has_token(headers: &HeaderMap, expected: &Secret) -> bool {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let Some((scheme, token)) = value.as_bytes().split_at_checked("Bearer ".len()) else {
        return false;
    };
    scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(token.ct_eq(expected.expose().as_bytes()))
}
