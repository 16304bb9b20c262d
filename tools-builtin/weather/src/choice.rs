//! [`Choice`]: the place that a name means, or the ones that it may mean.

use std::cmp::Reverse;

use crate::geocoding::FoundPlace;
use crate::narrowing::Narrowing;

/// The factor by which the population of a place must exceed that of each other place of its name.
const DOMINANCE: u64 = 20;

/// The population that a place is taken to have at least: the service does not know that of many villages.
const LEAST_POPULATION: u64 = 2_500;

/// The distance in kilometres within which two places have the same weather.
const NEAR_KILOMETRES: f64 = 20.0;

/// The place that a name means, or the ones that it may mean, ordered by population.
#[derive(Debug)]
pub(crate) enum Choice {
    /// One place, and the others of this name.
    One(Box<FoundPlace>, Vec<FoundPlace>),
    /// Several places.
    Several(Vec<FoundPlace>),
    /// No place is in the named country and region. These have the name elsewhere.
    Elsewhere(Vec<FoundPlace>),
}

impl Choice {
    /// Chooses among the places that the service found. Returns `None` if there are none.
    ///
    /// 1. Places outside of the named country and region are left out.
    /// 2. If places have exactly this name, or else this postal code, the others are left out.
    /// 3. If one place is left, or all are within 20 km of the most populous, that one is meant.
    /// 4. The most populous is also meant if it has 20 times as many inhabitants as the next, and at least 50,000. A postal code is
    ///    exempt: it says nothing about size.
    pub(crate) fn new(narrowing: &Narrowing, found: Vec<FoundPlace>) -> Option<Self> {
        if found.is_empty() {
            return None;
        }
        let (inside, outside): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|place| narrowing.admits(place));
        if inside.is_empty() {
            return Some(Self::Elsewhere(best_matches(narrowing, outside).0));
        }
        let (mut matches, is_postcode) = best_matches(narrowing, inside);
        let first = matches.remove(0);
        let next = matches
            .iter()
            .find(|place| kilometres(&first, place) > NEAR_KILOMETRES);
        if next
            .is_none_or(|next| !is_postcode && population(&first) >= DOMINANCE * population(next))
        {
            matches.retain(|place| kilometres(&first, place) > NEAR_KILOMETRES);
            return Some(Self::One(Box::new(first), matches));
        }
        matches.insert(0, first);
        Some(Self::Several(matches))
    }
}

/// Returns the places that match the name best, ordered by population, and true if they match it as a postal code.
fn best_matches(narrowing: &Narrowing, mut places: Vec<FoundPlace>) -> (Vec<FoundPlace>, bool) {
    places.sort_by_key(|place| Reverse(place.population));
    let is_named = places.iter().any(|place| narrowing.names(place));
    let is_postcode = !is_named && places.iter().any(|place| narrowing.is_postcode_of(place));
    if is_named {
        places.retain(|place| narrowing.names(place));
    } else if is_postcode {
        places.retain(|place| narrowing.is_postcode_of(place));
    }
    (places, is_postcode)
}

fn population(place: &FoundPlace) -> u64 {
    place.population.unwrap_or(0).max(LEAST_POPULATION)
}

/// Returns the distance of two places along a great circle.
fn kilometres(one: &FoundPlace, other: &FoundPlace) -> f64 {
    let (from, to) = (one.latitude.to_radians(), other.latitude.to_radians());
    let across = (other.longitude - one.longitude).to_radians();
    let haversine =
        ((to - from) / 2.0).sin().powi(2) + from.cos() * to.cos() * (across / 2.0).sin().powi(2);
    2.0 * 6371.0 * haversine.sqrt().min(1.0).asin()
}
