//! [`ServedFacts`]: the facts about a model that its service tells.

use agent::{Cost, Price, Rates};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The nanos of a million tokens, of which one token costs one unit of money.
const NANOS: f64 = 1e15;

/// The facts about a model that its service tells. `None` means that it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServedFacts {
    /// The tokens of the context.
    pub(crate) context: Option<u64>,
    /// The most tokens of a turn.
    pub(crate) output: Option<u64>,
    /// True if the model takes images.
    pub(crate) images: Option<bool>,
    pub(crate) price: Option<Price>,
}

impl ServedFacts {
    /// Reads the facts from the properties of a server, the entry of a list or the page of a model.
    pub(crate) fn read(model: &Value) -> Self {
        let tokens = |places: &[&str]| {
            places
                .iter()
                // A server without a size of its own says 0.
                .find_map(|place| model.pointer(place)?.as_u64().filter(|size| *size > 0))
        };
        let takes = |place: &str| model.pointer(place)?.as_bool();
        let modalities = model.pointer("/architecture/input_modalities");
        let images = modalities.and_then(Value::as_array);
        let images = images.map(|kinds| kinds.iter().any(|kind| kind == "image"));
        Self {
            // The last one is that of the training, which the server may have made smaller.
            context: tokens(&[
                "/default_generation_settings/n_ctx",
                "/n_ctx",
                "/max_model_len",
                "/loaded_context_length",
                "/context_length",
                "/context_window",
                "/max_context_length",
                "/max_input_tokens",
                "/inputTokenLimit",
                "/meta/n_ctx",
                "/meta/n_ctx_train",
            ]),
            output: tokens(&[
                "/max_output_tokens",
                "/max_completion_tokens",
                "/top_provider/max_completion_tokens",
                "/outputTokenLimit",
                "/max_tokens",
            ]),
            images: images
                .or_else(|| takes("/modalities/vision"))
                .or_else(|| takes("/capabilities/vision"))
                .or_else(|| takes("/capabilities/image_input/supported")),
            price: price(&model["pricing"]),
        }
    }

    /// Reads the context that the file of a model sets, or else that of its training.
    pub(crate) fn shown_by_ollama(shown: &Value) -> Self {
        let parameters = shown["parameters"].as_str().unwrap_or_default();
        let set = parameters
            .lines()
            .find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
            .filter(|size| *size > 0);
        let trained = || {
            let mut fields = shown["model_info"].as_object()?.iter();
            fields.find_map(|(name, value)| {
                value.as_u64().filter(|_| name.ends_with(".context_length"))
            })
        };
        let capabilities = shown["capabilities"].as_array();
        Self {
            context: set.or_else(trained),
            images: capabilities.map(|all| all.iter().any(|one| one == "vision")),
            ..Self::default()
        }
    }
}

/// Reads the prices of one token each, which OpenRouter and others write as texts. A number would be the price of a million at some
/// services. Returns `None` if a request costs something besides its tokens, because the tokens would not tell its cost.
fn price(pricing: &Value) -> Option<Price> {
    let rate = |name: &str| {
        let nanos = pricing[name].as_str()?.parse::<f64>().ok()? * NANOS;
        (0.0..1e18)
            .contains(&nanos)
            .then(|| Cost::from_nanos(nanos.round() as u64))
    };
    let input = rate("prompt")?;
    let rates = Rates {
        input,
        output: rate("completion")?,
        cached: rate("input_cache_read").unwrap_or(input),
        cache_write: rate("input_cache_write").unwrap_or(input),
    };
    let is_whole = rate("request").is_none_or(|request| request == Cost::default());
    is_whole.then_some(Price { rates, long: None })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_file_of_an_ollama_model_precedes_its_training() {
        let context = |shown| ServedFacts::shown_by_ollama(&shown).context;
        let trained = json!({"model_info": {"llama.context_length": 131_072, "llama.rope.dimension_count": 64}});
        let set = json!({"parameters": "stop  \"x\"\nnum_ctx     4096", "model_info": trained["model_info"]});
        assert_eq!(context(trained), Some(131_072));
        assert_eq!(context(set), Some(4096));
        assert_eq!(context(json!({"model_info": null})), None);
    }

    #[test]
    fn only_a_price_of_tokens_alone_is_one() {
        let price = |pricing| price(&pricing).map(|price| price.rates);
        let cost = |text: &str| text.parse::<Cost>().unwrap();
        let rates = Rates {
            input: cost("0.15"),
            output: cost("0.6"),
            cached: cost("0.075"),
            cache_write: cost("0.15"),
        };
        let read = json!({"prompt": "0.00000015", "completion": "0.0000006", "request": "0", "input_cache_read": "0.000000075"});
        assert_eq!(price(read), Some(rates));
        for unknown in [
            json!({"prompt": "-1", "completion": "-1"}),
            json!({"prompt": 0.15, "completion": 0.6}),
            json!({"prompt": "0.1", "completion": "0.1", "request": "0.01"}),
            json!({"prompt": "NaN", "completion": "1e99"}),
            json!(null),
        ] {
            assert_eq!(price(unknown.clone()), None, "{unknown}");
        }
    }
}
