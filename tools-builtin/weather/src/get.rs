//! `weather.get`: the weather of a place, now and in the next days.

use serde::Serialize;
use tools::{ToolContext, ToolError, tool};
use tools_http::HttpClient;

use crate::choice::Choice;
use crate::error::WeatherError;
use crate::forecast::{Current, Day, forecast};
use crate::geocoding::{FoundPlace, find, name};
use crate::narrowing::Narrowing;
use crate::place::{Place, elevation};
use crate::request::WeatherRequest;

/// The maximum number of places that an answer lists.
const MAX_PLACES: usize = 10;

/// Returns the weather of a place from Open-Meteo: current values, and one entry a day for up to 16 days. Has no past weather and no
/// hourly values. Set `place`, or set `latitude` and `longitude`.
///
/// - `place` in the answer is the place that was taken: check that it is the one that is meant. `other_places` have the same name.
/// - For an ambiguous name, the answer has `candidates` and no weather. Call again with the coordinates of the one that is meant, or
///   ask the user.
/// - Each number has its unit. `null` is a value that the service does not have. Times are local to the place.
#[tool(
    name = "weather.get",
    title = "Weather of a place",
    reads = ["net:api.open-meteo.com", "net:geocoding-api.open-meteo.com"],
    open_world,
    needs = HttpClient,
    tags = ["weather", "web"],
    timeout = "30s",
    example({"place": "Zurich", "country": "CH"}),
    example({"place": "Springfield, Illinois", "days": 7, "units": "imperial"}),
    example({"latitude": 52.52, "longitude": 13.41, "days": 1, "wind_speed_unit": "ms"}),
)]
pub(crate) async fn get(
    cx: &ToolContext,
    #[args] request: WeatherRequest,
) -> Result<Answer, ToolError> {
    let client = cx.need::<HttpClient>()?;
    Ok(answer(cx, &client, &request).await?)
}

/// The answer: the weather, or the places that may be meant.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Weather(Box<Weather>),
    Candidates(Candidates),
}

/// The weather of one place.
#[derive(Debug, Serialize)]
pub(crate) struct Weather {
    place: Place,
    /// Other places of this name, the most populous first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_places: Vec<Place>,
    /// The offset of all times from UTC.
    utc_offset: String,
    current: Current,
    daily: Vec<Day>,
    source: &'static str,
}

/// The places that a name may mean.
#[derive(Debug, Serialize)]
pub(crate) struct Candidates {
    problem: String,
    next_step: &'static str,
    candidates: Vec<Place>,
    /// The number of further places, which the list leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
    source: &'static str,
}

const SOURCE: &str = "Weather data by Open-Meteo.com (https://open-meteo.com/), licence CC BY 4.0; places by GeoNames";

async fn answer(
    cx: &ToolContext,
    client: &HttpClient,
    request: &WeatherRequest,
) -> Result<Answer, WeatherError> {
    let narrows = request.country.is_some() || request.region.is_some();
    let (place, other_places) = match (&request.place, request.latitude, request.longitude) {
        (None, Some(latitude), Some(longitude)) if !narrows => {
            (Place::from_coordinates(latitude, longitude), Vec::new())
        }
        (Some(name), None, None) => match search(cx, client, name, request).await? {
            Choice::One(place, others) => (place.to_place(), listed(&others)),
            Choice::Several(places) => {
                let problem = format!("{} places may be meant by {name:?}", places.len());
                return Ok(candidates(problem, &places));
            }
            Choice::Elsewhere(places) => {
                let problem = format!(
                    "no {name:?} is in the country or region that was named; these are elsewhere"
                );
                return Ok(candidates(problem, &places));
            }
        },
        (None, None, None) => return Err(WeatherError::NoPlace),
        (None, ..) if !narrows => return Err(WeatherError::HalfCoordinates),
        _ => return Err(WeatherError::PlaceAndCoordinates),
    };
    weather(cx, client, request, place, other_places)
        .await
        .map(Box::new)
        .map(Answer::Weather)
}

async fn search(
    cx: &ToolContext,
    client: &HttpClient,
    name: &str,
    request: &WeatherRequest,
) -> Result<Choice, WeatherError> {
    let narrowing = Narrowing::new(name, request.country.as_deref(), request.region.as_deref())?;
    let found = find(
        cx,
        client,
        &narrowing.name,
        narrowing.country_code().as_deref(),
    )
    .await?;
    Choice::new(&narrowing, found).ok_or_else(|| narrowing.unknown())
}

async fn weather(
    cx: &ToolContext,
    client: &HttpClient,
    request: &WeatherRequest,
    mut place: Place,
    other_places: Vec<Place>,
) -> Result<Weather, WeatherError> {
    let forecast = forecast(cx, client, (place.latitude, place.longitude), request).await?;
    place.elevation = place.elevation.or(elevation(forecast.elevation));
    place.timezone = name(&forecast.timezone);
    let utc_offset = offset(forecast.utc_offset_seconds);
    Ok(Weather {
        place,
        other_places,
        utc_offset,
        current: forecast.current,
        daily: forecast.daily,
        source: SOURCE,
    })
}

fn candidates(problem: String, places: &[FoundPlace]) -> Answer {
    Answer::Candidates(Candidates {
        problem,
        next_step: "call weather.get again with the latitude and longitude of the one that is meant, or with its region and country; \
             if that is unclear, ask the user",
        candidates: listed(places),
        omitted: places
            .len()
            .checked_sub(MAX_PLACES)
            .filter(|omitted| *omitted > 0),
        source: SOURCE,
    })
}

fn listed(places: &[FoundPlace]) -> Vec<Place> {
    places
        .iter()
        .take(MAX_PLACES)
        .map(FoundPlace::to_place)
        .collect()
}

/// Formats an offset from UTC such as `+05:30`.
fn offset(seconds: i32) -> String {
    let (sign, minutes) = (
        if seconds < 0 { '-' } else { '+' },
        seconds.unsigned_abs() / 60,
    );
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}
