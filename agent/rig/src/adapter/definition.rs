//! Definitions in rig's words.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use agent::{ProviderError, ToolSet};
use rig_core::completion::ToolDefinition;
use rig_core::message::ToolName as RigName;
use serde_json::Value;
use tools::Digest;

use super::Format;
use crate::attempt::Failure;

/// How many sets are kept: those of a session and of a few that share its model.
const KEPT: usize = 8;

/// The definitions of the tool sets that were asked with last, as rig wants them. They are read from the text that the set
/// keeps, so their keys come in the order that they have there.
#[derive(Default)]
pub(super) struct DefinitionCache(Mutex<VecDeque<(Digest, Arc<[ToolDefinition]>)>>);

impl DefinitionCache {
    pub(super) fn of(&self, format: Format, tools: &ToolSet) -> Result<Arc<[ToolDefinition]>, Failure> {
        let digest = tools.digest();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, definitions)) = kept.iter().find(|(other, _)| *other == digest) {
            return Ok(definitions.clone());
        }
        let definitions: Arc<[_]> = read(format, tools).ok_or_else(|| unreadable(format))?.into();
        kept.truncate(KEPT - 1);
        kept.push_front((digest, definitions.clone()));
        Ok(definitions)
    }
}

fn read(format: Format, tools: &ToolSet) -> Option<Vec<ToolDefinition>> {
    let text = tools.wire_definitions(format.wire());
    let definitions: Vec<Value> = serde_json::from_str(text.as_str()).ok()?;
    definitions.into_iter().map(|definition| of_format(format, definition)).collect()
}

fn of_format(format: Format, mut definition: Value) -> Option<ToolDefinition> {
    let (fields, schema) = match format {
        Format::OpenAi => (definition.get_mut("function")?, "parameters"),
        Format::Anthropic => (&mut definition, "input_schema"),
    };
    let schema = fields.get_mut(schema)?.take();
    let name = RigName::new(fields.get("name")?.as_str()?).ok()?;
    Some(ToolDefinition::new(name, fields.get("description")?.as_str()?, schema))
}

fn unreadable(format: Format) -> Failure {
    let message = "the definitions of the tools cannot be read; this is a fault of Toolcrib".to_owned();
    Failure { error: ProviderError::Failed { provider: format.name().to_owned(), message }, may_pass: false }
}
