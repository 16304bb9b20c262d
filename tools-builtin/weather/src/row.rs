//! [`Row`]: the values of one moment or day, with their units.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};
use serde_json::Value;

use crate::error::WeatherError;
use crate::quantity::Quantity;
use crate::service::FORECASTS;
use crate::visible::visible;
use crate::weather_code::conditions;

/// The values of one moment or day, with their units. A missing value and `null` are `None`.
pub(crate) struct Row<'a> {
    pub(crate) values: BTreeMap<&'a str, &'a Value>,
    pub(crate) units: &'a BTreeMap<String, String>,
}

impl Row<'_> {
    /// Returns a number with its unit.
    pub(crate) fn quantity(&self, field: &str) -> Result<Option<Quantity>, WeatherError> {
        let Some(number) = self.number(field)? else {
            return Ok(None);
        };
        let unit = self.units.get(field).map_or("", String::as_str);
        let unknown = || {
            fault(
                field,
                &format!(
                    "has the unknown unit {:?}",
                    visible(unit).unwrap_or_default()
                ),
            )
        };
        Quantity::new(number, unit).map(Some).ok_or_else(unknown)
    }

    /// Returns a number without a unit.
    pub(crate) fn number(&self, field: &str) -> Result<Option<f64>, WeatherError> {
        let number = |value: &Value| {
            value
                .as_f64()
                .ok_or_else(|| fault(field, "is not a number"))
        };
        self.value(field).map(number).transpose()
    }

    /// Returns the words for a weather code.
    pub(crate) fn conditions(&self, field: &str) -> Result<Option<String>, WeatherError> {
        let code = |value: &Value| {
            value
                .as_u64()
                .map(conditions)
                .ok_or_else(|| fault(field, "is not a weather code"))
        };
        self.value(field).map(code).transpose()
    }

    /// Returns a number that is 0 or 1.
    pub(crate) fn flag(&self, field: &str) -> Result<Option<bool>, WeatherError> {
        let flag = |number: f64| match number {
            0.0 => Ok(false),
            1.0 => Ok(true),
            _ => Err(fault(field, "is neither 0 nor 1")),
        };
        self.number(field)?.map(flag).transpose()
    }

    /// Returns a date.
    pub(crate) fn date(&self, field: &str) -> Result<Date, WeatherError> {
        let text = self.value(field).and_then(Value::as_str);
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| fault(field, "is not a date"))
    }

    /// Returns a local date and time, such as `2026-04-28T17:30`.
    pub(crate) fn moment(&self, field: &str) -> Result<Option<String>, WeatherError> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let moment: Option<DateTime> = value.as_str().and_then(|text| text.parse().ok());
        let moment = moment.ok_or_else(|| fault(field, "is not a date and time"))?;
        Ok(Some(moment.strftime("%Y-%m-%dT%H:%M").to_string()))
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.values
            .get(field)
            .copied()
            .filter(|value| !value.is_null())
    }
}

/// Returns the error for a field of the answer.
pub(crate) fn fault(field: &str, fault: &str) -> WeatherError {
    WeatherError::Shape {
        host: FORECASTS,
        fault: format!("{field} {fault}"),
    }
}
