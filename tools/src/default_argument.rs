//! An entry with another default for one of its arguments.

use std::sync::Arc;

use serde_json::Value;

use crate::context::Need;
use crate::handler::{ConnectFuture, KeptCall, PreviewFuture};
use crate::{
    Concern, Entry, Handler, HandlerFuture, Input, RegisterError, Targets, ToolContext, ToolError,
};

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
            required.retain(|name| name != argument);
        }
        tool.examples
            .iter_mut()
            .filter_map(|example| example.arguments.as_object_mut())
            .for_each(|arguments| {
                arguments.remove(argument);
            });
        let handler = WithDefault {
            entry: self.clone(),
            argument: argument.to_owned(),
            default,
        };
        let entry = Self::build(tool, Box::new(handler), self.source().clone())?;
        entry.set_admission(self.admission());
        Ok(Arc::new(entry))
    }
}

/// The handler of an entry, with a default for an argument.
struct WithDefault {
    entry: Arc<Entry>,
    argument: String,
    default: Value,
}

impl WithDefault {
    fn complete(&self, arguments: Input) -> Input {
        if arguments.node().get(&self.argument).is_some() {
            return arguments;
        }
        let mut arguments = arguments.into_value();
        if let Some(members) = arguments.as_object_mut() {
            members.insert(self.argument.clone(), self.default.clone());
        }
        Input::new(arguments.into(), self.entry.has_masked())
    }
}

impl Handler for WithDefault {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        self.entry.handler().call(cx, self.complete(arguments))
    }

    fn needs(&self) -> &[Need] {
        self.entry.needs()
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        self.entry.handler().targets(self.complete(arguments))
    }

    fn check(&self, cx: &ToolContext, arguments: &Input) -> Result<(), ToolError> {
        self.entry
            .handler()
            .check(cx, &self.complete(arguments.clone()))
    }

    fn concerns(&self, cx: &ToolContext, arguments: &Input) -> Vec<Concern> {
        self.entry
            .handler()
            .concerns(cx, &self.complete(arguments.clone()))
    }

    fn connect<'a>(&'a self, cx: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        self.entry.handler().connect(cx)
    }

    fn preview<'a>(&'a self, cx: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        self.entry.handler().preview(cx, self.complete(arguments))
    }

    fn kept_call(&self) -> Option<KeptCall> {
        self.entry.handler().kept_call()
    }

    fn is_remote(&self) -> bool {
        self.entry.handler().is_remote()
    }

    fn origin(&self) -> &'static str {
        self.entry.handler().origin()
    }
}
