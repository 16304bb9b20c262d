//! [`WeatherRequest`]: the arguments of `weather.get`.

use serde::{Deserialize, Serialize};
use tools::JsonSchema;

/// The arguments of `weather.get`.
#[derive(Debug, Deserialize, JsonSchema)]
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
    /// `metric` is °C, km/h and mm; `imperial` is °F, mph and inches; `uk` is °C, mph and mm; `knots` has knots, `si` m/s.
    #[serde(default)]
    pub(crate) units: UnitSystem,
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
    Uk,
    Knots,
    Si,
}

impl UnitSystem {
    /// Returns the units of temperature, wind speed and precipitation, as the service names them.
    pub(crate) fn names(&self) -> [&'static str; 3] {
        match self {
            Self::Metric => ["celsius", "kmh", "mm"],
            Self::Imperial => ["fahrenheit", "mph", "inch"],
            Self::Uk => ["celsius", "mph", "mm"],
            Self::Knots => ["celsius", "kn", "mm"],
            Self::Si => ["celsius", "ms", "mm"],
        }
    }
}

fn three() -> u8 {
    3
}
