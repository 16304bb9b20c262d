//! [`read_body`]: the body of a request, within limits.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body;
use tokio::time::timeout;

use super::ServerAnswer;

/// Reads a body of at most that many bytes, within a time.
///
/// # Errors
/// Returns the answer of a refusal. The connection has to end then, because the body may not be read.
pub async fn read_body<B>(body: B, max_bytes: usize, time: Duration) -> Result<Bytes, ServerAnswer>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
{
    let (status, reason) = match timeout(time, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(body)) => return Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let reason = format!("the body has more than {max_bytes} bytes");
            return Err(ServerAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        Ok(Err(_)) => (StatusCode::BAD_REQUEST, "the body ended early"),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the body was too slow"),
    };
    Err(ServerAnswer::new(status, reason))
}
