//! Looks up places by name.

use serde::Deserialize;
use tools::ToolContext;
use tools_http::HttpClient;

use crate::error::WeatherError;
use crate::place::{Place, elevation};
use crate::service;
use crate::visible::visible;

/// The longest name in an answer, in characters.
const MAX_NAME: usize = 80;

/// A place that the service found.
///
/// The fields are those of the client open-meteo 1.0.1 on PyPI (`open_meteo/models/geocoding.py`) and of the service's documentation:
/// empty fields are left out, so Antarctica has no country, and some capes have no elevation.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FoundPlace {
    pub(crate) name: String,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) elevation: Option<f64>,
    pub(crate) country_code: Option<String>,
    pub(crate) country: Option<String>,
    pub(crate) admin1: Option<String>,
    pub(crate) admin2: Option<String>,
    pub(crate) admin3: Option<String>,
    pub(crate) admin4: Option<String>,
    pub(crate) timezone: Option<String>,
    pub(crate) population: Option<u64>,
    pub(crate) postcodes: Option<Vec<String>>,
}

/// The answer of the service. Without results, the field is missing.
#[derive(Deserialize)]
struct FoundPlaces {
    results: Option<Vec<FoundPlace>>,
}

impl FoundPlace {
    /// Returns the place for an answer, with visible text.
    pub(crate) fn to_place(&self) -> Place {
        let short = |text: &Option<String>| text.as_deref().and_then(name);
        Place {
            name: name(&self.name),
            district: short(&self.admin2),
            region: short(&self.admin1),
            country: short(&self.country),
            country_code: short(&self.country_code),
            latitude: self.latitude,
            longitude: self.longitude,
            elevation: elevation(self.elevation),
            timezone: short(&self.timezone),
            population: self.population.filter(|population| *population > 0),
        }
    }
}

/// Returns a name as one visible line of at most 80 characters: enough for a name, and little for anything else.
pub(crate) fn name(text: &str) -> Option<String> {
    let mut name = visible(text)?;
    if let Some((end, _)) = name.char_indices().nth(MAX_NAME) {
        name.truncate(end);
        name.push('…');
    }
    Some(name)
}

/// Returns the places that the service finds for a name or postal code, the most relevant first.
pub(crate) async fn find(
    cx: &ToolContext,
    client: &HttpClient,
    name: &str,
    country_code: Option<&str>,
) -> Result<Vec<FoundPlace>, WeatherError> {
    // All that the service gives: it finds parts of names too, so the place that is meant may come late.
    let mut parameters = vec![
        ("name", name),
        ("count", "100"),
        ("language", "en"),
        ("format", "json"),
    ];
    parameters.extend(country_code.map(|code| ("countryCode", code)));
    let found: FoundPlaces =
        service::request(cx, client, service::PLACES, "/v1/search", &parameters).await?;
    let places = found.results.unwrap_or_default();
    let is_on_earth =
        |place: &FoundPlace| place.latitude.abs() <= 90.0 && place.longitude.abs() <= 180.0;
    if let Some(wrong) = places
        .iter()
        .find(|place| place.name.is_empty() || !is_on_earth(place))
    {
        let fault = format!(
            "it has a place without a name or outside of the Earth, at {}, {}",
            wrong.latitude, wrong.longitude
        );
        return Err(WeatherError::Shape {
            host: service::PLACES,
            fault,
        });
    }
    Ok(places)
}
