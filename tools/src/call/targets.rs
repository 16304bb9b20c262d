//! [`Entry::targets`]: the targets of a call, by its templates or by a function of the tool.

use protocol::json::Node;
use protocol::{Effects, Json, Target, TargetError};
use serde_json::Value;

use crate::context::{ServiceField, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::isolate::Panic;

impl Entry {
    /// Returns the targets of a call in a context, sorted and without duplicates.
    ///
    /// # Errors
    /// Returns an error if an argument is missing or cannot be part of a target, if a template names a service that the context does not
    /// have, or if [`Handler::targets`](crate::Handler::targets) fails.
    pub fn targets(&self, arguments: &Json, cx: &ToolContext) -> Result<Vec<Target>, TargetError> {
        let tool = self.tool();
        if tool.effects.are_computed() {
            return compute_targets(self, arguments);
        }
        let fields = self.handler().service_fields();
        if fields.is_empty() {
            return tool
                .effects
                .targets(&tool.name, &tool.parameters, arguments);
        }
        let arguments = with_service_fields(arguments, fields, cx)?;
        tool.effects
            .targets(&tool.name, &tool.parameters, &arguments)
    }
}

/// Returns the arguments with the fields of services. They replace arguments of the same name, which a model could choose.
///
/// # Errors
/// Returns [`TargetError::NoService`] if the context has no such service.
fn with_service_fields(
    arguments: &Json,
    fields: &[ServiceField],
    cx: &ToolContext,
) -> Result<Value, TargetError> {
    let mut arguments = Node::from(arguments).to_value();
    for field in fields {
        let value = (field.read)(cx).ok_or_else(|| TargetError::NoService {
            field: field.name.to_owned(),
        })?;
        if let Some(members) = arguments.as_object_mut() {
            members.insert(field.name.to_owned(), value.into());
        }
    }
    Ok(arguments)
}

/// Returns the targets that the handler computes, sorted and without duplicates.
///
/// # Errors
/// Returns an error if the handler has no such function, if it fails, or if the effects of the tool do not declare a target.
fn compute_targets(entry: &Entry, arguments: &Json) -> Result<Vec<Target>, TargetError> {
    let arguments = Input::new(arguments.clone(), entry.has_masked());
    let targets =
        Panic::catch(|| entry.handler().targets(arguments)).map_err(|Panic(message)| {
            TargetError::Function {
                reason: format!("the function panicked: {message}"),
            }
        })?;
    let effects = &entry.tool().effects;
    let mut targets = targets.unwrap_or_else(|| {
        Err(TargetError::Computed {
            template: effects.to_string(),
        })
    })?;
    // Each target is compared with each clause, and a person is shown each.
    if targets.len() > Effects::MAX_TARGETS {
        return Err(TargetError::TooMany {
            template: effects.to_string(),
        });
    }
    // A selection, a policy and a person judge the tool by its declaration, which a function must not exceed.
    let declared = effects.ceiling(entry.name());
    if let Some(target) = targets
        .iter()
        .find(|target| !declared.iter().any(|clause| clause.matches(target)))
    {
        return Err(TargetError::Undeclared {
            target: target.clone(),
        });
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}
