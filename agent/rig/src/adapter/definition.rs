//! Converts tool definitions to rig's.

use agent::{ProviderError, ToolSet};
use rig_core::completion::ToolDefinition;
use rig_core::message::ToolName as RigName;
use tools::protocol::wire::{self, WireNames};

use super::Api;
use crate::retry::Failure;

/// Returns the definitions of a set. rig owns the schemas as JSON values.
pub(super) fn definitions(api: Api, tools: &ToolSet, names: &WireNames) -> Result<Vec<ToolDefinition>, Failure> {
    tools
        .definitions()
        .map(|tool| {
            let name = RigName::new(names.spelling(&tool.name)).map_err(|error| Failure {
                error: ProviderError::Failed {
                    provider: api.name().to_owned(),
                    message: format!(
                        "rig refuses the name of the tool {}: {error}; report this bug in Toolcrib",
                        tool.name
                    ),
                },
                is_transient: false,
            })?;
            Ok(ToolDefinition::new(name, tool.description.as_str(), wire::parameters(tool)))
        })
        .collect()
}
