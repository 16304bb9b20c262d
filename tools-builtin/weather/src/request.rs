//! [`WeatherRequest`]: the arguments of `weather.get`.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tools::JsonSchema;

/// The arguments of `weather.get`.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct WeatherRequest {
    /// The name of a place or a postal code, in any language. Parts after a comma narrow it: `Springfield, Illinois`.
    #[schemars(length(min = 2, max = 200))]
    pub(crate) place: Option<String>,
    /// Narrows `place` to a country: its English name, or its ISO code such as `DE`.
    #[schemars(length(min = 2, max = 100))]
    pub(crate) country: Option<String>,
    /// Narrows `place` to a state, province, county or district: its English name.
    #[schemars(length(min = 2, max = 100))]
    pub(crate) region: Option<String>,
    /// The latitude in degrees, with `longitude` and without `place`.
    #[schemars(range(min = -90, max = 90))]
    pub(crate) latitude: Option<f64>,
    /// The longitude in degrees, with `latitude` and without `place`.
    #[schemars(range(min = -180, max = 180))]
    pub(crate) longitude: Option<f64>,
    /// The number of days of the forecast. The first is today at the place.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 16))]
    pub(crate) days: u8,
    /// `metric` is °C, km/h and mm; `imperial` is °F, mph and inches.
    #[serde(default)]
    pub(crate) units: UnitSystem,
    /// The unit of temperatures, if it differs from `units`.
    pub(crate) temperature_unit: Option<TemperatureUnit>,
    /// The unit of wind speeds, if it differs from `units`.
    pub(crate) wind_speed_unit: Option<WindSpeedUnit>,
    /// The unit of precipitation, if it differs from `units`.
    pub(crate) precipitation_unit: Option<PrecipitationUnit>,
}

/// A system of units.
// `Serialize` puts the default into the schema.
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum UnitSystem {
    #[default]
    Metric,
    Imperial,
}

/// A unit of temperature.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum TemperatureUnit {
    Celsius,
    Fahrenheit,
}

/// A unit of wind speed: kilometres or miles per hour, metres per second, or knots.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum WindSpeedUnit {
    Kmh,
    Ms,
    Mph,
    Kn,
}

/// A unit of precipitation.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum PrecipitationUnit {
    Mm,
    Inch,
}

impl WeatherRequest {
    /// Returns the units as parameters of the service, which has the names of the arguments.
    pub(crate) fn unit_parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        let defaults = match self.units {
            UnitSystem::Metric => ["celsius", "kmh", "mm"],
            UnitSystem::Imperial => ["fahrenheit", "mph", "inch"],
        };
        let request = json!(self);
        ["temperature_unit", "wind_speed_unit", "precipitation_unit"]
            .into_iter()
            .zip(defaults)
            .map(move |(name, unit)| (name, request[name].as_str().unwrap_or(unit).to_owned()))
    }
}

fn three() -> u8 {
    3
}
