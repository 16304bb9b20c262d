//! Support for the code that `#[tool]` generates. Not part of the public interface: it matches the macro of the same version only.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;

use protocol::{
    Declared, Effects, Example, InvalidName, InvalidTemplate, Limits, TargetError, Template, Tool,
    ToolResult,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::concern::Concern;
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::handler::{Handler, PreviewFuture, Targets, deserialize, result_from_value};
use crate::input::Input;
use crate::preview::Preview;
use crate::register_error::DefinitionError;
use crate::schema_of::schema_of;
use crate::tool_error::{ToolError, ToolErrorKind};

pub use crate::context::{Need, ServiceField};
pub use crate::handler::HandlerFuture;
pub use crate::handler::KeptCall;
pub use crate::handler::blocking::{preview_blocking, run_blocking, run_short};
pub use crate::linked::expect_linked;
pub use crate::source::Source;
pub use crate::submission::Submission;
pub use {inventory, schemars, serde, serde_json};

/// A function that checks the arguments of a call against the services of its context.
pub type Check = fn(&ToolContext, Input) -> Result<(), ToolError>;

/// A function that returns the reasons to ask a person about a call.
pub type Concerns = fn(&ToolContext, Input) -> Vec<Concern>;

/// The handler of a submission. A function pointer compiles faster than an `impl` for each tool.
pub struct Function {
    pub call: fn(ToolContext, Input) -> HandlerFuture<'static>,
    pub targets: Option<fn(Input) -> Targets>,
    pub check: Option<Check>,
    pub concerns: Option<Concerns>,
    pub preview: Option<fn(ToolContext, Input) -> PreviewFuture<'static>>,
    pub keeps_call: Option<KeptCall>,
    pub needs: &'static [Need],
    pub service_fields: &'static [ServiceField],
}

impl Handler for Function {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        (self.call)(cx, arguments)
    }

    fn needs(&self) -> &[Need] {
        self.needs
    }

    fn service_fields(&self) -> &[ServiceField] {
        self.service_fields
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        Some(self.targets?(arguments))
    }

    fn check(&self, cx: &ToolContext, arguments: &Input) -> Result<(), ToolError> {
        self.check
            .map_or(Ok(()), |check| check(cx, arguments.clone()))
    }

    fn concerns(&self, cx: &ToolContext, arguments: &Input) -> Vec<Concern> {
        self.concerns
            .map_or_else(Vec::new, |concerns| concerns(cx, arguments.clone()))
    }

    fn preview<'a>(&'a self, cx: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        Some(self.preview?(cx, arguments))
    }

    fn kept_call(&self) -> Option<KeptCall> {
        self.keeps_call
    }
}

/// A placeholder for a tool with compile errors, so that uses of its constant cause no further errors.
pub const BROKEN: Submission = Submission {
    name: "",
    was: &[],
    // A literal, because a reference to a constant that calls a function does not live long enough for a submission.
    source: Source {
        crate_name: Cow::Borrowed(""),
        version: Cow::Borrowed(""),
        module: Cow::Borrowed(""),
        file: Cow::Borrowed(""),
        line: 0,
    },
    definition: || Err(DefinitionError::Name(InvalidName::Empty)),
    handler: &Function {
        call: |_, _| HandlerFuture::ready(Err(ToolError::execution_failed("it did not compile"))),
        targets: None,
        check: None,
        concerns: None,
        preview: None,
        keeps_call: None,
        needs: &[],
        service_fields: &[],
    },
};

/// A tool definition from the attribute and the doc comment.
#[derive(Default)]
pub struct Definition {
    pub name: &'static str,
    /// The lines of the doc comment.
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
    pub delegates: bool,
    pub tags: &'static [&'static str],
    pub audit: bool,
    pub examples: Vec<(Value, Option<Value>)>,
}

impl Definition {
    /// Builds the definition. Registration checks whether the effects fit the schema.
    pub fn build(self) -> Result<Tool, DefinitionError> {
        self.check()?;
        let effects = self.effects()?;
        let mut tool = Tool::new(
            self.name,
            self.description.join("\n").trim(),
            self.parameters,
        )?
        .with_effects(effects)
        .with_limits(Limits {
            timeout_ms: self.timeout_ms,
            max_output_bytes: self.max_output_bytes,
            delegates: self.delegates,
            ..Limits::default()
        })
        .with_tags(self.tags.iter().copied())
        .with_audit(self.audit);
        tool.title = self.title.map(str::to_owned);
        tool.examples = self
            .examples
            .into_iter()
            .map(|(arguments, result)| Example { arguments, result })
            .collect();
        Ok(tool)
    }

    fn effects(&self) -> Result<Effects, InvalidTemplate> {
        if self.pure {
            return Ok(Effects::Pure);
        }
        let parsed = |templates: &[&str]| {
            templates
                .iter()
                .map(|template| template.parse())
                .collect::<Result<Vec<Template>, _>>()
        };
        Ok(Effects::Declared(Declared {
            reads: parsed(self.reads)?,
            writes: parsed(self.writes)?,
            destroys: parsed(self.destroys)?,
            open_world: self.open_world,
            idempotent: self.idempotent,
            foreign: false,
        }))
    }

    /// Checks the properties of an argument struct that the macro cannot see: it must be an object, refuse unknown fields and
    /// describe each field.
    fn check(&self) -> Result<(), DefinitionError> {
        let parameters = &self.parameters;
        let tool = || self.name.to_owned();
        let properties = parameters["properties"]
            .as_object()
            .filter(|_| parameters["type"] == "object");
        let Some(properties) = properties else {
            return Err(DefinitionError::NotAnObject { tool: tool() });
        };
        if let Some((field, _)) = properties.iter().find(|(_, schema)| !is_described(schema)) {
            return Err(DefinitionError::Undocumented {
                tool: tool(),
                field: field.clone(),
            });
        }
        // schemars writes the second keyword if a field is flattened.
        if ["additionalProperties", "unevaluatedProperties"]
            .iter()
            // An argument that the model misspells would be dropped without a word.
            .all(|word| parameters[word] != Value::Bool(false))
        {
            return Err(DefinitionError::Open { tool: tool() });
        }
        Ok(())
    }
}

fn is_described(schema: &Value) -> bool {
    schema["description"]
        .as_str()
        .is_some_and(|text| !text.trim().is_empty())
}

/// A type that can hold the arguments of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold the arguments of a tool",
    label = "the arguments of this tool",
    note = "write `#[derive(serde::Deserialize, tools::JsonSchema)]` above it, with `#[serde(deny_unknown_fields)]` and \
            `#[schemars(crate = \"tools::schemars\")]`"
)]
// A trait of its own, because only such a one can carry the message that says what to derive.
pub trait Arguments: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<A: DeserializeOwned + JsonSchema> Arguments for A {}

/// Tells at compile time whether an argument may be absent, by method lookup: the constant of the type precedes that of the trait.
pub struct Presence<T>(PhantomData<T>);

impl<T> Presence<Option<T>> {
    pub const IS_OPTIONAL: bool = true;
}

/// The constant of every type that is not an `Option`.
pub trait Required {
    const IS_OPTIONAL: bool = false;
}

impl<T> Required for Presence<T> {}

/// Returns the schema of an argument type.
pub fn parameters_of<A: Arguments>() -> Value {
    schema_of::<A>()
}

/// Deserializes the arguments.
pub fn arguments<A: Arguments>(
    entry: Option<&Entry>,
    arguments: Input,
) -> Result<A, ToolErrorKind> {
    deserialize(entry, arguments)
}

/// Deserializes the arguments for the function that computes the targets.
pub fn arguments_for_targets<A: Arguments>(arguments: &Input) -> Result<A, TargetError> {
    arguments
        .deserialize()
        .map_err(|error| TargetError::Function {
            reason: error.to_string(),
        })
}

/// A type that a tool can return, directly or in `Ok`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "the result of this tool",
    note = "derive `serde::Serialize` for it, or return a `String`, `Content`, `ToolResult`, `()` or a `Result` of one of those"
)]
pub trait Output: Serialize + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Output for T {}

/// A type that a tool can return in `Err`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool: the model could not read it",
    label = "the error of this tool",
    note = "implement `std::fmt::Display` for it (`thiserror` writes that), or return a `String` or a `ToolError`"
)]
pub trait Failure: Display + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Display + 'static> Failure for E {}

/// Returns the running tool, or `None` outside of a call.
pub fn entry(cx: &ToolContext) -> Option<&Entry> {
    cx.entry()
}

/// A function's return value, for autoref specialisation: method lookup on `&&&&&Returned<…>` selects the impl of [`ReturnKind`] with
/// the most references.
///
/// The type decides, not its spelling, so aliases of `Result` work. The impls do not require [`Output`] and [`Failure`], so that a
/// compile error names those traits.
pub struct Returned<'a, T>(pub &'a T);

pub trait ReturnKind {
    type Kind;
    fn kind(self) -> Self::Kind;
}

impl<T, E: Error + 'static> ReturnKind for &&&&&Returned<'_, Result<T, E>> {
    type Kind = Fallible<E>;
    fn kind(self) -> Fallible<E> {
        Fallible {
            chain: |error| Some(error),
        }
    }
}

/// For `Box<dyn Error + Send + Sync>` and errors such as those of anyhow.
impl<T, E: AsRef<dyn Error + Send + Sync>> ReturnKind for &&&&Returned<'_, Result<T, E>> {
    type Kind = Fallible<E>;
    fn kind(self) -> Fallible<E> {
        Fallible {
            chain: |error| Some(error.as_ref()),
        }
    }
}

impl<T> ReturnKind for &&&Returned<'_, Result<T, Box<dyn Error>>> {
    type Kind = Fallible<Box<dyn Error>>;
    fn kind(self) -> Self::Kind {
        Fallible {
            chain: |error| Some(error.as_ref()),
        }
    }
}

/// For strings and other displayable types.
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

/// The kind of a function that returns a `Result`.
pub struct Fallible<E> {
    /// Returns the error as a `dyn Error`, or `None` if it is not one.
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

/// The kind of a function that returns a value which is no `Result`.
pub struct Infallible;

impl Infallible {
    pub fn finish<T: Output>(self, value: T) -> Result<ToolResult, ToolError> {
        result_from_value(value)
    }
}

/// A type that the preview function of a tool can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the preview of a tool",
    label = "the preview of this tool",
    note = "return `Preview`, or a `Result` of it with an error that converts into `Box<dyn Error + Send + Sync>`, such as \
            `ToolError` or `String`",
    note = "the function is `async` if and only if the tool is"
)]
pub trait IntoPreview {
    fn into_preview(self) -> Result<Preview, ToolError>;
}

impl IntoPreview for Preview {
    fn into_preview(self) -> Result<Preview, ToolError> {
        Ok(self)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> IntoPreview for Result<Preview, E> {
    fn into_preview(self) -> Result<Preview, ToolError> {
        self.map_err(|error| {
            let error = error.into();
            ToolError::from_failure(&error, Some(&*error))
        })
    }
}

/// Converts the return value of a preview function.
pub fn preview<P: IntoPreview>(returned: P) -> Result<Preview, ToolError> {
    returned.into_preview()
}
