//! The place that a name means.

use serde_json::{Value, json};
use tools::ToolErrorKind;

use crate::service::{FORECAST, NO_PLACES, PLACES, TestService, parameter};

/// Returns a place as the service gives it. Without population it leaves the field out.
fn place(
    name: &str,
    region: &str,
    country: (&str, &str),
    (latitude, longitude): (f64, f64),
    population: u64,
) -> Value {
    let mut place = json!({
        "name": name, "latitude": latitude, "longitude": longitude, "admin1": region,
        "country_code": country.0, "country": country.1, "timezone": "GMT",
    });
    if population > 0 {
        place["population"] = json!(population);
    }
    place
}

const US: (&str, &str) = ("US", "United States");

/// The first places of this name in GeoNames, by population.
fn springfields() -> Value {
    json!({"results": [
        place("Springfield", "Missouri", US, (37.21533, -93.29824), 166_810),
        place("Springfield", "Massachusetts", US, (42.10148, -72.58981), 154_341),
        place("Springfield", "Illinois", US, (39.80172, -89.64371), 114_230),
        place("Springfield", "Nova Scotia", ("CA", "Canada"), (44.63345, -64.86545), 0),
        place("Springfield", "California", US, (38.02, -120.41), 0),
        place("Springfield Township", "Illinois", US, (39.81, -89.65), 0),
    ]})
}

/// Calls `weather.get` and returns the regions of the candidates, or that of the place that was taken.
async fn regions(places: Value, arguments: Value) -> Vec<String> {
    let answer = TestService::start(places, FORECAST)
        .await
        .weather(arguments)
        .await;
    let taken = answer.get("place").map(|place| vec![place.clone()]);
    let places = taken.unwrap_or_else(|| answer["candidates"].as_array().unwrap().clone());
    places
        .iter()
        .map(|place| place["region"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn an_ambiguous_name_is_answered_with_places_and_no_weather() {
    let service = TestService::start(springfields(), FORECAST).await;
    let answer = service.weather(json!({"place": "Springfield"})).await;
    assert_eq!(answer["candidates"].as_array().unwrap().len(), 5);
    assert_eq!(answer["candidates"][2]["latitude"], 39.80172);
    assert!(
        answer["next_step"]
            .as_str()
            .unwrap()
            .contains("latitude and longitude")
    );
    assert_eq!((answer.get("current"), service.requests().len()), (None, 1));
}

#[tokio::test]
async fn regions_and_countries_narrow_a_name() {
    for arguments in [
        json!({"place": "Springfield, Illinois"}),
        json!({"place": "springfield, IL, USA"}),
        json!({"place": "Springfield", "region": "Illinois"}),
        json!({"place": "Springfield", "region": "il", "country": "United States"}),
    ] {
        assert_eq!(
            regions(springfields(), arguments.clone()).await,
            ["Illinois"],
            "{arguments}"
        );
    }
    let canada = json!({"place": "Springfield", "country": "Canada"});
    assert_eq!(regions(springfields(), canada).await, ["Nova Scotia"]);
}

#[tokio::test]
async fn an_abbreviation_with_two_meanings_stays_ambiguous() {
    let california_or_canada = regions(springfields(), json!({"place": "Springfield, CA"})).await;
    assert_eq!(california_or_canada, ["Nova Scotia", "California"]);
    assert_eq!(
        regions(
            springfields(),
            json!({"place": "Springfield", "country": "CA"})
        )
        .await,
        ["Nova Scotia"]
    );
}

#[tokio::test]
async fn a_country_code_is_a_filter_of_the_service() {
    for (country, code) in [
        ("CH", Some("CH")),
        ("uk", Some("GB")),
        ("Switzerland", None),
    ] {
        let service = TestService::start(PLACES, FORECAST).await;
        service
            .weather(json!({"place": "Zurich", "country": country}))
            .await;
        assert_eq!(
            parameter(&service.requests()[0], "countryCode").as_deref(),
            code,
            "{country}"
        );
    }
}

#[tokio::test]
async fn a_name_elsewhere_is_answered_with_the_places_that_have_it() {
    let service = TestService::start(springfields(), FORECAST).await;
    let answer = service
        .weather(json!({"place": "Springfield, Bavaria"}))
        .await;
    assert_eq!(answer["candidates"].as_array().unwrap().len(), 5);
    assert!(answer["problem"].as_str().unwrap().contains("elsewhere"));
}

#[tokio::test]
async fn a_city_is_taken_before_villages_of_its_name_which_are_listed_too() {
    let answer = TestService::start(PLACES, FORECAST)
        .await
        .weather(json!({"place": "Zurich"}))
        .await;
    assert_eq!(answer["place"]["country"], "Switzerland");
    assert_eq!(answer["other_places"][0]["country"], "The Netherlands");

    let netherlands = json!({"place": "Zurich", "country": "Netherlands"});
    let answer = TestService::start(PLACES, FORECAST)
        .await
        .weather(netherlands)
        .await;
    assert_eq!(
        (&answer["place"]["region"], answer.get("other_places")),
        (&json!("Friesland"), None)
    );
}

#[tokio::test]
async fn a_town_is_not_taken_before_villages_of_unknown_size() {
    let towns = json!({"results": [
        place("Salem", "Oregon", US, (44.9, -123.0), 40_000),
        place("Salem", "Ohio", US, (40.9, -80.8), 0),
    ]});
    assert_eq!(
        regions(towns, json!({"place": "Salem"})).await,
        ["Oregon", "Ohio"]
    );
}

#[tokio::test]
async fn places_next_to_each_other_are_one() {
    let luxembourg = |latitude, population| {
        place(
            "Luxembourg",
            "",
            ("LU", "Luxembourg"),
            (latitude, 6.13),
            population,
        )
    };
    let places = json!({"results": [luxembourg(49.61, 76_684), luxembourg(49.75, 607_728)]});
    let answer = TestService::start(places, FORECAST)
        .await
        .weather(json!({"place": "Luxembourg"}))
        .await;
    assert_eq!(
        (&answer["place"]["latitude"], answer.get("other_places")),
        (&json!(49.75), None)
    );
}

#[tokio::test]
async fn accents_do_not_decide_between_places() {
    let places = json!({"results": [
        place("San Jose", "California", US, (37.33939, -121.89496), 1_026_908),
        place("San José", "San José", ("CR", "Costa Rica"), (9.93333, -84.08333), 335_007),
    ]});
    assert_eq!(
        regions(places, json!({"place": "San Jose"})).await,
        ["California", "San José"]
    );
}

#[tokio::test]
async fn a_name_in_another_language_is_found() {
    let places = json!({"results": [
        place("Munich", "Bavaria", ("DE", "Germany"), (48.13743, 11.57549), 1_260_391),
        place("Münchenstein", "Basel-Landschaft", ("CH", "Switzerland"), (47.51591, 7.61966), 11_894),
    ]});
    assert_eq!(
        regions(places, json!({"place": "München"})).await,
        ["Bavaria"]
    );
}

#[tokio::test]
async fn a_postal_code_of_several_countries_is_ambiguous() {
    let mut places = json!({"results": [
        place("Berlin", "Berlin", ("DE", "Germany"), (52.52437, 13.41053), 3_426_354),
        place("Elsewhere", "Aragon", ("ES", "Spain"), (41.0, -1.0), 300),
    ]});
    for index in 0..2 {
        places["results"][index]["postcodes"] = json!(["10115"]);
    }
    assert_eq!(
        regions(places.clone(), json!({"place": "10115"})).await,
        ["Berlin", "Aragon"]
    );
    assert_eq!(
        regions(places, json!({"place": "10115", "country": "DE"})).await,
        ["Berlin"]
    );
}

#[tokio::test]
async fn an_unknown_place_is_an_error_with_the_next_step() {
    let service = TestService::start(NO_PLACES, FORECAST).await;
    let ToolErrorKind::ExecutionFailed { message } =
        service.failure(json!({"place": "Zzyzxq"})).await
    else {
        panic!()
    };
    assert!(
        message.contains("Zzyzxq") && message.contains("spelling"),
        "{message}"
    );
}

#[tokio::test]
async fn a_place_and_a_position_exclude_each_other() {
    let service = TestService::start(PLACES, FORECAST).await;
    for arguments in [
        json!({}),
        json!({"country": "CH"}),
        json!({"latitude": 1}),
        json!({"longitude": 1}),
        json!({"place": "Zurich", "latitude": 1}),
        json!({"place": "Zurich", "latitude": 1, "longitude": 1}),
        json!({"country": "CH", "latitude": 1, "longitude": 1}),
        json!({"place": ", Switzerland"}),
    ] {
        let kind = service.failure(arguments.clone()).await;
        assert!(
            matches!(kind, ToolErrorKind::ExecutionFailed { .. }),
            "{arguments}: {kind:?}"
        );
    }
    for arguments in [
        json!({"latitude": 91, "longitude": 0}),
        json!({"place": "Zurich", "days": 17}),
        json!({"place": "Z"}),
    ] {
        let kind = service.failure(arguments.clone()).await;
        assert!(
            matches!(kind, ToolErrorKind::InvalidArguments { .. }),
            "{arguments}: {kind:?}"
        );
    }
    assert_eq!(service.requests(), []);
}
