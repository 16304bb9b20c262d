//! An entry with another default for one of its arguments.

use std::sync::Arc;

use serde_json::Value;

use crate::entry::Entry;
use crate::register_error::RegisterError;

impl Entry {
    /// Returns the tool with this default for an argument, which calls may then leave out. The tool does not change without such a
    /// parameter.
    ///
    /// The definition states the default, so the targets of a call without the argument come from it. Examples lose the argument.
    ///
    /// # Errors
    /// Returns a [`RegisterError`] if the default has no text for a template of the effects.
    pub fn with_default(
        self: &Arc<Self>,
        argument: &str,
        default: Value,
    ) -> Result<Arc<Self>, RegisterError> {
        let mut tool = self.tool().clone();
        let properties = tool.parameters.get_mut("properties");
        let property =
            properties.and_then(|properties| properties.get_mut(argument)?.as_object_mut());
        match property {
            Some(property) if property.get("default") != Some(&default) => {
                property.insert("default".to_owned(), default.clone());
            }
            _ => return Ok(self.clone()),
        }
        if let Some(required) = tool
            .parameters
            .get_mut("required")
            .and_then(Value::as_array_mut)
        {
            // A model would have to write the argument although it has a default.
            required.retain(|name| name != argument);
        }
        tool.examples
            .iter_mut()
            .filter_map(|example| example.arguments.as_object_mut())
            .for_each(|arguments| {
                arguments.remove(argument);
            });
        let handler = self.handler.with_default(argument, default);
        let entry = Self::build(tool, handler, self.source().clone())?;
        // Calls of both entries touch the same targets, so they wait for each other.
        entry.set_admission(self.admission());
        Ok(Arc::new(entry))
    }
}
