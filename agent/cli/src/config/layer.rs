//! [`Layer`]: the settings of one source.

use std::collections::BTreeMap;

use super::keys::Values;
use super::origin::Setting;

/// The settings of one source. Unset ones leave the lower layers in effect.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) values: Values,
    /// The profiles by name. Only keys that a profile accepts are set.
    pub(super) profiles: BTreeMap<String, Setting<Values>>,
}
