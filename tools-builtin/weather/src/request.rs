//! [`WeatherRequest`]: the arguments of `weather.get`.

use serde::{Deserialize, Serialize};
use tools::JsonSchema;

/// The arguments of `weather.get`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum UnitSystem {
    #[default]
    Metric,
    Imperial,
}

/// A unit of temperature.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum TemperatureUnit {
    Celsius,
    Fahrenheit,
}

/// A unit of wind speed: kilometres or miles per hour, metres per second, or knots.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum WindSpeedUnit {
    Kmh,
    Ms,
    Mph,
    Kn,
}

/// A unit of precipitation.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars")]
pub(crate) enum PrecipitationUnit {
    Mm,
    Inch,
}

impl WeatherRequest {
    /// Returns the units as parameters of the service.
    pub(crate) fn unit_parameters(&self) -> [(&'static str, &'static str); 3] {
        let (temperature, wind_speed, precipitation) = match self.units {
            UnitSystem::Metric => (
                TemperatureUnit::Celsius,
                WindSpeedUnit::Kmh,
                PrecipitationUnit::Mm,
            ),
            UnitSystem::Imperial => (
                TemperatureUnit::Fahrenheit,
                WindSpeedUnit::Mph,
                PrecipitationUnit::Inch,
            ),
        };
        let temperature = match self.temperature_unit.unwrap_or(temperature) {
            TemperatureUnit::Celsius => "celsius",
            TemperatureUnit::Fahrenheit => "fahrenheit",
        };
        let wind_speed = match self.wind_speed_unit.unwrap_or(wind_speed) {
            WindSpeedUnit::Kmh => "kmh",
            WindSpeedUnit::Ms => "ms",
            WindSpeedUnit::Mph => "mph",
            WindSpeedUnit::Kn => "kn",
        };
        let precipitation = match self.precipitation_unit.unwrap_or(precipitation) {
            PrecipitationUnit::Mm => "mm",
            PrecipitationUnit::Inch => "inch",
        };
        [
            ("temperature_unit", temperature),
            ("wind_speed_unit", wind_speed),
            ("precipitation_unit", precipitation),
        ]
    }
}

fn three() -> u8 {
    3
}
