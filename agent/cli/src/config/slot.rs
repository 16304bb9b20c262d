//! [`Slot`]: the place of a key's value in [`Values`](super::keys::Values).

use std::path::PathBuf;
use std::time::Duration;

use agent::{Cost, ReasoningEffort, ToolChoice};
use serde_json::{Value, json};
use tools::Clause;
use tools::policy::Rule;

use super::disclosure_mode::DisclosureMode;
use super::origin::{Origin, Setting};
use crate::size::Size;

/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// The place of a key's value: a [`Setting`] for a key with a default, an `Option` for one without, a `Vec` for a list to which
/// every layer adds.
pub(crate) trait Slot {
    type Value: Document;

    /// Returns the values, including defaults.
    fn settings(&self) -> &[Setting<Self::Value>];

    /// Applies the values of a higher layer. Its defaults do not count.
    fn merge(&mut self, upper: Self);

    /// Returns the first value that is not a default.
    fn set(&self) -> Option<&Setting<Self::Value>> {
        self.settings().iter().find(|setting| setting.origin != Origin::Default)
    }

    /// Returns each value as JSON with its origin, or one null if there is none.
    fn documents(&self) -> Vec<(Value, Origin)> {
        let document = |setting: &Setting<Self::Value>| (setting.value.document(), setting.origin.clone());
        match self.settings() {
            [] => vec![(Value::Null, Origin::Default)],
            settings => settings.iter().map(document).collect(),
        }
    }
}

/// A value that can be shown.
pub(crate) trait Document {
    fn document(&self) -> Value;
}

impl<T: Document> Slot for Setting<T> {
    type Value = T;

    fn settings(&self) -> &[Self] {
        std::slice::from_ref(self)
    }

    fn merge(&mut self, upper: Self) {
        if upper.origin != Origin::Default {
            *self = upper;
        }
    }
}

impl<T: Document> Slot for Option<Setting<T>> {
    type Value = T;

    fn settings(&self) -> &[Setting<T>] {
        self.as_slice()
    }

    fn merge(&mut self, upper: Self) {
        if upper.is_some() {
            *self = upper;
        }
    }
}

impl<T: Document> Slot for Vec<Setting<T>> {
    type Value = T;

    fn settings(&self) -> &[Setting<T>] {
        self
    }

    fn merge(&mut self, upper: Self) {
        self.extend(upper.into_iter().filter(|setting| setting.origin != Origin::Default));
    }
}

/// Implements [`Document`] for types that serialize as a person would write them.
macro_rules! plain {
    ($($type:ty),+) => {
        $(impl Document for $type {
            fn document(&self) -> Value {
                json!(self)
            }
        })+
    };
}

plain!(bool, u32, f64, String, Clause, Vec<String>, Vec<Clause>);

impl Document for PathBuf {
    fn document(&self) -> Value {
        json!(self.display().to_string())
    }
}

impl Document for ReasoningEffort {
    fn document(&self) -> Value {
        json!(self.name())
    }
}

impl Document for ToolChoice {
    fn document(&self) -> Value {
        json!(self.to_string())
    }
}

impl Document for DisclosureMode {
    fn document(&self) -> Value {
        json!(self.to_string())
    }
}

impl Document for Rule {
    fn document(&self) -> Value {
        json!(self.to_string())
    }
}

/// Formats the value without rounding.
impl Document for Duration {
    fn document(&self) -> Value {
        match (self.as_secs() / DAY, Self::from_secs(self.as_secs() / DAY * DAY) == *self) {
            (days @ 1.., true) => json!(format!("{days}d")),
            _ => json!(format!("{self:?}")),
        }
    }
}

impl Document for Cost {
    fn document(&self) -> Value {
        json!(self.to_string())
    }
}

impl Document for Size {
    fn document(&self) -> Value {
        json!(self.to_string())
    }
}
