//! Definitions in rig's words.

use agent::{ProviderError, ToolSet};
use rig_core::completion::ToolDefinition;
use rig_core::message::ToolName as RigName;
use tools::protocol::wire::{self, WireNames};

use super::Format;
use crate::attempt::Failure;

/// Returns the definitions of a set. rig takes the schemas as values and owns them.
pub(super) fn definitions(format: Format, tools: &ToolSet, names: &WireNames) -> Result<Vec<ToolDefinition>, Failure> {
    tools
        .definitions()
        .map(|tool| {
            let name = RigName::new(names.spelling(&tool.name)).map_err(|error| Failure {
                error: ProviderError::Failed {
                    provider: format.name().to_owned(),
                    message: format!(
                        "rig refuses the spelling of the tool {}: {error}; this is a fault of Toolcrib",
                        tool.name
                    ),
                },
                may_pass: false,
            })?;
            Ok(ToolDefinition::new(name, tool.description.as_str(), wire::parameters(tool)))
        })
        .collect()
}
