//! Checks the payloads of replies before rig reads them: bodies, and the lines of streams.

use std::borrow::Cow;

use serde_json::Value;

use super::{Api, exact_arguments, gemini_reply, search_calls};

/// An error that a service reported in a reply with the status of success. Holds its body.
#[derive(Debug, thiserror::Error)]
#[error("the service reported an error in its reply")]
pub(super) struct ReportedError(pub(super) String);

/// A reply to a stream request is neither a stream nor JSON.
#[derive(Debug, thiserror::Error)]
#[error("the reply has the content type {0:?} and not that of an event stream or of JSON")]
pub(super) struct WrongContentType(pub(super) String);

/// Returns a payload with searches as calls, and the arguments of calls as they were sent.
///
/// # Errors
/// Returns [`ReportedError`] if the payload is an error.
pub(super) fn checked(api: Api, payload: &str) -> Result<Cow<'_, str>, ReportedError> {
    if is_error(payload) {
        return Err(ReportedError(payload.to_owned()));
    }
    let read = match api {
        Api::Gemini => gemini_reply::read(payload),
        _ => search_calls::read(api, payload),
    };
    Ok(match read {
        Cow::Borrowed(payload) => exact_arguments::kept(api, payload),
        Cow::Owned(payload) => exact_arguments::kept(api, &payload).into_owned().into(),
    })
}

/// Returns true if the payload is an object with an error. rig takes some of them for the end of a turn, such as OpenRouter's with
/// choices, and ignores those that another API would send.
fn is_error(payload: &str) -> bool {
    // Most payloads are not parsed.
    if !payload.contains("\"error\"") {
        return false;
    }
    let Ok(value) = serde_json::from_str::<Value>(payload) else { return false };
    match value.get("error") {
        Some(Value::Object(error)) => !error.is_empty(),
        Some(Value::String(error)) => !error.is_empty(),
        _ => false,
    }
}
