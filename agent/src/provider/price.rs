//! [`Price`] and [`Cost`]: the money that tokens cost.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Usage;

/// The nanos of one unit of money.
const UNIT: u64 = 1_000_000_000;

/// The tokens of a [`Price`].
const TOKENS: u128 = 1_000_000;

/// An amount of money in the currency of the configured prices, exact to a billionth.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Cost(u64);

/// The prices of a model for a million tokens each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// The prices of a usual request.
    pub rates: Rates,
    /// The prices of a request that reads more than this number of tokens, if they differ.
    pub long: Option<(u64, Rates)>,
}

/// The prices of a million tokens each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// The price of a million tokens that the model reads.
    pub input: Cost,
    /// The price of a million tokens that the model writes.
    pub output: Cost,
    /// The price of a million tokens that the model reads from the service's cache.
    pub cached: Cost,
    /// The price of a million tokens that the model reads and the service writes to its cache.
    pub cache_write: Cost,
}

/// An error for a text that is not an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount such as 2.50, with at most 9 decimals and below 18 billion")]
pub struct InvalidCost;

impl Cost {
    /// Creates an amount from billionths of the currency's unit.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the amount in billionths of the currency's unit.
    pub const fn nanos(self) -> u64 {
        self.0
    }
}

impl Price {
    /// Creates the price of a million tokens. Tokens that a cache holds or takes cost as much as others.
    pub fn new(input: Cost, output: Cost) -> Self {
        let rates = Rates {
            input,
            output,
            cached: input,
            cache_write: input,
        };
        Self { rates, long: None }
    }

    /// Returns the cost of the tokens of a request, rounded up.
    pub fn cost(&self, usage: Usage) -> Cost {
        let long = self.long.filter(|(above, _)| usage.input_tokens > *above);
        let rates = long.map_or(self.rates, |(_, rates)| rates);
        let of = |tokens: u64, price: Cost| u128::from(tokens) * u128::from(price.0);
        // A service may report more cached tokens than it read, and a cost must not become negative.
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let plain = usage.input_tokens - cached;
        let written = usage.cache_write_tokens.min(plain);
        let input = of(plain - written, rates.input)
            + of(cached, rates.cached)
            + of(written, rates.cache_write);
        let nanos = input + of(usage.output_tokens, rates.output);
        Cost(u64::try_from(nanos.div_ceil(TOKENS)).unwrap_or(u64::MAX))
    }
}

impl FromStr for Cost {
    type Err = InvalidCost;

    fn from_str(text: &str) -> Result<Self, InvalidCost> {
        let (units, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(units) || !is_number(decimals) || decimals.len() > 9 {
            return Err(InvalidCost);
        }
        let units: u64 = units.parse().map_err(|_| InvalidCost)?;
        let decimals: u64 = format!("{decimals:0<9}").parse().map_err(|_| InvalidCost)?;
        units
            .checked_mul(UNIT)
            .and_then(|nanos| nanos.checked_add(decimals))
            .map(Self)
            .ok_or(InvalidCost)
    }
}

/// Formats with at least two decimals: `2.50`, `0.000125`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:09}", self.0 % UNIT);
        let end = decimals.trim_end_matches('0').len().max(2);
        write!(f, "{}.{}", self.0 / UNIT, &decimals[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for (text, nanos, shown) in [
            ("2.5", 2_500_000_000, "2.50"),
            ("3", 3_000_000_000, "3.00"),
            ("0.000000001", 1, "0.000000001"),
            ("0.30", 300_000_000, "0.30"),
        ] {
            let cost: Cost = text.parse().unwrap();
            assert_eq!((cost.nanos(), cost.to_string().as_str()), (nanos, shown));
        }
        for text in [
            "",
            ".5",
            "1.",
            "-1",
            "1e3",
            "1.0000000001",
            "99999999999",
            "1,5",
            "+1",
        ] {
            assert_eq!(text.parse::<Cost>(), Err(InvalidCost), "{text}");
        }
    }
}
