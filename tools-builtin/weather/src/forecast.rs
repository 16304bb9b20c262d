//! The weather at a position: current values, and one row a day.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::ToolContext;
use tools_http::HttpClient;

use crate::error::WeatherError;
use crate::quantity::Quantity;
use crate::request::WeatherRequest;
use crate::row::{Row, fault};
use crate::service;

/// The variables of `current`, by the names of the service.
const CURRENT: &str = "weather_code,is_day,temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,cloud_cover,\
    pressure_msl,wind_speed_10m,wind_direction_10m,wind_gusts_10m";

/// The variables of `daily`, by the names of the service.
const DAILY: &str = "weather_code,temperature_2m_max,temperature_2m_min,apparent_temperature_max,apparent_temperature_min,\
    precipitation_sum,precipitation_probability_max,wind_speed_10m_max,wind_gusts_10m_max,wind_direction_10m_dominant,\
    uv_index_max,sunrise,sunset";

/// The weather now. `None` is a value that the service does not have.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Current {
    /// The local time of the values.
    pub(crate) time: Option<String>,
    pub(crate) conditions: Option<String>,
    pub(crate) is_day: Option<bool>,
    pub(crate) temperature: Option<Quantity>,
    pub(crate) apparent_temperature: Option<Quantity>,
    pub(crate) relative_humidity: Option<Quantity>,
    pub(crate) precipitation: Option<Quantity>,
    pub(crate) cloud_cover: Option<Quantity>,
    /// At sea level.
    pub(crate) pressure: Option<Quantity>,
    pub(crate) wind_speed: Option<Quantity>,
    /// The direction that the wind comes from.
    pub(crate) wind_direction: Option<Quantity>,
    pub(crate) wind_gusts: Option<Quantity>,
}

/// The weather of one day. `None` is a value that the service does not have.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Day {
    pub(crate) date: String,
    pub(crate) weekday: String,
    pub(crate) conditions: Option<String>,
    pub(crate) temperature_max: Option<Quantity>,
    pub(crate) temperature_min: Option<Quantity>,
    pub(crate) apparent_temperature_max: Option<Quantity>,
    pub(crate) apparent_temperature_min: Option<Quantity>,
    pub(crate) precipitation: Option<Quantity>,
    pub(crate) precipitation_probability: Option<Quantity>,
    pub(crate) wind_speed_max: Option<Quantity>,
    pub(crate) wind_gusts_max: Option<Quantity>,
    /// The direction that the wind mostly comes from.
    pub(crate) wind_direction: Option<Quantity>,
    /// The UV index, which has no unit.
    pub(crate) uv_index_max: Option<f64>,
    pub(crate) sunrise: Option<String>,
    pub(crate) sunset: Option<String>,
}

/// The weather at a position.
#[derive(Debug)]
pub(crate) struct Forecast {
    pub(crate) timezone: String,
    pub(crate) utc_offset_seconds: i32,
    pub(crate) elevation: Option<f64>,
    pub(crate) current: Current,
    pub(crate) daily: Vec<Day>,
}

/// The answer of the service.
#[derive(Deserialize)]
struct ForecastAnswer {
    timezone: String,
    utc_offset_seconds: i32,
    elevation: Option<f64>,
    current: BTreeMap<String, Value>,
    current_units: BTreeMap<String, String>,
    daily: BTreeMap<String, Vec<Value>>,
    daily_units: BTreeMap<String, String>,
}

/// Returns the weather at a position.
pub(crate) async fn forecast(
    cx: &ToolContext,
    client: &HttpClient,
    (latitude, longitude): (f64, f64),
    request: &WeatherRequest,
) -> Result<Forecast, WeatherError> {
    let (latitude, longitude, days) = (
        latitude.to_string(),
        longitude.to_string(),
        request.days.to_string(),
    );
    let mut parameters = vec![
        ("latitude", &*latitude),
        ("longitude", &longitude),
        ("current", CURRENT),
    ];
    parameters.extend([
        ("daily", DAILY),
        ("timezone", "auto"),
        ("forecast_days", &days),
    ]);
    parameters.extend(request.unit_parameters());
    let answer: ForecastAnswer =
        service::request(cx, client, service::FORECASTS, "/v1/forecast", &parameters).await?;
    let now = Row {
        values: answer
            .current
            .iter()
            .map(|(field, value)| (&**field, value))
            .collect(),
        units: &answer.current_units,
    };
    let (current, daily) = (current(&now)?, daily(&answer, request.days.into())?);
    if current.temperature.is_none() && daily.iter().all(|day| day.temperature_max.is_none()) {
        return Err(WeatherError::NoValues);
    }
    let ForecastAnswer {
        timezone,
        utc_offset_seconds,
        elevation,
        ..
    } = answer;
    Ok(Forecast {
        timezone,
        utc_offset_seconds,
        elevation,
        current,
        daily,
    })
}

fn current(row: &Row<'_>) -> Result<Current, WeatherError> {
    Ok(Current {
        time: row.moment("time")?,
        conditions: row.conditions("weather_code")?,
        is_day: row.flag("is_day")?,
        temperature: row.quantity("temperature_2m")?,
        apparent_temperature: row.quantity("apparent_temperature")?,
        relative_humidity: row.quantity("relative_humidity_2m")?,
        precipitation: row.quantity("precipitation")?,
        cloud_cover: row.quantity("cloud_cover")?,
        pressure: row.quantity("pressure_msl")?,
        wind_speed: row.quantity("wind_speed_10m")?,
        wind_direction: row.quantity("wind_direction_10m")?,
        wind_gusts: row.quantity("wind_gusts_10m")?,
    })
}

/// Returns up to `most` days: the service gives a list for each variable.
fn daily(answer: &ForecastAnswer, most: usize) -> Result<Vec<Day>, WeatherError> {
    let count = answer.daily.get("time").map_or(0, Vec::len);
    if let Some((field, _)) = answer.daily.iter().find(|(_, list)| list.len() != count) {
        return Err(fault(field, "has another number of days than time"));
    }
    let row = |index: usize| Row {
        values: answer
            .daily
            .iter()
            .map(|(field, list)| (&**field, &list[index]))
            .collect(),
        units: &answer.daily_units,
    };
    (0..count.min(most)).map(|index| day(&row(index))).collect()
}

fn day(row: &Row<'_>) -> Result<Day, WeatherError> {
    let date = row.date("time")?;
    Ok(Day {
        date: date.to_string(),
        weekday: date.strftime("%A").to_string(),
        conditions: row.conditions("weather_code")?,
        temperature_max: row.quantity("temperature_2m_max")?,
        temperature_min: row.quantity("temperature_2m_min")?,
        apparent_temperature_max: row.quantity("apparent_temperature_max")?,
        apparent_temperature_min: row.quantity("apparent_temperature_min")?,
        precipitation: row.quantity("precipitation_sum")?,
        precipitation_probability: row.quantity("precipitation_probability_max")?,
        wind_speed_max: row.quantity("wind_speed_10m_max")?,
        wind_gusts_max: row.quantity("wind_gusts_10m_max")?,
        wind_direction: row.quantity("wind_direction_10m_dominant")?,
        uv_index_max: row.number("uv_index_max")?,
        sunrise: row.moment("sunrise")?,
        sunset: row.moment("sunset")?,
    })
}
