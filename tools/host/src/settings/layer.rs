//! [`Layer`]: the settings of one source.

use std::collections::BTreeMap;

use super::origin::Setting;
use super::values::Values;

/// The settings of one source. Unset ones leave the lower layers in effect.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    pub(super) values: Values,
    /// The profiles by name. Only keys that a profile accepts are set.
    pub(super) profiles: BTreeMap<String, Setting<Values>>,
}

impl Layer {
    /// Applies a higher layer. Its profiles replace those of the same name.
    pub(super) fn apply(&mut self, upper: Self) {
        self.values.apply(upper.values);
        self.profiles.extend(upper.profiles);
    }
}
