//! [`KnownModel`]: the limits of known models, in tokens, and their prices.

use agent::{Cost, Price, Rates};

use crate::served_facts::ServedFacts;

/// A model a line; its first lines name the columns and the source.
const TABLE: &str = include_str!("model_table.tsv");

/// The services whose models have the same limits wherever they are served, because nobody else runs them.
const EXCLUSIVE: [&str; 3] = ["anthropic", "openai", "gemini"];

/// The most tokens of a turn of an unknown model. Services that proxy other models refuse a higher limit.
const UNKNOWN_OUTPUT: u64 = 8192;

/// The most tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// A request and its turn share these tokens. A service that is told an output limit may count it as a part of the request.
    Shared(u64),
    /// A request alone may have these tokens, whatever its output limit is.
    Input(u64),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownModel<'a> {
    service: &'a str,
    name: &'a str,
    pub(crate) context: Context,
    output: Option<u64>,
    costs: &'a str,
}

impl KnownModel<'static> {
    /// Returns what is known of a model, by the service that has it and by the names that gateways give it.
    pub(crate) fn find(service: Option<&str>, model: &str) -> Option<Self> {
        let plain = plain_name(model);
        TABLE
            .lines()
            .filter_map(Self::read)
            .filter(|row| {
                service == Some(row.service) && is_version_of(model, row.name)
                    || EXCLUSIVE.contains(&row.service) && is_version_of(&plain, row.name)
            })
            // The longest name is the most specific: `gpt-4o-mini` is no version of `gpt-4o`.
            .max_by_key(|row| (row.name.len(), service == Some(row.service)))
    }

    /// Reads a row. Returns `None` for another line.
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.splitn(6, '\t');
        let service = columns.next()?;
        let name = columns.next()?;
        let kind = columns.next()?;
        let size = columns.next()?.parse().ok()?;
        let output = columns.next().and_then(|output| output.parse().ok());
        let context = if kind == "apart" {
            Context::Input(size)
        } else {
            Context::Shared(size)
        };
        let costs = columns.next().unwrap_or_default();
        Some(Self {
            service,
            name,
            context,
            output,
            costs,
        })
    }

    /// Returns the price of the model at a service. Returns `None` if it is unknown.
    pub(crate) fn price(&self, service: Option<&str>) -> Option<Price> {
        // The limits of a model are the same everywhere, but each gateway sets its own price.
        if service != Some(self.service) {
            return None;
        }
        let mut columns = self.costs.split('\t');
        let usual = rates(&mut columns)?;
        let above = columns.next().and_then(|tokens| tokens.parse().ok());
        Some(Price {
            rates: usual,
            long: above.zip(rates(&mut columns)),
        })
    }
}

/// Reads the costs of tokens that are read, written, cached, and written to the cache. The last two may be missing: they cost as others.
fn rates(columns: &mut dyn Iterator<Item = &'static str>) -> Option<Rates> {
    let mut cost = || columns.next().and_then(|cost| cost.parse::<Cost>().ok());
    let input = cost()?;
    let output = cost()?;
    let cached = cost();
    let cache_write = cost();
    Some(Rates {
        input,
        output,
        cached: cached.unwrap_or(input),
        cache_write: cache_write.unwrap_or(input),
    })
}

/// Returns the most tokens of a turn of the model, which the API of Anthropic has to be told.
pub(crate) fn output_limit(model: &str, served: ServedFacts) -> u64 {
    let known = KnownModel::find(None, model);
    known
        .and_then(|known| known.output)
        .or(served.output)
        .unwrap_or(UNKNOWN_OUTPUT)
}

/// Returns the name of a model without what gateways add. They put a vendor before it, such as `openai/` or `eu.anthropic.`, and write
/// `claude-sonnet-4.5`.
pub(crate) fn plain_name(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.find("claude-")
        .map_or_else(|| name.to_owned(), |at| name[at..].replace('.', "-"))
}

/// Returns true for a model, or for a version of it: `claude-sonnet-4-5-20250929`, `gemini-2.5-pro-preview-06-05`, `…-v1:0`. Other words
/// name another model, such as `gpt-4o-realtime-preview`, and so do short numbers, such as `claude-opus-4-9`.
fn is_version_of(name: &str, model: &str) -> bool {
    let Some(version) = name.strip_prefix(model) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = version.split(['-', '@', ':']);
    parts.next() == Some("")
        && parts.next().is_none_or(|first| {
            // `claude-sonnet-4-0` is a name of `claude-sonnet-4`.
            ["latest", "preview", "exp", "0"].contains(&first)
                || first.len() >= 3 && is_number(first)
                || first.strip_prefix('v').is_some_and(is_number)
        })
        && parts.all(|part| is_number(part) || part.strip_prefix('v').is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::Context::{Input, Shared};
    use super::*;

    fn limits(service: Option<&str>, model: &str) -> Option<(Context, u64)> {
        let known = KnownModel::find(service, model)?;
        Some((known.context, known.output?))
    }

    #[test]
    fn each_line_of_the_table_is_read_and_no_model_is_there_twice() {
        let lines: Vec<_> = TABLE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        let rows: Vec<_> = lines
            .iter()
            .filter_map(|line| KnownModel::read(line))
            .collect();
        assert_eq!(rows.len(), lines.len());
        let names: std::collections::BTreeSet<_> =
            rows.iter().map(|row| (row.service, row.name)).collect();
        assert_eq!(names.len(), rows.len());
        let prices = rows
            .iter()
            .filter(|row| row.price(Some(row.service)).is_some())
            .count();
        assert!(
            prices * 20 > rows.len() * 19,
            "{prices} of {} have a price",
            rows.len()
        );
    }

    /// By the pages of the services: https://platform.claude.com/docs/en/about-claude/models/overview (a context of 1,000,000 tokens of
    /// `claude-sonnet-4` needs a header, which is not sent), https://ai.google.dev/gemini-api/docs/models and
    /// https://platform.openai.com/docs/models.
    #[test]
    fn the_limits_that_were_checked_by_hand_are_those_of_the_table() {
        for (name, context, output) in [
            ("claude-3-haiku-20240307", Shared(200_000), 4096),
            ("claude-3-5-sonnet-latest", Shared(200_000), 8192),
            ("claude-haiku-4-5", Shared(200_000), 64_000),
            ("claude-sonnet-4-20250514", Shared(200_000), 64_000),
            ("claude-sonnet-4-0", Shared(200_000), 64_000),
            ("claude-opus-4-0", Shared(200_000), 32_000),
            ("claude-sonnet-4-6", Shared(1_000_000), 128_000),
            ("claude-opus-4-1-20250805", Shared(200_000), 32_000),
            ("claude-opus-4-5", Shared(200_000), 64_000),
            ("claude-opus-4-8", Shared(1_000_000), 128_000),
            ("claude-fable-5", Shared(1_000_000), 128_000),
            ("gemini-2.5-flash", Input(1_048_576), 65_536),
            ("gemini-2.5-pro-preview-06-05", Input(1_048_576), 65_536),
            ("gpt-4.1-mini", Shared(1_047_576), 32_768),
            ("gpt-4o-2024-05-13", Shared(128_000), 4096),
            ("gpt-4o", Shared(128_000), 16_384),
            ("gpt-4-turbo", Shared(128_000), 4096),
            ("gpt-5-chat-latest", Shared(128_000), 16_384),
            ("gpt-5.1-codex", Input(272_000), 128_000),
            ("gpt-5.4-mini", Input(272_000), 128_000),
            ("gpt-5.4", Input(922_000), 128_000),
            ("gpt-5.5", Input(922_000), 128_000),
            ("gpt-5-nano-2025-08-07", Input(272_000), 128_000),
            ("o1-preview", Shared(128_000), 32_768),
            ("o3-mini", Shared(200_000), 100_000),
            ("o4-mini", Shared(200_000), 100_000),
        ] {
            assert_eq!(limits(None, name), Some((context, output)), "{name}");
        }
    }

    #[test]
    fn a_model_is_known_by_the_names_that_gateways_give_it() {
        for name in [
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "publishers/anthropic/models/claude-sonnet-4-5@20250929",
        ] {
            assert_eq!(
                limits(Some("openrouter"), name),
                Some((Shared(200_000), 64_000)),
                "{name}"
            );
        }
    }

    #[test]
    fn other_models_are_unknown() {
        for name in [
            "qwen3",
            "claude-test",
            "claude-opus-4-9",
            "gemini-2.5-flash-image",
            "gpt-4o-realtime-preview",
            "gpt-4-32k",
            "grok-4",
            "o5",
        ] {
            assert_eq!(limits(None, name), None, "{name}");
            assert_eq!(
                output_limit(name, ServedFacts::default()),
                UNKNOWN_OUTPUT,
                "{name}"
            );
        }
    }

    #[test]
    fn a_price_is_that_of_a_service_and_a_model_of_many_hosts_has_its_limits_there_alone() {
        let cost = |service, model, input_tokens| {
            let price = KnownModel::find(Some(service), model)?.price(Some(service))?;
            let usage = agent::Usage {
                input_tokens,
                ..agent::Usage::default()
            };
            Some(price.cost(usage).to_string())
        };
        assert_eq!(
            cost("anthropic", "claude-sonnet-4-5", 100_000).as_deref(),
            Some("0.30")
        );
        assert_eq!(
            cost("gemini", "gemini-2.5-pro", 200_000).as_deref(),
            Some("0.25")
        );
        assert_eq!(
            cost("gemini", "gemini-2.5-pro", 200_001).as_deref(),
            Some("0.5000025")
        );
        assert_eq!(cost("openrouter", "anthropic/claude-sonnet-4.5", 1), None);
        assert!(limits(Some("mistral"), "mistral-large-latest").is_some());
        assert_eq!(limits(None, "mistral-large-latest"), None);
    }
}
