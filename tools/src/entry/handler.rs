//! [`EntryHandler`]: the handler of an entry.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::concern::Concern;
use crate::context::{Need, ServiceField, ToolContext};
use crate::handler::{ConnectFuture, Handler, HandlerFuture, KeptCall, PreviewFuture, Targets};
use crate::input::Input;
use crate::tool_error::ToolError;

/// The handler of a registration or a submission, with defaults for arguments that calls may leave out.
#[derive(Clone)]
pub(crate) struct EntryHandler {
    code: Code,
    defaults: Vec<(String, Value)>,
}

#[derive(Clone)]
enum Code {
    Registered(Arc<dyn Handler>),
    Linked(&'static dyn Handler),
}

impl EntryHandler {
    pub(crate) fn new(handler: impl Handler) -> Self {
        Self::from_code(Code::Registered(Arc::new(handler)))
    }

    pub(crate) fn from_static(handler: &'static dyn Handler) -> Self {
        Self::from_code(Code::Linked(handler))
    }

    fn from_code(code: Code) -> Self {
        Self {
            code,
            defaults: Vec::new(),
        }
    }

    pub(crate) fn with_default(&self, argument: &str, default: Value) -> Self {
        let mut handler = self.clone();
        handler.defaults.retain(|(name, _)| name != argument);
        handler.defaults.push((argument.to_owned(), default));
        handler
    }

    fn code(&self) -> &dyn Handler {
        match &self.code {
            Code::Registered(handler) => &**handler,
            Code::Linked(handler) => *handler,
        }
    }

    /// Returns true if a call leaves out an argument that has a default.
    fn is_incomplete(&self, arguments: &Input) -> bool {
        let is_missing =
            |(name, _): &(String, Value)| arguments.node().get(name.as_str()).is_none();
        self.defaults.iter().any(is_missing)
    }

    fn complete(&self, arguments: Input) -> Input {
        if !self.is_incomplete(&arguments) {
            return arguments;
        }
        arguments.map(|value| {
            for (name, default) in &self.defaults {
                if let Some(members) = value.as_object_mut() {
                    members
                        .entry(name.as_str())
                        .or_insert_with(|| default.clone());
                }
            }
        })
    }

    /// Copies the arguments of a call only if it leaves some out.
    fn complete_borrowed<'a>(&self, arguments: &'a Input) -> Cow<'a, Input> {
        if self.is_incomplete(arguments) {
            Cow::Owned(self.complete(arguments.clone()))
        } else {
            Cow::Borrowed(arguments)
        }
    }
}

/// Forwards each method, so that no default of the trait hides one of the handler's.
impl Handler for EntryHandler {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        self.code().call(cx, self.complete(arguments))
    }

    fn needs(&self) -> &[Need] {
        self.code().needs()
    }

    fn service_fields(&self) -> &[ServiceField] {
        self.code().service_fields()
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        self.code().targets(self.complete(arguments))
    }

    fn check(&self, cx: &ToolContext, arguments: &Input) -> Result<(), ToolError> {
        self.code().check(cx, &self.complete_borrowed(arguments))
    }

    fn concerns(&self, cx: &ToolContext, arguments: &Input) -> Vec<Concern> {
        self.code().concerns(cx, &self.complete_borrowed(arguments))
    }

    fn connect<'a>(&'a self, cx: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        self.code().connect(cx)
    }

    fn preview<'a>(&'a self, cx: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        self.code().preview(cx, self.complete(arguments))
    }

    fn kept_call(&self) -> Option<KeptCall> {
        self.code().kept_call()
    }

    fn is_remote(&self) -> bool {
        self.code().is_remote()
    }

    fn origin(&self) -> &'static str {
        self.code().origin()
    }
}
