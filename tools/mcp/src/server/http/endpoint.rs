//! [`Endpoint`]: from an HTTP request to its answer.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::time::timeout;

use super::super::handler::Handler;
use super::HttpOptions;
use super::access::Bearer;
use super::first_write::joined;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Answers HTTP requests. All connections share one: a router of `axum` would copy the service of `rmcp` for each request.
pub(super) struct Endpoint {
    pub(super) mcp: StreamableHttpService<Handler, LocalSessionManager>,
    pub(super) token: Option<Bearer>,
    pub(super) max_bytes: usize,
    /// The time for the body of a request.
    pub(super) read_timeout: Duration,
}

impl Endpoint {
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        match (request.method(), request.uri().path()) {
            (_, HttpOptions::PATH) => self.mcp(request).await,
            (&Method::GET | &Method::HEAD, "/healthz") => text(StatusCode::OK, "ok"),
            _ => text(StatusCode::NOT_FOUND, "not found"),
        }
    }

    /// Refuses a request without the token, if there is one, or whose body is too long or too slow.
    async fn mcp(&self, request: Request<Incoming>) -> Answer {
        if self.token.as_ref().is_some_and(|token| !token.is_in(request.headers())) {
            let mut refused = text(StatusCode::UNAUTHORIZED, "a bearer token is required");
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refused;
        }
        let (head, body) = request.into_parts();
        let body = match timeout(self.read_timeout, Limited::new(body, self.max_bytes).collect()).await {
            Ok(Ok(body)) => Full::new(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let most = self.max_bytes;
                return refused(StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {most} bytes"));
            }
            Ok(Err(_)) => return refused(StatusCode::BAD_REQUEST, "the body ended early"),
            Err(_) => return refused(StatusCode::REQUEST_TIMEOUT, "the body was too slow"),
        };
        let is_call = head.method == Method::POST;
        let answer = self.mcp.handle(Request::from_parts(head, body)).await;
        if is_call { joined(answer).await } else { answer }
    }
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    answer
}

/// Returns an answer to a request whose body was not read to its end.
fn refused(status: StatusCode, reason: impl Into<Bytes>) -> Answer {
    let mut answer = text(status, reason);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}
