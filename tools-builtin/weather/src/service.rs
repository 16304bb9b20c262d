//! Requests to Open-Meteo, and the meaning of its statuses.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::{ToolContext, ToolError, visible_line};
use tools_http::{HttpClient, Request, Response, StatusCode, Url};

/// The host of forecasts.
pub(crate) const FORECASTS: &str = "api.open-meteo.com";

/// The host of place names.
pub(crate) const PLACES: &str = "geocoding-api.open-meteo.com";

/// The maximum size of an answer. 100 places with all their postal codes have a tenth of this.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The longest text of the service in an error, in characters.
const MAX_TEXT: usize = 200;

/// Requests a URL of a host and parses the JSON of its answer.
pub(crate) async fn request_json<T: DeserializeOwned>(
    cx: &ToolContext,
    client: &HttpClient,
    (host, path): (&str, &str),
    parameters: &[(&str, impl AsRef<str>)],
) -> Result<T, ToolError> {
    let url = Url::parse_with_params(&format!("https://{host}{path}"), parameters);
    let url = url.map_err(|error| answer_error(host, &error.to_string()))?;
    let request = Request::get(url.as_str())?.with_max_body_bytes(MAX_BODY_BYTES);
    let response = client.send(cx, request).await?;
    check(&response)?;
    response
        .json()
        .map_err(|error| answer_error(host, &error.to_string()))
}

/// Returns the error of an answer with this fault.
pub(crate) fn answer_error(host: &str, fault: &str) -> ToolError {
    ToolError::execution_failed(format!(
        "the answer of {host} has another form than documented: {}; tell the user, and use another source",
        visible_line(fault, MAX_TEXT)
    ))
}

/// Returns the error of a status other than success.
fn check(response: &Response) -> Result<(), ToolError> {
    let status = response.status;
    let advice = match status {
        _ if status.is_success() => return Ok(()),
        StatusCode::BAD_REQUEST => "change the arguments that this names",
        StatusCode::TOO_MANY_REQUESTS => "wait a minute, and a day if it happens again",
        _ => "try again in a minute",
    };
    let body: Value = response.json().unwrap_or_default();
    let reason = visible_line(body["reason"].as_str().unwrap_or_default(), MAX_TEXT);
    Err(response.to_error(format!(
        "Open-Meteo answered {status} {reason:?}; {advice}, or tell the user"
    )))
}
