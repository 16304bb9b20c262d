//! `weather.get`: the weather of a place, now and in the next days.

use serde_json::{Value, json};
use tools::{ToolContext, ToolError, tool};
use tools_http::HttpClient;

use crate::forecast::forecast;
use crate::place::Place;
use crate::request::WeatherRequest;
use crate::search::search;

/// The maximum number of places that an answer lists.
const MAX_PLACES: usize = 10;

/// The advice beside candidates.
const NEXT_STEP: &str = "call weather.get again with the latitude and longitude of the one that is meant, or with its region and \
    country; if that is unclear, ask the user";

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
    example({"latitude": 52.52, "longitude": 13.41, "days": 1, "units": "si"}),
)]
pub(crate) async fn get(
    cx: &ToolContext,
    #[args] request: WeatherRequest,
) -> Result<Value, ToolError> {
    let client = cx.need::<HttpClient>()?;
    let narrows = request.country.is_some() || request.region.is_some();
    let (mut places, problem) = match (&request.place, request.latitude, request.longitude) {
        (None, Some(latitude), Some(longitude)) if !narrows => {
            (vec![Place::at(latitude, longitude)], None)
        }
        (Some(name), None, None) => search(cx, &client, name, &request).await?,
        _ => {
            let repair =
                "set place, which country and region narrow, or set latitude and longitude";
            return Err(ToolError::execution_failed(repair));
        }
    };
    let (mut answer, others) = match &problem {
        Some(problem) => (
            json!({"problem": problem, "next_step": NEXT_STEP}),
            "candidates",
        ),
        None => (
            forecast(cx, &client, places.remove(0), &request).await?,
            "other_places",
        ),
    };
    if !places.is_empty() {
        answer[others] = places.iter().take(MAX_PLACES).map(Place::to_json).collect();
    }
    answer["source"] = json!(SOURCE);
    Ok(answer)
}

const SOURCE: &str = "Weather data by Open-Meteo.com (https://open-meteo.com/), licence CC BY 4.0; places by GeoNames";
