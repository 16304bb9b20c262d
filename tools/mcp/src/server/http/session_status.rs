//! The status of answers to clients that begin or end their sessions.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::sessions::Sessions;

/// Answers the end of a session by 204. `rmcp` answers 202, by which some clients report a failure. Answers 503 if there are too many
/// sessions, where `rmcp` answers 500.
pub(super) async fn answer(State(sessions): State<Arc<Sessions>>, request: Request, next: Next) -> Response {
    let is_end = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR && sessions.is_full().await {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many sessions; end one, or try again later").into_response();
    }
    response
}
