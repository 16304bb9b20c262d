//! [`Difference`]: one difference between two definitions of a tool.

use std::collections::BTreeSet;

use host::fit;
use serde::Serialize;
use serde_json::Value;
use tools::ToolName;
use tools::protocol::canonical_json;

/// The maximum length of a shown value, in columns.
const MAX_VALUE: usize = 100;
/// The part of an equal beginning that is shown, in bytes.
const CONTEXT: usize = 20;

/// One difference between two definitions of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Difference {
    /// The name in the lock file, or the name of a new tool.
    pub(super) tool: ToolName,
    /// The place in the definition, as a JSON pointer. Empty for the whole tool.
    pub(super) place: String,
    /// The rule that calls the change breaking. `None` leaves the judgement to a person.
    pub(super) breaking: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) old: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) new: Option<Value>,
}

/// A rule about changes that break callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rule {
    #[error("the name is removed or means another tool")]
    NameRemoved,
    #[error("the tool is renamed; calls reach it by the former name, grants and rules may not")]
    ToolRenamed,
    #[error("an argument is required now")]
    ArgumentRequired,
    #[error("the argument is removed, and refused now")]
    ArgumentRemoved,
    #[error("values of fewer types are accepted")]
    TypeNarrowed,
    #[error("fewer values are accepted")]
    ValueRemoved,
    #[error("a bound is tighter")]
    BoundTightened,
    #[error("the effects are wider")]
    EffectsWidened,
}

impl Difference {
    /// Returns the old and the new value as lines of a diff, from shortly before the first difference.
    pub(super) fn lines(&self) -> [Option<String>; 2] {
        let [old, new] = [&self.old, &self.new].map(|value| value.as_ref().map(canonical_json));
        let mut skipped = 0;
        if let (Some(old), Some(new)) = (&old, &new) {
            let equal = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b);
            let near = equal.count().saturating_sub(CONTEXT);
            let boundary = (0..=near).rfind(|at| old.is_char_boundary(*at));
            skipped = boundary.unwrap_or_default();
        }
        let dots = if skipped > 0 { "…" } else { "" };
        [("-", old), ("+", new)].map(|(sign, text)| {
            text.map(|text| fit::cut(&format!("{sign} {dots}{}", &text[skipped..]), MAX_VALUE))
        })
    }
}

/// The differences of one tool, to which a comparison adds.
pub(super) struct Report<'a> {
    pub(super) tool: &'a ToolName,
    pub(super) differences: &'a mut Vec<Difference>,
}

impl Report<'_> {
    pub(super) fn add(
        &mut self,
        place: &str,
        breaking: Option<Rule>,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        self.differences.push(Difference {
            tool: self.tool.clone(),
            place: place.to_owned(),
            breaking,
            old: old.cloned(),
            new: new.cloned(),
        });
    }

    /// Adds each field that differs, without judgement. Lists are compared as a whole.
    pub(super) fn add_fields(&mut self, place: &str, old: &Value, new: &Value) {
        match (old, new) {
            (Value::Object(before), Value::Object(after)) => {
                for key in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                    let place = pointer(place, key);
                    match (before.get(key), after.get(key)) {
                        (Some(old), Some(new)) => self.add_fields(&place, old, new),
                        (old, new) => self.add(&place, None, old, new),
                    }
                }
            }
            _ if old != new => self.add(place, None, Some(old), Some(new)),
            _ => {}
        }
    }
}

/// Returns the JSON pointer of a field of the value at `place`.
pub(super) fn pointer(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}
