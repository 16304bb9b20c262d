//! [`ModelPrice`]: the configured price of a model.

use agent::{Cost, Price, Rates};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};

use host::settings::Document;

/// The price of a million tokens of a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelPrice {
    /// The provider's name of the model.
    pub(crate) model: String,
    #[serde(deserialize_with = "cost")]
    input: Cost,
    #[serde(deserialize_with = "cost")]
    output: Cost,
    /// `None` means the price of other input.
    #[serde(default, deserialize_with = "optional_cost")]
    cached: Option<Cost>,
    /// `None` means the price of other input.
    #[serde(default, deserialize_with = "optional_cost")]
    cache_write: Option<Cost>,
}

impl ModelPrice {
    pub(crate) fn price(&self) -> Price {
        let rates = Rates {
            input: self.input,
            output: self.output,
            cached: self.cached.unwrap_or(self.input),
            cache_write: self.cache_write.unwrap_or(self.input),
        };
        Price { rates, long: None }
    }
}

impl Document for ModelPrice {
    fn document(&self) -> Value {
        let rates = self.price().rates;
        json!({
            "model": self.model,
            "input": rates.input.to_string(),
            "output": rates.output.to_string(),
            "cached": rates.cached.to_string(),
            "cache_write": rates.cache_write.to_string(),
        })
    }
}

/// An amount as a person writes it in TOML. The shortest text of a number has the digits that were written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Text(String),
    Integer(u64),
    Float(f64),
}

fn cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
    let amount = Amount::deserialize(deserializer)
        .map_err(|_| de::Error::custom("expected an amount such as 2.50"))?;
    let text = match amount {
        Amount::Text(text) => text,
        Amount::Integer(number) => number.to_string(),
        Amount::Float(number) => number.to_string(),
    };
    text.parse().map_err(de::Error::custom)
}

fn optional_cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cost>, D::Error> {
    cost(deserializer).map(Some)
}
