//! The place that a name means.
//!
//! 1. Places outside of the named country and region are left out.
//! 2. If places have exactly this name, or else this postal code, the others are left out.
//! 3. If one place is left, or all are within 20 km of the most populous, that one is meant.
//! 4. The most populous is also meant if it has 20 times as many inhabitants as the next, and at least 50,000. A postal code is
//!    exempt: it says nothing about size.

use std::cmp::Reverse;

use serde::Deserialize;
use tools::{ToolContext, ToolError};
use tools_http::HttpClient;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::place::Place;
use crate::request::WeatherRequest;
use crate::service::{PLACES, request_json};

/// States of the United States and provinces of Canada: the country, the postal abbreviation and the name. After `country`: a folded
/// name that the service does not use, and the ISO code.
const REGIONS: &str = include_str!("regions.txt");

/// The factor by which the population of a place must exceed that of each other place of its name.
const DOMINANCE: u64 = 20;

/// The population that a place is taken to have at least: the service does not know that of many villages.
const LEAST_POPULATION: u64 = 2_500;

/// The answer of the service, without the field if nothing is found.
#[derive(Deserialize)]
struct SearchAnswer {
    results: Option<Vec<Place>>,
}

/// Looks up a name and chooses among the places. Returns those that it may mean, ordered by population, and the reason for which none
/// is taken. Without one, the first is meant.
///
/// The service matches a single name, so `Springfield, Illinois` is parted here: the service looks up `Springfield`, and the rest is
/// compared with what it finds.
pub(crate) async fn search(
    cx: &ToolContext,
    client: &HttpClient,
    text: &str,
    request: &WeatherRequest,
) -> Result<(Vec<Place>, Option<String>), ToolError> {
    let mut parts = text.split([',', '，', '、']).map(str::trim);
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        let repair = "write the name of the place before the first comma";
        return Err(ToolError::execution_failed(repair));
    }
    let [country, region] = [&request.country, &request.region].map(|it| it.as_deref().map(fold));
    let code = country.as_deref().and_then(country_code);
    // The count is all that the service gives: it finds parts of names too, so the place that is meant may come late.
    let mut parameters = vec![("name", name), ("count", "100"), ("language", "en")];
    parameters.extend(code.iter().map(|code| ("countryCode", &**code)));
    let answer: SearchAnswer =
        request_json(cx, client, (PLACES, "/v1/search"), &parameters).await?;
    let found = answer.results.unwrap_or_default();
    if found.is_empty() {
        return Err(ToolError::execution_failed(format!(
            "Open-Meteo knows no place {name:?} there; check the spelling, leave out street and house number, name a larger place \
             nearby, or set latitude and longitude"
        )));
    }
    let parts: Vec<_> = parts.map(fold).filter(|part| !part.is_empty()).collect();
    let (inside, outside): (Vec<_>, Vec<_>) = found.into_iter().partition(|place| {
        country.iter().all(|country| is_in_country(place, country))
            && region.iter().all(|region| is_in_region(place, region))
            && parts.iter().all(|part| {
                is_in_region(place, part) || is_in_country(place, part) || has_postcode(place, part)
            })
    });
    if inside.is_empty() {
        let problem =
            format!("no {text:?} is in the country or region that was named; these are elsewhere");
        return Ok((best_matches(name, outside).0, Some(problem)));
    }
    let (mut places, is_postcode) = best_matches(name, inside);
    let first = places.remove(0);
    let next = places.iter().find(|place| !first.is_near(place));
    let problem = next
        .filter(|next| is_postcode || population(&first) < DOMINANCE * population(next))
        .map(|_| format!("{} places may be meant by {text:?}", places.len() + 1));
    if problem.is_none() {
        places.retain(|place| !first.is_near(place));
    }
    places.insert(0, first);
    Ok((places, problem))
}

/// Returns the places that match the name best, ordered by population, and true if they match it as a postal code. Those of exactly
/// this name are the best, and then those of this postal code.
fn best_matches(name: &str, mut places: Vec<Place>) -> (Vec<Place>, bool) {
    let name = fold(name);
    places.sort_by_key(|place| Reverse(place.population));
    let is_named = |place: &Place| fold(&place.name) == name;
    if places.iter().any(is_named) {
        places.retain(is_named);
        return (places, false);
    }
    let is_postcode = places.iter().any(|place| has_postcode(place, &name));
    places.retain(|place| !is_postcode || has_postcode(place, &name));
    (places, is_postcode)
}

/// Returns the ISO code of a folded country, by which the service can filter. Returns `None` if it is a name.
fn country_code(country: &str) -> Option<String> {
    let is_code = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic());
    let code = region_of("country", country).map(str::to_owned);
    code.or_else(|| is_code.then(|| country.to_ascii_uppercase()))
}

/// Returns the name of a state or province for its abbreviation. The country decides: `CA` is California in the United States.
fn region_of(country_code: &str, abbreviation: &str) -> Option<&'static str> {
    REGIONS.lines().find_map(|line| {
        let (country, entry) = line.split_once(' ')?;
        let (short, name) = entry.split_once(' ')?;
        (country == country_code && short.eq_ignore_ascii_case(abbreviation)).then_some(name)
    })
}

fn is_in_region(place: &Place, region: &str) -> bool {
    let code = place.country_code.as_deref().unwrap_or_default();
    let long = region_of(code, region).map(fold);
    let levels = [&place.admin1, &place.admin2, &place.admin3, &place.admin4];
    let mut names = levels.into_iter().flatten().map(|name| fold(name));
    names.any(|name| name == region || long.as_ref() == Some(&name))
}

fn is_in_country(place: &Place, country: &str) -> bool {
    let code = place.country_code.as_deref().unwrap_or_default();
    let name = place.country.as_deref().map(fold);
    country_code(country).is_some_and(|named| named == code) || name.as_deref() == Some(country)
}

fn has_postcode(place: &Place, code: &str) -> bool {
    let mut postcodes = place.postcodes.iter().flatten();
    postcodes.any(|postcode| fold(postcode) == code)
}

fn population(place: &Place) -> u64 {
    place.population.unwrap_or(0).max(LEAST_POPULATION)
}

/// Returns a name without letter case, accents, spaces and punctuation: `São Paulo` and `sao-paulo` are equal.
fn fold(name: &str) -> String {
    name.nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .filter(|c| c.is_alphanumeric())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn case_accents_and_punctuation_do_not_count() {
        for (one, other) in [
            ("São Paulo", "sao paulo"),
            ("Zürich", "Zurich"),
            ("Île-de-France", "ile de france"),
            ("D.C.", "DC"),
            ("Winston-Salem", "Winston Salem"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
        assert_ne!(fold("北京"), fold("東京"));
    }
}
