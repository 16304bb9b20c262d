//! [`Place`]: a place on Earth.

use serde::Deserialize;
use serde_json::{Value, json};
use tools::visible_line;

/// The longest name in an answer, in characters: enough for a name, and little for anything else.
const MAX_NAME: usize = 80;

/// A place that the service found, or a position alone.
///
/// The fields are those of the client open-meteo 1.0.1 on PyPI (`open_meteo/models/geocoding.py`) and of the service's documentation:
/// empty fields are left out, so Antarctica has no country, and some capes have no elevation.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Place {
    /// The English name, or the local one if there is no English one.
    pub(crate) name: String,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) elevation: Option<f64>,
    pub(crate) country_code: Option<String>,
    pub(crate) country: Option<String>,
    /// The administrative area of the first level, such as a state.
    pub(crate) admin1: Option<String>,
    /// The administrative area of the second level, such as a county.
    pub(crate) admin2: Option<String>,
    pub(crate) admin3: Option<String>,
    pub(crate) admin4: Option<String>,
    pub(crate) timezone: Option<String>,
    pub(crate) population: Option<u64>,
    pub(crate) postcodes: Option<Vec<String>>,
}

impl Place {
    /// Returns the place for an answer, with visible text. Fields that the service does not know are left out.
    pub(crate) fn to_json(&self) -> Value {
        let shorten = |text: &Option<String>| text.as_deref().and_then(shorten_name);
        // The service marks missing heights with -9999.
        let metres = (self.elevation).filter(|metres| (-500.0..=9000.0).contains(metres));
        let mut place = json!({
            "name": shorten_name(&self.name),
            "district": shorten(&self.admin2),
            "region": shorten(&self.admin1),
            "country": shorten(&self.country),
            "country_code": shorten(&self.country_code),
            "latitude": self.latitude,
            "longitude": self.longitude,
            "elevation": metres.map(|metres| json!({"value": metres, "unit": "m"})),
            "timezone": shorten(&self.timezone),
            "population": self.population.filter(|population| *population > 0),
        });
        if let Some(fields) = place.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        place
    }

    /// Creates a place from a position alone.
    pub(crate) fn at(latitude: f64, longitude: f64) -> Self {
        Self {
            latitude,
            longitude,
            ..Self::default()
        }
    }

    /// Returns true if another place is within about 20 km, so that both have the same weather.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        let across = (self.longitude - other.longitude) * self.latitude.to_radians().cos();
        (self.latitude - other.latitude).hypot(across) < 0.18
    }
}

/// Returns a name as one visible line. Returns `None` if it is empty.
fn shorten_name(text: &str) -> Option<String> {
    Some(visible_line(text, MAX_NAME)).filter(|name| !name.is_empty())
}
