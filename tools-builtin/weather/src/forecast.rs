//! The weather at a position: current values, and one row a day.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tools::{ToolContext, ToolError};
use tools_http::HttpClient;

use crate::place::Place;
use crate::request::WeatherRequest;
use crate::service::{FORECASTS, answer_error, request_json};

/// The current values, each with the variable of the service if it has another name. The pressure is that at sea level.
const CURRENT: &str = "time conditions=weather_code is_day temperature=temperature_2m apparent_temperature \
    relative_humidity=relative_humidity_2m precipitation cloud_cover pressure=pressure_msl wind_speed=wind_speed_10m \
    wind_direction=wind_direction_10m wind_gusts=wind_gusts_10m";

/// The values of a day. The direction is that from which the wind mostly comes.
const DAY: &str = "date=time weekday=time conditions=weather_code temperature_max=temperature_2m_max \
    temperature_min=temperature_2m_min apparent_temperature_max apparent_temperature_min precipitation=precipitation_sum \
    precipitation_probability=precipitation_probability_max wind_speed_max=wind_speed_10m_max \
    wind_gusts_max=wind_gusts_10m_max wind_direction=wind_direction_10m_dominant uv_index_max sunrise sunset";

/// The units of the service, each with its usual name if that is another one.
const UNITS: &str = "°C °F km/h m/s mph mp/h=mph kn mm inch=in % hPa °";

/// The words for WMO weather codes.
///
/// The table is that of <https://open-meteo.com/en/docs> (`WMO Weather interpretation codes (WW)`), as
/// the crate openmeteo-rs 1.0.0 (`src/weather_code.rs`) has it too. Other codes of WMO table 4677 are not in use there.
const CONDITIONS: &str = include_str!("conditions.txt");

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
    let [temperature, wind_speed, precipitation] = request.units.names();
    let latitude = place.latitude.to_string();
    let longitude = place.longitude.to_string();
    let parameters = [
        ("latitude", latitude.as_str()),
        ("longitude", &longitude),
        ("current", &list_variables(CURRENT)),
        ("daily", &list_variables(DAY)),
        ("timezone", "auto"),
        ("forecast_days", &request.days.to_string()),
        ("temperature_unit", temperature),
        ("wind_speed_unit", wind_speed),
        ("precipitation_unit", precipitation),
    ];
    let answer: ForecastAnswer =
        request_json(cx, client, (FORECASTS, "/v1/forecast"), &parameters).await?;
    let current = read_row(CURRENT, &answer.current_units, |it| answer.current.get(it))?;
    let count = answer.daily.get("time").map_or(0, Vec::len);
    let days = (0..count.min(request.days.into())).map(|day| {
        read_row(DAY, &answer.daily_units, |key| {
            answer.daily.get(key)?.get(day)
        })
    });
    let days = days.collect::<Result<Vec<_>, _>>()?;
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
        let fault = format!("{variable} is no {name}, with the unit \"{unit}\"");
        let read = read(name, value, unit).ok_or_else(|| answer_error(FORECASTS, &fault))?;
        row.insert(name.to_owned(), read);
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
            let mut table = CONDITIONS.lines().filter_map(|line| line.split_once(' '));
            let words = table.find_map(|(known, words)| (known == code).then_some(words));
            json!(words.map_or(format!("unknown WMO weather code {code}"), str::to_owned))
        }
        ("is_day", _) => json!(value.as_u64().filter(|it| *it < 2)? == 1),
        ("uv_index_max", _) => json!(value.as_f64()?),
        _ => {
            let units = UNITS
                .split(' ')
                .map(|it| it.split_once('=').unwrap_or((it, it)));
            let (_, usual) = units.into_iter().find(|(sent, _)| *sent == unit)?;
            json!({"value": value.as_f64()?, "unit": usual})
        }
    })
}
