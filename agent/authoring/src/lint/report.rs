//! [`ToolReport`]: the findings about one tool.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tools::Entry;
use tools::lint::Fault;
use tools::protocol::wire::schema::{Change, Fidelity, NotStrict};
use tools::protocol::wire::{Format, Strictness};

/// The findings about one tool.
#[derive(Default)]
pub(super) struct ToolReport {
    /// The name, which may be invalid.
    pub(super) tool: String,
    /// The faults, the worst first.
    pub(super) faults: Vec<Fault>,
    /// The tool. `None` if it cannot be used.
    pub(super) entry: Option<Arc<Entry>>,
    /// The forms of the tool. Empty if it cannot be used.
    pub(super) wires: Vec<WireReport>,
}

/// The form of a tool in one format.
pub(super) struct WireReport {
    pub(super) format: Format,
    /// The form, or the reason that there is none.
    pub(super) form: Result<WireForm, String>,
}

/// The form of a tool that a service takes.
pub(super) struct WireForm {
    pub(super) name: String,
    pub(super) is_name_kept: bool,
    pub(super) changes: Vec<Change>,
    /// `Ok` if the tool has a strict definition, and the reason if it has none.
    pub(super) strict: Result<(), NotStrict>,
    pub(super) tokens: Tokens,
}

/// Returns a report for each tool, sorted by name.
pub(super) fn reports(entries: &[Arc<Entry>], faults: Vec<Fault>) -> Vec<ToolReport> {
    let mut by_tool: BTreeMap<String, ToolReport> = BTreeMap::new();
    for entry in entries {
        let report = by_tool.entry(entry.name().to_string()).or_default();
        report.entry = Some(entry.clone());
        report.wires = Format::ALL
            .map(|format| WireReport::new(entry, format))
            .into();
    }
    for fault in faults {
        let report = by_tool.entry(fault.tool.clone()).or_default();
        report.faults.push(fault);
    }
    for (tool, report) in &mut by_tool {
        report.tool.clone_from(tool);
    }
    let mut reports: Vec<_> = by_tool.into_values().collect();
    for report in &mut reports {
        report.faults.sort_by_key(|fault| Reverse(fault.severity));
    }
    reports
}

impl ToolReport {
    /// Returns the first of the worst faults.
    pub(super) fn worst(&self) -> Option<&Fault> {
        self.faults.first()
    }

    /// Returns the forms in the formats that have one.
    pub(super) fn forms(&self) -> impl Iterator<Item = (Format, &WireForm)> {
        self.wires
            .iter()
            .filter_map(|wire| Some((wire.format, wire.form.as_ref().ok()?)))
    }

    /// Returns the tokens of the definition for the family whose tokenizer counts them.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        self.forms()
            .find(|(format, _)| *format == Format::OpenAiChat)
            .map(|(_, form)| form.tokens)
    }

    /// Returns the JSON document.
    pub(super) fn document(&self) -> Value {
        let wires: Map<_, _> = self
            .wires
            .iter()
            .map(|wire| (wire.format.to_string(), wire.document()))
            .collect();
        json!({
            "tool": self.tool,
            "source": self.entry.as_ref().map(|entry| entry.source()),
            "worst": self.worst().map(|fault| fault.severity),
            "faults": self.faults,
            "wires": wires,
        })
    }
}

impl WireReport {
    /// Returns the form that a session sends to the public service.
    fn new(entry: &Entry, format: Format) -> Self {
        let sent = if format.takes_examples() {
            Entry::wire_with_examples
        } else {
            Entry::wire
        };
        let form = sent(entry, format, Strictness::Relaxed).and_then(|wire| {
            Ok(WireForm {
                name: wire.name.clone(),
                is_name_kept: wire.name == entry.name().as_str(),
                changes: wire.changes.clone(),
                strict: entry.wire(format, Strictness::Strict)?.strict.clone(),
                tokens: Tokens::count(&wire.definition, format),
            })
        });
        Self {
            format,
            form: form.map_err(ToString::to_string),
        }
    }

    fn document(&self) -> Value {
        match &self.form {
            Err(reason) => json!({"skipped": reason}),
            Ok(form) => json!({
                "name": form.name,
                "changes": form.changes.iter().map(document_of).collect::<Vec<_>>(),
                "strict": form.strict.is_ok(),
                "not_strict": form.strict.as_ref().err().map(ToString::to_string),
                "tokens": form.tokens.count,
                "tokens_are_estimated": form.tokens.is_estimate,
            }),
        }
    }
}

impl WireForm {
    /// Returns true if the service takes arguments that the schema refuses, or refuses some that it accepts.
    pub(super) fn is_loosened(&self) -> bool {
        self.changes
            .iter()
            .any(|change| change.fidelity != Fidelity::Exact)
    }
}

fn document_of(change: &Change) -> Value {
    let fidelity = match change.fidelity {
        Fidelity::Exact => "exact",
        Fidelity::Loosened => "loosened",
        Fidelity::Narrowed => "narrowed",
    };
    json!({"pointer": change.pointer, "change": change.rule.to_string(), "fidelity": fidelity})
}

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(crate) count: usize,
    /// True if the family of models has another tokenizer than the one that counted.
    pub(crate) is_estimate: bool,
}

impl Tokens {
    /// Counts the tokens of a text in a request of this format, with OpenAI's tokenizer `o200k_base`.
    #[cfg(feature = "tokenizer")]
    pub(crate) fn count(text: &str, format: Format) -> Self {
        let is_estimate = !matches!(format, Format::OpenAiChat | Format::OpenAiResponses);
        Self {
            count: tiktoken_rs::o200k_base_singleton().count_ordinary(text),
            is_estimate,
        }
    }

    /// Estimates the tokens of a text as a quarter of its bytes.
    #[cfg(not(feature = "tokenizer"))]
    pub(crate) fn count(text: &str, _format: Format) -> Self {
        Self {
            count: text.len().div_ceil(4),
            is_estimate: true,
        }
    }
}

/// Writes `120`, or `~120` for an estimate.
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            if self.is_estimate { "~" } else { "" },
            self.count
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"name":"fs__read","description":"Reads a text file."}"#;

    #[test]
    fn the_tokens_of_a_foreign_family_are_marked_as_an_estimate() {
        let [own, foreign] =
            [Format::OpenAiChat, Format::Anthropic].map(|format| Tokens::count(TEXT, format));
        assert_eq!(own.count, foreign.count);
        assert_eq!(foreign.to_string(), format!("~{}", foreign.count));
        assert_eq!(own.is_estimate, cfg!(not(feature = "tokenizer")));
    }

    #[test]
    #[cfg(feature = "tokenizer")]
    fn counts_are_those_of_the_tokenizer() {
        assert_eq!(
            Tokens::count("tiktoken is great!", Format::OpenAiChat).count,
            6
        );
    }
}
