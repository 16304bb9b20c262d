//! Requests to Open-Meteo, and the meaning of its statuses.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tools::ToolContext;
use tools_http::{HttpClient, HttpError, Request, Response, StatusCode, Url};

use crate::error::WeatherError;
use crate::visible::visible;

/// The host of forecasts.
pub(crate) const FORECASTS: &str = "api.open-meteo.com";

/// The host of place names.
pub(crate) const PLACES: &str = "geocoding-api.open-meteo.com";

/// The maximum size of an answer. 100 places with all their postal codes have a tenth of this.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The body of a refusal, such as `{"error": true, "reason": "…"}`.
#[derive(Deserialize)]
struct Refusal {
    reason: String,
}

/// Requests a URL of a host and parses the JSON of its answer.
pub(crate) async fn request<T: DeserializeOwned>(
    cx: &ToolContext,
    client: &HttpClient,
    host: &'static str,
    path: &str,
    parameters: &[(&str, &str)],
) -> Result<T, WeatherError> {
    let url = Url::parse_with_params(&format!("https://{host}{path}"), parameters);
    let url = url.map_err(|error| WeatherError::Shape {
        host,
        fault: error.to_string(),
    })?;
    let response = client
        .send(
            cx,
            Request::get(url.as_str())?.with_max_body_bytes(MAX_BODY_BYTES),
        )
        .await?;
    check(&response)?;
    // A captive portal and a broken proxy answer with a page and status 200.
    if let Some(media_type) = response
        .media_type()
        .filter(|found| found != "application/json")
    {
        let host = response.url.host_str().unwrap_or(host).to_owned();
        let media_type = visible(&media_type).unwrap_or_default();
        return Err(WeatherError::NotJson { host, media_type });
    }
    response.json().map_err(|error| match error {
        HttpError::Json { reason } => WeatherError::Shape {
            host,
            fault: visible(&reason).unwrap_or_default(),
        },
        error => WeatherError::Http(error),
    })
}

/// Returns the error of a status other than success.
fn check(response: &Response) -> Result<(), WeatherError> {
    let status = response.status;
    if status.is_success() {
        return Ok(());
    }
    let reason = response
        .json::<Refusal>()
        .ok()
        .and_then(|refusal| visible(&refusal.reason));
    Err(match (status, reason) {
        (StatusCode::TOO_MANY_REQUESTS, reason) => WeatherError::Busy {
            reason,
            retry_after: response.retry_after(),
        },
        (StatusCode::BAD_REQUEST, Some(reason)) => WeatherError::Refused { reason },
        (status, _) if status.is_server_error() => WeatherError::Down { status },
        (status, _) => WeatherError::Status { status },
    })
}
