//! [`Place`]: a place in an answer.

use serde::Serialize;

use crate::quantity::Quantity;

/// A place in an answer. Fields that the service does not know are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Place {
    /// The English name, or the local one if there is no English one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The administrative area of the second level, such as a county.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) district: Option<String>,
    /// The administrative area of the first level, such as a state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) country: Option<String>,
    /// The ISO 3166-1 alpha-2 code of the country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) country_code: Option<String>,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) elevation: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) population: Option<u64>,
}

impl Place {
    /// Creates a place from coordinates alone.
    pub(crate) fn from_coordinates(latitude: f64, longitude: f64) -> Self {
        Self {
            name: None,
            district: None,
            region: None,
            country: None,
            country_code: None,
            latitude,
            longitude,
            elevation: None,
            timezone: None,
            population: None,
        }
    }
}

/// Returns a height above sea level in metres, or `None` if there is none on Earth: the service marks missing heights with -9999.
pub(crate) fn elevation(metres: Option<f64>) -> Option<Quantity> {
    metres
        .filter(|metres| (-500.0..=9000.0).contains(metres))
        .map(Quantity::metres)
}
