//! [`Annotations`]: what a tool's effects are called in MCP.

use serde::{Deserialize, Serialize};

use crate::Effects;

/// The four hints of MCP's `ToolAnnotations` (revision 2025-06-18), in its spelling. All are always given, since the defaults of
/// MCP are not those of a tool that declares its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Nothing is changed.
    pub read_only_hint: bool,
    /// Something may be lost.
    pub destructive_hint: bool,
    /// To do the same call twice is to do it once.
    pub idempotent_hint: bool,
    /// Things outside of this machine may be touched.
    pub open_world_hint: bool,
}

impl Effects {
    /// The hints that follow.
    ///
    /// ```
    /// use protocol::Effects;
    /// use serde_json::json;
    ///
    /// let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"], "idempotent": true}))?;
    /// assert_eq!(
    ///     serde_json::to_value(effects.annotations())?,
    ///     json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}),
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn annotations(&self) -> Annotations {
        Annotations {
            read_only_hint: self.is_read_only(),
            destructive_hint: self.is_destructive(),
            idempotent_hint: self.is_idempotent(),
            open_world_hint: self.is_open_world(),
        }
    }
}
