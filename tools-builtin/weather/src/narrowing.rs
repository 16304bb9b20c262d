//! [`Narrowing`]: the name of a place, and the countries and regions that narrow it.

use crate::error::WeatherError;
use crate::folded::folded;
use crate::geocoding::FoundPlace;
use crate::region::{country_of, region_of};

/// The name of a place, and the countries and regions that narrow it.
///
/// The service matches a single name, so `Springfield, Illinois` is parted here: the service looks up `Springfield`, and the rest is
/// compared with what it finds.
#[derive(Debug)]
pub(crate) struct Narrowing {
    /// The part before the first comma.
    pub(crate) name: String,
    /// The folded parts after it, each of a region, a country or a postal code.
    parts: Vec<String>,
    country: Option<String>,
    region: Option<String>,
}

impl Narrowing {
    /// Parts the text of a place.
    ///
    /// # Errors
    /// Returns [`WeatherError::ShortName`] if the name has fewer than two letters and digits: the service finds nothing for it.
    pub(crate) fn new(
        place: &str,
        country: Option<&str>,
        region: Option<&str>,
    ) -> Result<Self, WeatherError> {
        let mut parts = place.split([',', '，', '、']).map(str::trim);
        let name = parts.next().unwrap_or_default().to_owned();
        if name
            .chars()
            .filter(|character| character.is_alphanumeric())
            .count()
            < 2
        {
            return Err(WeatherError::ShortName {
                place: place.to_owned(),
            });
        }
        let parts = parts.map(folded).filter(|part| !part.is_empty()).collect();
        Ok(Self {
            name,
            parts,
            country: country.map(folded),
            region: region.map(folded),
        })
    }

    /// Returns the ISO code of the argument `country`, by which the service can filter. Returns `None` if it is a name.
    pub(crate) fn country_code(&self) -> Option<String> {
        let country = self.country.as_deref()?;
        if let Some(code) = country_of(country) {
            return Some(code.to_owned());
        }
        let is_code = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_code.then(|| country.to_ascii_uppercase())
    }

    /// Returns the error for a name that the service does not know.
    pub(crate) fn unknown(&self) -> WeatherError {
        WeatherError::UnknownPlace {
            place: self.name.clone(),
            country_code: self.country_code(),
        }
    }

    /// Returns true if the place is in all countries and regions that are named.
    pub(crate) fn admits(&self, place: &FoundPlace) -> bool {
        self.parts.iter().all(|part| {
            is_in_region(place, part) || is_in_country(place, part) || has_postcode(place, part)
        }) && self
            .country
            .as_deref()
            .is_none_or(|country| is_in_country(place, country))
            && self
                .region
                .as_deref()
                .is_none_or(|region| is_in_region(place, region))
    }

    /// Returns true if the place has this name.
    pub(crate) fn names(&self, place: &FoundPlace) -> bool {
        folded(&place.name) == folded(&self.name)
    }

    /// Returns true if the name is a postal code of the place.
    pub(crate) fn is_postcode_of(&self, place: &FoundPlace) -> bool {
        has_postcode(place, &folded(&self.name))
    }
}

fn is_in_region(place: &FoundPlace, region: &str) -> bool {
    let long = place
        .country_code
        .as_deref()
        .and_then(|code| region_of(code, region))
        .map(folded);
    let is_this = |name: &String| {
        let name = folded(name);
        name == region || long.as_ref() == Some(&name)
    };
    [&place.admin1, &place.admin2, &place.admin3, &place.admin4]
        .into_iter()
        .flatten()
        .any(is_this)
}

fn is_in_country(place: &FoundPlace, country: &str) -> bool {
    let code = place.country_code.as_deref();
    let is_code = code.is_some_and(|code| {
        code.eq_ignore_ascii_case(country) || country_of(country) == Some(code)
    });
    // The service calls it `The Netherlands`.
    let bare = |name: &str| name.strip_prefix("the").unwrap_or(name).to_owned();
    is_code
        || place
            .country
            .as_deref()
            .is_some_and(|name| bare(&folded(name)) == bare(country))
}

fn has_postcode(place: &FoundPlace, code: &str) -> bool {
    place
        .postcodes
        .iter()
        .flatten()
        .any(|postcode| folded(postcode) == code)
}
