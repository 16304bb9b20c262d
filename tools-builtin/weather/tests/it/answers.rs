//! The weather in an answer.

use serde_json::{Value, json};
use tools::ToolErrorKind;

use crate::service::{FORECAST, NO_PLACES, PLACES, TestService, parameter, recorded};

#[tokio::test]
async fn the_weather_of_a_named_place_has_units_words_and_its_source() {
    let service = TestService::start(PLACES, FORECAST).await;
    let answer = service.weather(json!({"place": "Zürich"})).await;

    assert_eq!(
        answer["place"],
        json!({
            "name": "Zurich", "district": "Zürich District", "region": "Zurich", "country": "Switzerland",
            "country_code": "CH", "latitude": 47.36667, "longitude": 8.55, "elevation": {"value": 429.0, "unit": "m"},
            "timezone": "Europe/Zurich", "population": 341_730,
        })
    );
    let current = &answer["current"];
    assert_eq!(
        (&current["time"], &current["conditions"]),
        (&json!("2026-04-28T17:30"), &json!("overcast"))
    );
    assert_eq!(current["temperature"], json!({"value": 20.7, "unit": "°C"}));
    assert_eq!(current["wind_speed"], json!({"value": 4.6, "unit": "km/h"}));
    assert_eq!(current["is_day"], true);
    let day = &answer["daily"][0];
    assert_eq!(
        (&day["date"], &day["weekday"]),
        (&json!("2026-04-28"), &json!("Tuesday"))
    );
    assert_eq!(
        (&day["conditions"], &day["sunrise"]),
        (&json!("slight rain"), &json!("2026-04-28T06:13"))
    );
    assert_eq!(day["precipitation"], json!({"value": 0.0, "unit": "mm"}));
    assert_eq!(answer["utc_offset"], "+02:00");
    let source = answer["source"].as_str().unwrap();
    assert!(
        source.contains("Open-Meteo") && source.contains("CC BY 4.0"),
        "{source}"
    );
}

#[tokio::test]
async fn the_requests_have_the_name_the_position_the_days_and_the_units() {
    let service = TestService::start(PLACES, FORECAST).await;
    let arguments = json!({"place": "Zürich, Switzerland", "days": 16, "units": "knots"});
    service.weather(arguments).await;
    let [search, forecast] = &service.requests()[..] else {
        panic!("{:?}", service.requests())
    };
    assert_eq!(
        (search.host_str(), forecast.host_str()),
        (
            Some("geocoding-api.open-meteo.com"),
            Some("api.open-meteo.com")
        )
    );
    assert_eq!(parameter(search, "name").as_deref(), Some("Zürich"));
    for (name, value) in [
        ("latitude", "47.36667"),
        ("longitude", "8.55"),
        ("forecast_days", "16"),
        ("timezone", "auto"),
        ("temperature_unit", "celsius"),
        ("wind_speed_unit", "kn"),
        ("precipitation_unit", "mm"),
    ] {
        assert_eq!(parameter(forecast, name).as_deref(), Some(value), "{name}");
    }
}

#[tokio::test]
async fn a_position_needs_no_search() {
    let service = TestService::start(NO_PLACES, FORECAST).await;
    let answer = service
        .weather(json!({"latitude": -33.5, "longitude": 0}))
        .await;
    let place = json!({"latitude": -33.5, "longitude": 0.0, "elevation": {"value": 409.0, "unit": "m"}, "timezone": "Europe/Zurich"});
    assert_eq!(answer["place"], place);
    let requests = service.requests();
    assert_eq!((requests.len(), requests[0].path()), (1, "/v1/forecast"));
}

#[tokio::test]
async fn imperial_units_have_their_usual_names() {
    // The names of these units in the answers of the service.
    let forecast = FORECAST
        .replace("°C", "°F")
        .replace("km/h", "mp/h")
        .replace("\"mm\"", "\"inch\"");
    let answer = TestService::start(PLACES, forecast)
        .await
        .weather(json!({"place": "Zurich", "units": "imperial"}))
        .await;
    let day = &answer["daily"][0];
    let units = ["temperature_max", "wind_speed_max", "precipitation"]
        .map(|field| day[field]["unit"].clone());
    assert_eq!(units, ["°F", "mph", "in"]);
}

#[tokio::test]
async fn values_that_the_service_lacks_are_null() {
    let mut forecast = recorded(FORECAST);
    forecast["daily"]["weather_code"] = json!([null]);
    forecast["current"]["wind_speed_10m"] = Value::Null;
    forecast["daily"]["sunrise"] = json!([]);
    forecast["elevation"] = Value::Null;
    let answer = TestService::start(PLACES, forecast)
        .await
        .weather(json!({"place": "Zurich"}))
        .await;
    // The recording has no cloud cover at all.
    for field in [
        &answer["daily"][0]["conditions"],
        &answer["daily"][0]["sunrise"],
        &answer["current"]["wind_speed"],
        &answer["current"]["cloud_cover"],
    ] {
        assert_eq!(field, &Value::Null);
    }
    assert_eq!(answer["current"]["temperature"]["value"], 20.7);
}

#[tokio::test]
async fn an_unknown_weather_code_is_named() {
    let mut forecast = recorded(FORECAST);
    forecast["current"]["weather_code"] = json!(42);
    let answer = TestService::start(PLACES, forecast)
        .await
        .weather(json!({"place": "Zurich"}))
        .await;
    assert_eq!(
        answer["current"]["conditions"],
        "unknown WMO weather code 42"
    );
}

#[tokio::test]
async fn invisible_characters_of_names_are_written_out() {
    let places = PLACES.replace("Switzerland", "Switzer\u{202e}land\u{200b}");
    let answer = TestService::start(places, FORECAST)
        .await
        .weather(json!({"place": "Zurich"}))
        .await;
    assert_eq!(answer["place"]["country"], "Switzer<U+202E>land<U+200B>");
}

#[tokio::test]
async fn a_name_is_cut_and_there_are_no_more_days_than_wanted() {
    let places = PLACES.replace("Switzerland", &"word ".repeat(1000));
    let mut forecast = recorded(FORECAST);
    for list in forecast["daily"].as_object_mut().unwrap().values_mut() {
        *list = vec![list[0].clone(); 300].into();
    }
    let answer = TestService::start(places, forecast)
        .await
        .weather(json!({"place": "Zurich", "days": 2}))
        .await;
    assert_eq!(
        answer["place"]["country"].as_str().unwrap().chars().count(),
        81
    );
    assert_eq!(answer["daily"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn both_hosts_have_to_be_granted() {
    let service = TestService::start(PLACES, FORECAST).await;
    for clauses in [
        &[][..],
        &["net:read:api.open-meteo.com"],
        &["net:read:geocoding-api.open-meteo.com"],
    ] {
        let error = service
            .host
            .clone()
            .with_grant(clauses)
            .call("weather.get", json!({"place": "Zurich"}))
            .await;
        assert!(
            matches!(
                error.unwrap_err().kind(),
                ToolErrorKind::PermissionDenied { .. }
            ),
            "{clauses:?}"
        );
    }
    assert_eq!(service.requests(), []);
}
