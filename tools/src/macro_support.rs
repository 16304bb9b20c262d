//! What the code that `#[tool]` writes stands on. Hidden, and no part of the public interface: its shape follows the macro
//! of the same version.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Display;

use protocol::{Declared, Effects, Example, InvalidName, InvalidTemplate, Limits, Template, Tool, ToolResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::{deserialized, result_from_value};
use crate::{DefinitionError, Entry, Handler, Input, ToolContext, ToolError, ToolErrorKind, schema_of};

pub use crate::handler::blocking::run_blocking;
pub use crate::{HandlerFuture, Need, Source, Submission};
pub use {inventory, schemars, serde, serde_json};

/// The handler of a submission: a function pointer, so that a tool costs no `impl` to compile.
pub struct Function {
    pub call: fn(ToolContext, Input) -> HandlerFuture<'static>,
    pub needs: &'static [Need],
}

impl Handler for Function {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        (self.call)(cx, arguments)
    }

    fn needs(&self) -> &[Need] {
        self.needs
    }
}

/// What stands in the place of a tool that has compile errors, so that uses of its constant bring no more of them.
pub const BROKEN: Submission = Submission {
    name: "",
    // Spelled out: a reference to a constant that calls a function does not live long enough to be submitted.
    source: Source { crate_name: Cow::Borrowed(""), version: Cow::Borrowed(""), file: Cow::Borrowed(""), line: 0 },
    definition: || Err(DefinitionError::Name(InvalidName::Empty)),
    handler: &Function {
        call: |_, _| HandlerFuture::ready(Err(ToolError::execution_failed("it did not compile"))),
        needs: &[],
    },
};

/// A definition as the attribute and the doc comment state it.
#[derive(Default)]
pub struct Definition {
    pub name: &'static str,
    /// The pieces of the doc comment, to be joined with line breaks.
    pub description: &'static [&'static str],
    pub parameters: Value,
    pub title: Option<&'static str>,
    pub pure: bool,
    pub reads: &'static [&'static str],
    pub writes: &'static [&'static str],
    pub destroys: &'static [&'static str],
    pub open_world: bool,
    pub idempotent: bool,
    pub timeout_ms: Option<u64>,
    pub max_output_bytes: Option<u64>,
    pub tags: &'static [&'static str],
    pub audit: bool,
    pub examples: Vec<(Value, Option<Value>)>,
}

impl Definition {
    /// The definition proper. Whether its effects fit its schema is looked at where every definition is: at registration.
    pub fn build(self) -> Result<Tool, DefinitionError> {
        self.check()?;
        let effects = self.effects()?;
        let mut tool = Tool::new(self.name, self.description.join("\n").trim(), self.parameters)?
            .with_effects(effects)
            .with_limits(Limits {
                timeout_ms: self.timeout_ms,
                max_output_bytes: self.max_output_bytes,
                ..Limits::default()
            })
            .with_tags(self.tags.iter().copied())
            .with_audit(self.audit);
        tool.title = self.title.map(str::to_owned);
        tool.examples = self.examples.into_iter().map(|(arguments, result)| Example { arguments, result }).collect();
        Ok(tool)
    }

    fn effects(&self) -> Result<Effects, InvalidTemplate> {
        if self.pure {
            return Ok(Effects::Pure);
        }
        let parsed = |templates: &[&str]| {
            templates.iter().map(|template| template.parse()).collect::<Result<Vec<Template>, _>>()
        };
        Ok(Effects::Declared(Declared {
            reads: parsed(self.reads)?,
            writes: parsed(self.writes)?,
            destroys: parsed(self.destroys)?,
            open_world: self.open_world,
            idempotent: self.idempotent,
        }))
    }

    /// Looks at what the macro cannot see of an args struct: that it is an object, closed, with a description of each field.
    fn check(&self) -> Result<(), DefinitionError> {
        let parameters = &self.parameters;
        let tool = || self.name.to_owned();
        let properties = parameters["properties"].as_object().filter(|_| parameters["type"] == "object");
        let Some(properties) = properties else { return Err(DefinitionError::NotAnObject { tool: tool() }) };
        if let Some((field, _)) = properties.iter().find(|(_, schema)| !is_described(schema)) {
            return Err(DefinitionError::Undocumented { tool: tool(), field: field.clone() });
        }
        // The second word is what schemars writes where a field is flattened.
        if ["additionalProperties", "unevaluatedProperties"].iter().all(|word| parameters[word] != Value::Bool(false)) {
            return Err(DefinitionError::Open { tool: tool() });
        }
        Ok(())
    }
}

fn is_described(schema: &Value) -> bool {
    schema["description"].as_str().is_some_and(|text| !text.trim().is_empty())
}

/// What can hold the arguments of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold the arguments of a tool",
    label = "the arguments of this tool",
    note = "write `#[derive(serde::Deserialize, tools::JsonSchema)]` above it, with `#[serde(deny_unknown_fields)]` and \
            `#[schemars(crate = \"tools::schemars\")]`"
)]
pub trait Arguments: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<A: DeserializeOwned + JsonSchema> Arguments for A {}

/// The schema of arguments.
pub fn parameters_of<A: Arguments>() -> Value {
    schema_of::<A>()
}

/// Arguments as a type.
pub fn arguments<A: Arguments>(entry: Option<&Entry>, arguments: Input) -> Result<A, ToolErrorKind> {
    deserialized(entry, arguments)
}

/// What can be the result of a tool, or the good half of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "the result of this tool",
    note = "derive `serde::Serialize` for it, or return a `String`, `Content`, `ToolResult`, `()` or a `Result` of one of those"
)]
pub trait Output: Serialize + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Output for T {}

/// What can be the error of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool: the model could not read it",
    label = "the error of this tool",
    note = "implement `std::fmt::Display` for it (`thiserror` writes that), or return a `String` or a `ToolError`"
)]
pub trait Failure: Display + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Display + 'static> Failure for E {}

/// The tool that is running.
pub fn entry(cx: &ToolContext) -> Option<&Entry> {
    cx.entry()
}

/// A function's return value. Whether it is a `Result`, and what kind of error that has, is decided by its type and not by its
/// spelling, so that aliases of `Result` work: of the impls of [`ReturnKind`], method lookup on `&&&&&Returned<…>` finds the one
/// with the most references. A return value need not fit the traits above to be found, so that the compiler's complaint is
/// about them.
pub struct Returned<'a, T>(pub &'a T);

pub trait ReturnKind {
    type Kind;
    fn kind(self) -> Self::Kind;
}

impl<T, E: Error + 'static> ReturnKind for &&&&&Returned<'_, Result<T, E>> {
    type Kind = Fallible<E>;
    fn kind(self) -> Fallible<E> {
        Fallible { chain: |error| Some(error) }
    }
}

/// `Box<dyn Error + Send + Sync>`, and errors such as those of anyhow.
impl<T, E: AsRef<dyn Error + Send + Sync>> ReturnKind for &&&&Returned<'_, Result<T, E>> {
    type Kind = Fallible<E>;
    fn kind(self) -> Fallible<E> {
        Fallible { chain: |error| Some(error.as_ref()) }
    }
}

impl<T> ReturnKind for &&&Returned<'_, Result<T, Box<dyn Error>>> {
    type Kind = Fallible<Box<dyn Error>>;
    fn kind(self) -> Self::Kind {
        Fallible { chain: |error| Some(error.as_ref()) }
    }
}

/// Strings, and whatever else displays.
impl<T, E> ReturnKind for &&Returned<'_, Result<T, E>> {
    type Kind = Fallible<E>;
    fn kind(self) -> Fallible<E> {
        Fallible { chain: |_| None }
    }
}

impl<T> ReturnKind for &Returned<'_, T> {
    type Kind = Infallible;
    fn kind(self) -> Infallible {
        Infallible
    }
}

/// Something returned a `Result`.
pub struct Fallible<E> {
    /// The error as one with a source chain, where it is one.
    chain: fn(&E) -> Option<&(dyn Error + 'static)>,
}

impl<E> Fallible<E> {
    pub fn finish<T: Output>(self, outcome: Result<T, E>) -> Result<ToolResult, ToolError>
    where
        E: Failure,
    {
        match outcome {
            Ok(value) => result_from_value(value),
            Err(error) => Err(ToolError::from_failure(&error, (self.chain)(&error))),
        }
    }
}

/// Something returned a plain value.
pub struct Infallible;

impl Infallible {
    pub fn finish<T: Output>(self, value: T) -> Result<ToolResult, ToolError> {
        result_from_value(value)
    }
}
