//! [`Annotations`]: the effects of a tool as MCP hints.

use serde::{Deserialize, Serialize};

use crate::effects::Effects;

/// The four hints of MCP's `ToolAnnotations` (revision 2025-06-18), serialized under its field names. All four are always
/// present, because MCP's defaults differ from Toolcrib's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// True if the tool changes nothing.
    pub read_only_hint: bool,
    /// True if the tool may destroy data.
    pub destructive_hint: bool,
    /// True if repeating a call has no further effect.
    pub idempotent_hint: bool,
    /// True if the tool may reach beyond this machine and the places that its user has configured.
    pub open_world_hint: bool,
}

impl Effects {
    /// Returns the MCP hints for these effects.
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
