//! [`Quantity`]: a number with its unit.

use serde::Serialize;

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Quantity {
    value: f64,
    unit: &'static str,
}

impl Quantity {
    /// Creates a quantity from a unit in the spelling of Open-Meteo. Returns `None` if the unit is unknown.
    pub(crate) fn new(value: f64, unit: &str) -> Option<Self> {
        // The service writes `mp/h` and `inch`.
        let unit = match unit {
            "°C" => "°C",
            "°F" => "°F",
            "km/h" => "km/h",
            "m/s" => "m/s",
            "mp/h" | "mph" => "mph",
            "kn" => "kn",
            "mm" => "mm",
            "inch" => "in",
            "%" => "%",
            "hPa" => "hPa",
            "°" => "°",
            _ => return None,
        };
        Some(Self { value, unit })
    }

    /// Creates a length in metres.
    pub(crate) fn metres(value: f64) -> Self {
        Self { value, unit: "m" }
    }
}
