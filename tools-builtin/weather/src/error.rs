//! [`WeatherError`]: the errors of `weather.get`.

use std::time::Duration;

use tools::ToolError;
use tools_http::{HttpError, StatusCode};

/// An error of `weather.get`. The messages are written for the calling model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WeatherError {
    #[error("no place is given; set place, or set latitude and longitude")]
    NoPlace,
    #[error("only one coordinate is given; set both latitude and longitude, or set place")]
    HalfCoordinates,
    #[error(
        "place, region or country is given together with coordinates; set place and what narrows it, or the coordinates alone"
    )]
    PlaceAndCoordinates,
    #[error(
        "{place:?} is too short for a name; write at least two letters or digits before the first comma"
    )]
    ShortName { place: String },
    #[error(
        "Open-Meteo knows no place {place:?}{}; check the spelling, leave out street and house number, name a larger place nearby, or \
         set latitude and longitude",
        within(country_code)
    )]
    UnknownPlace {
        place: String,
        country_code: Option<String>,
    },
    #[error("Open-Meteo refused the request: {reason:?}; change the arguments that this names")]
    Refused { reason: String },
    #[error(
        "Open-Meteo accepts no more requests for now{}; wait a minute, and a day if it happens again, or tell the user",
        quoted(reason)
    )]
    Busy {
        reason: Option<String>,
        retry_after: Option<Duration>,
    },
    #[error(
        "Open-Meteo has a fault of its own (status {status}); try again in a minute, or tell the user"
    )]
    Down { status: StatusCode },
    #[error(
        "Open-Meteo answered with the unexpected status {status}; tell the user, and use another source"
    )]
    Status { status: StatusCode },
    #[error(
        "{host} answered with {media_type:?} instead of JSON, so a proxy or a login page may be in between; tell the user, and use \
         another source"
    )]
    NotJson { host: String, media_type: String },
    #[error(
        "the answer of {host} has another form than documented: {fault}; tell the user, and use another source"
    )]
    Shape { host: &'static str, fault: String },
    #[error("Open-Meteo has no weather for this position; choose a place nearby")]
    NoValues,
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl From<WeatherError> for ToolError {
    fn from(error: WeatherError) -> Self {
        let message = error.to_string();
        match error {
            WeatherError::Http(error) => error.into(),
            WeatherError::Busy {
                retry_after: Some(wait),
                ..
            } => Self::transient(message).with_retry_after(wait),
            WeatherError::Busy { .. } | WeatherError::Down { .. } => Self::transient(message),
            _ => Self::execution_failed(message),
        }
    }
}

fn quoted(reason: &Option<String>) -> String {
    reason
        .as_ref()
        .map_or_else(String::new, |reason| format!(" ({reason:?})"))
}

fn within(country_code: &Option<String>) -> String {
    country_code
        .as_ref()
        .map_or_else(String::new, |code| format!(" in the country {code}"))
}
