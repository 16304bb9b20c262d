//! The weather at a position: current values, and one row a day.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tools::{ToolContext, ToolError};
use tools_http::HttpClient;

use crate::place::Place;
use crate::request::WeatherRequest;
use crate::service::{FORECASTS, request_json, unexpected};

/// The current values, each with the variable of the service if it has another name. The pressure is that at sea level.
const CURRENT: &str = "time conditions=weather_code is_day temperature=temperature_2m apparent_temperature \
    relative_humidity=relative_humidity_2m precipitation cloud_cover pressure=pressure_msl wind_speed=wind_speed_10m \
    wind_direction=wind_direction_10m wind_gusts=wind_gusts_10m";

/// The values of a day. The direction is that from which the wind mostly comes.
const DAY: &str = "date=time weekday=time conditions=weather_code temperature_max=temperature_2m_max \
    temperature_min=temperature_2m_min apparent_temperature_max apparent_temperature_min precipitation=precipitation_sum \
    precipitation_probability=precipitation_probability_max wind_speed_max=wind_speed_10m_max \
    wind_gusts_max=wind_gusts_10m_max wind_direction=wind_direction_10m_dominant uv_index_max sunrise sunset";

/// The words for WMO weather codes.
///
/// The table is that of <https://open-meteo.com/en/docs> (`WMO Weather interpretation codes (WW)`), as
/// the crate openmeteo-rs 1.0.0 (`src/weather_code.rs`) has it too. Other codes of WMO table 4677 are not in use there.
const CONDITIONS: &str = "0=clear sky,1=mainly clear,2=partly cloudy,3=overcast,45=fog,48=depositing rime fog,\
    51=light drizzle,53=moderate drizzle,55=dense drizzle,56=light freezing drizzle,57=dense freezing drizzle,\
    61=slight rain,63=moderate rain,65=heavy rain,66=light freezing rain,67=heavy freezing rain,\
    71=slight snowfall,73=moderate snowfall,75=heavy snowfall,77=snow grains,\
    80=slight rain showers,81=moderate rain showers,82=violent rain showers,85=slight snow showers,86=heavy snow showers,\
    95=thunderstorm,96=thunderstorm with slight hail,99=thunderstorm with heavy hail";

/// The answer of the service. It has a list for each variable of the days.
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

/// Returns the fields of an answer with the weather at a place.
pub(crate) async fn forecast(
    cx: &ToolContext,
    client: &HttpClient,
    mut place: Place,
    request: &WeatherRequest,
) -> Result<Value, ToolError> {
    let mut parameters = vec![
        ("latitude", place.latitude.to_string()),
        ("longitude", place.longitude.to_string()),
        ("current", list_variables(CURRENT)),
        ("daily", list_variables(DAY)),
        ("timezone", "auto".to_owned()),
        ("forecast_days", request.days.to_string()),
    ];
    parameters.extend(request.unit_parameters());
    let answer: ForecastAnswer =
        request_json(cx, client, (FORECASTS, "/v1/forecast"), &parameters).await?;
    let now = |key: &str| answer.current.get(key);
    let current = read_row(CURRENT, &answer.current_units, now)?;
    let count = answer.daily.get("time").map_or(0, Vec::len);
    if let Some((key, _)) = answer.daily.iter().find(|(_, list)| list.len() != count) {
        let fault = format!("{key} has another number of days than time");
        return Err(unexpected(FORECASTS, &fault));
    }
    let days = (0..count.min(request.days.into()))
        .map(|day| {
            let of_day = |key: &str| Some(&answer.daily.get(key)?[day]);
            read_row(DAY, &answer.daily_units, of_day)
        })
        .collect::<Result<Vec<_>, _>>()?;
    if current["temperature"].is_null() && days.iter().all(|day| day["temperature_max"].is_null()) {
        let message = "Open-Meteo has no weather for this position; choose a place nearby";
        return Err(ToolError::execution_failed(message));
    }
    place.elevation = place.elevation.or(answer.elevation);
    place.timezone = Some(answer.timezone);
    let seconds = answer.utc_offset_seconds;
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    Ok(json!({
        "place": place.to_json(),
        "utc_offset": format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60),
        "current": current,
        "daily": days,
    }))
}

/// Returns the name and the variable of each value.
fn fields(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.split(' ')
        .map(|field| field.split_once('=').unwrap_or((field, field)))
}

fn list_variables(list: &str) -> String {
    let variables = fields(list).map(|(_, variable)| variable);
    // The service always gives the time.
    let asked: Vec<_> = variables.filter(|it| *it != "time").collect();
    asked.join(",")
}

/// Reads the values of one moment or day. A missing value is `null`.
fn read_row<'a>(
    list: &str,
    units: &BTreeMap<String, String>,
    get: impl Fn(&str) -> Option<&'a Value>,
) -> Result<Value, ToolError> {
    let mut row = Map::new();
    for (name, variable) in fields(list) {
        let unit = units.get(variable).map_or("", String::as_str);
        let value = get(variable).unwrap_or(&Value::Null);
        let fault = || {
            unexpected(
                FORECASTS,
                &format!("{variable} is no {name}, with the unit \"{unit}\""),
            )
        };
        row.insert(name.to_owned(), read(name, value, unit).ok_or_else(fault)?);
    }
    Ok(row.into())
}

/// Reads one value. Returns `None` if it is not what its name says.
fn read(name: &str, value: &Value, unit: &str) -> Option<Value> {
    let text = value.as_str().unwrap_or_default();
    let date: Option<Date> = text.parse().ok();
    Some(match (name, unit) {
        _ if value.is_null() => Value::Null,
        ("date", _) => json!(date?.to_string()),
        ("weekday", _) => json!(date?.strftime("%A").to_string()),
        ("time" | "sunrise" | "sunset", _) => {
            let moment: DateTime = text.parse().ok()?;
            json!(moment.strftime("%Y-%m-%dT%H:%M").to_string())
        }
        ("conditions", _) => {
            let code = value.as_u64()?.to_string();
            let table = CONDITIONS.split(',').map(|it| it.split_once('='));
            match table.flatten().find(|(known, _)| *known == code) {
                Some((_, words)) => json!(words),
                None => json!(format!("unknown WMO weather code {code}")),
            }
        }
        ("is_day", _) if [0.0, 1.0].contains(&value.as_f64()?) => {
            json!(value.as_f64() == Some(1.0))
        }
        ("is_day", _) => return None,
        ("uv_index_max", _) => json!(value.as_f64()?),
        (_, "°C" | "°F" | "km/h" | "m/s" | "mph" | "kn" | "mm" | "%" | "hPa" | "°") => {
            json!({"value": value.as_f64()?, "unit": unit})
        }
        (_, "mp/h") => json!({"value": value.as_f64()?, "unit": "mph"}),
        (_, "inch") => json!({"value": value.as_f64()?, "unit": "in"}),
        _ => return None,
    })
}
