//! Reads the answers of search services.

use serde_json::Value;
use tools::visible_line;
use tools_http::Response;

use super::{SearchBackend, SearchError, SearchFault};

const MAX_MESSAGE: usize = 300;

/// Returns the JSON of an answer.
///
/// # Errors
/// - Returns [`SearchError::Answer`] if the body is not a JSON object, for example because it is a page.
/// - Returns [`SearchError::Reported`] if the object has an `error`.
pub fn json_answer(response: &Response) -> Result<Value, SearchError> {
    let answer: Value = serde_json::from_slice(&response.body)
        .map_err(|error| unreadable(response, &error.to_string()))?;
    if !answer.is_object() {
        return Err(unreadable(response, "it is not an object"));
    }
    if !is_empty(&answer["error"]) {
        return Err(SearchError::Reported {
            host: host(response),
            message: message(&answer),
        });
    }
    Ok(answer)
}

/// Returns the items of a list in an answer. `pointer` is the names on the way to it, parted by `/`. Returns `None` if there is no list.
pub fn items<'a>(answer: &'a Value, pointer: &str) -> Option<&'a [Value]> {
    answer
        .pointer(&format!("/{pointer}"))?
        .as_array()
        .map(Vec::as_slice)
}

/// Returns the error of an answer without a list that it must have.
pub fn missing(response: &Response, name: &str) -> SearchError {
    unreadable(response, &format!("it has no list {name:?}"))
}

/// Checks the status of a response.
pub(super) fn check_status(
    backend: &SearchBackend,
    response: &Response,
) -> Result<(), SearchError> {
    let status = response.status;
    if status.is_success() {
        return Ok(());
    }
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let fault = (backend.fault)(status, &body).unwrap_or_else(|| SearchFault::from_status(status));
    let retry_after = response.retry_after();
    Err(SearchError::Status {
        host: host(response),
        status,
        fault,
        message: message(&body),
        retry_after,
    })
}

/// Returns a text of the service for an error message.
pub(super) fn clean_text(text: &str) -> String {
    visible_line(text, MAX_MESSAGE)
}

pub(super) fn host(response: &Response) -> String {
    response.url.host_str().unwrap_or_default().to_owned()
}

fn unreadable(response: &Response, reason: &str) -> SearchError {
    let host = host(response);
    let reason = match response.media_type().as_deref() {
        Some("text/html") => "it is a page of HTML".to_owned(),
        _ if response.body.is_empty() => {
            format!("it is empty (status {})", response.status.as_u16())
        }
        _ => clean_text(reason),
    };
    SearchError::Answer { host, reason }
}

/// Returns the error message in the body of a service, or an empty text.
fn message(body: &Value) -> String {
    const PLACES: &str = "/error/detail /error/message /error/code /errors/0/detail /errors/0/message \
        /detail/error /error /detail /message /errors/0";
    let text = PLACES
        .split(' ')
        .find_map(|place| body.pointer(place)?.as_str());
    clean_text(text.unwrap_or_default())
}

/// Returns true for the values by which services say that there is no error.
fn is_empty(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Array(errors) => errors.is_empty(),
        _ => false,
    }
}
