//! [`Slot`]: the place of a key's value in a [`KeySet`](super::KeySet).

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tools::Clause;
use tools::policy::Rule;
use tools_text::KeySource;

use super::origin::{Origin, Setting};

/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// The place of a key's value: a [`Setting`] for a key with a default, an `Option` for one without, a `Vec` for a list to which
/// every layer adds.
pub trait Slot: Any + Clone + Debug + Send + Sync {
    /// The type of a value.
    type Value;

    /// Returns the values, including defaults.
    fn settings(&self) -> &[Setting<Self::Value>];

    /// Applies the values of a higher layer. Its defaults do not count.
    fn merge(&mut self, upper: Self);

    /// Returns the first value that is not a default.
    fn set(&self) -> Option<&Setting<Self::Value>> {
        self.settings()
            .iter()
            .find(|setting| setting.origin != Origin::Default)
    }
}

/// A slot whose type is not known. A method that takes another slot does nothing if that one is of another type.
pub trait AnySlot: Any + Debug + Send + Sync {
    /// Applies the values of a higher layer, as [`Slot::merge`] does.
    fn merge_any(&mut self, upper: Box<dyn AnySlot>);

    /// Takes the values of the other slot in place of its own.
    fn replace(&mut self, other: Box<dyn AnySlot>);

    /// Returns the origin of the first value that is not a default.
    fn origin(&self) -> Option<&Origin>;

    /// Returns a copy.
    fn clone_box(&self) -> Box<dyn AnySlot>;
}

impl<S: Slot> AnySlot for S {
    fn merge_any(&mut self, upper: Box<dyn AnySlot>) {
        let upper: Box<dyn Any> = upper;
        if let Ok(upper) = upper.downcast() {
            self.merge(*upper);
        }
    }

    fn replace(&mut self, other: Box<dyn AnySlot>) {
        let other: Box<dyn Any> = other;
        if let Ok(other) = other.downcast() {
            *self = *other;
        }
    }

    fn origin(&self) -> Option<&Origin> {
        Some(&self.set()?.origin)
    }

    fn clone_box(&self) -> Box<dyn AnySlot> {
        Box::new(self.clone())
    }
}

impl<T: Clone + Debug + Send + Sync + 'static> Slot for Setting<T> {
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

impl<T: Clone + Debug + Send + Sync + 'static> Slot for Option<Setting<T>> {
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

impl<T: Clone + Debug + Send + Sync + 'static> Slot for Vec<Setting<T>> {
    type Value = T;

    fn settings(&self) -> &[Setting<T>] {
        self
    }

    fn merge(&mut self, upper: Self) {
        self.extend(
            upper
                .into_iter()
                .filter(|setting| setting.origin != Origin::Default),
        );
    }
}

/// A value that can be shown.
pub trait Document {
    /// Returns the value as a person would write it, without rounding.
    fn document(&self) -> Value;
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

impl Document for Rule {
    fn document(&self) -> Value {
        json!(self.to_string())
    }
}

impl Document for Duration {
    fn document(&self) -> Value {
        let days = self.as_secs() / DAY;
        // The debug form of a duration has no days.
        if days > 0 && Self::from_secs(days * DAY) == *self {
            json!(format!("{days}d"))
        } else {
            json!(format!("{self:?}"))
        }
    }
}

/// Shows the place and whether it holds something, and never the key.
impl Document for KeySource {
    fn document(&self) -> Value {
        match self {
            Self::Environment(name) => json!({"variable": name, "found": self.is_found()}),
            Self::File(path) => {
                json!({"file": path.display().to_string(), "found": self.is_found()})
            }
            _ => Value::Null,
        }
    }
}
