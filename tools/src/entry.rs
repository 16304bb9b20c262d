//! [`Entry`]: a tool in a catalog.

use std::fmt;
use std::sync::{Arc, OnceLock};

use protocol::json::Node;
use protocol::wire::{Format, FormatCell, plain_spelling};
use protocol::{Digest, Effects, Json, Target, TargetError, Tool, ToolName};
use serde_json::Value;

use crate::admission::{Admission, Limiter};
use crate::schema::{Inspected, Mask, Plain, Validator};
use crate::{Handler, Input, Need, RegisterError, SchemaError, Source, ToolErrorKind, Violation};

/// A definition, the code that runs it, and where both were declared. An entry never changes; a catalog that replaces a
/// tool holds another entry.
pub struct Entry {
    tool: Tool,
    handler: Box<dyn Handler>,
    source: Source,
    digest: OnceLock<Digest>,
    definitions: FormatCell<Arc<str>>,
    limiter: Option<Arc<Limiter>>,
    admission: OnceLock<Arc<Admission>>,
    /// What of its arguments is secret; most tools take nothing that is.
    mask: Option<Box<Mask>>,
    /// The schema of the arguments, where it says little: a verdict takes no validator then.
    plain: OnceLock<Option<Box<Plain>>>,
    parameters: Inspected,
    /// Few tools have one.
    output: Option<Box<Inspected>>,
}

impl Entry {
    /// Puts a definition and its code together, after checking everything that registration checks but whether the name is free:
    ///
    /// - the description, the limits and the effects;
    /// - of both schemas the budget, the rules of their dialect, the regular expressions and the targets of `$ref`.
    ///
    /// No schema is compiled, and no example validated. The first call compiles; a schema that still fails then makes the tool
    /// [`ToolErrorKind::Unavailable`]. [`verify`](Self::verify) does both beforehand.
    ///
    /// # Errors
    /// The first check that fails, as a [`RegisterError`].
    pub fn new(tool: Tool, handler: impl Handler, source: Source) -> Result<Self, RegisterError> {
        Self::build(tool, Box::new(handler), source)?.with_checked_dialects()
    }

    /// [`new`](Self::new), with the caller's place as the source.
    #[track_caller]
    pub(crate) fn from_caller(tool: Tool, handler: impl Handler) -> Result<Self, RegisterError> {
        let source = Source::from_caller(handler.origin());
        Self::new(tool, handler, source)
    }

    /// The definition.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The name.
    pub fn name(&self) -> &ToolName {
        &self.tool.name
    }

    /// Where it was declared.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The code that runs it: for the last stage of the counter alone.
    pub(crate) fn handler(&self) -> &dyn Handler {
        &*self.handler
    }

    /// What is left of its limits, where it has some.
    pub(crate) fn limiter(&self) -> Option<&Arc<Limiter>> {
        self.limiter.as_ref()
    }

    /// What its calls are admitted by: that of the catalog that it was first put into. Entries of no catalog share one.
    pub fn admission(&self) -> &Arc<Admission> {
        static LOOSE: OnceLock<Arc<Admission>> = OnceLock::new();
        self.admission.get_or_init(|| LOOSE.get_or_init(Arc::default).clone())
    }

    /// Has its calls admitted by this, unless there is something already.
    pub(crate) fn set_admission(&self, admission: &Arc<Admission>) {
        self.admission.get_or_init(|| admission.clone());
    }

    /// The services it needs to find in the context.
    pub fn needs(&self) -> &[Need] {
        self.handler.needs()
    }

    /// The identity of the definition. Computed once.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.tool.digest())
    }

    /// Returns the [definition](Format::definition) for providers, under the [plain](plain_spelling) spelling of the name. Rendered
    /// once per format.
    pub fn definition(&self, format: Format) -> &Arc<str> {
        self.definitions.get_or_init(format, || format.definition(&self.tool, &plain_spelling(self.name())))
    }

    /// Whether arguments of the tool can be secret: its schema says `writeOnly` somewhere, as that of [`Secret`](crate::Secret)
    /// does.
    pub fn has_secrets(&self) -> bool {
        self.mask.is_some()
    }

    /// Returns true if both are one tool: the same definition, declared at the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.source() == other.source() && self.digest() == other.digest())
    }

    /// Arguments as they may be shown and kept: with `[secret]` in the place of each value that the tool's schema calls
    /// `writeOnly`. [`Secret::masked`](crate::Secret::masked) says what else is hidden then. Of a tool without secrets, the arguments as they are.
    ///
    /// Everything that shows or keeps arguments takes them from here: approvals, events, spans, records. A digest that is kept is
    /// made of them as well, because a short secret could be guessed from it; calls that differ in nothing but what is hidden have the same.
    pub fn masked(&self, arguments: &Json) -> Json {
        match &self.mask {
            Some(mask) => mask.of_value(arguments.value()).into(),
            None => arguments.clone(),
        }
    }

    /// Returns the targets of a call, sorted, each once.
    ///
    /// # Errors
    /// Returns an error if an argument is missing or cannot be part of a target.
    pub fn targets<'a>(&'a self, arguments: impl Into<Node<'a>>) -> Result<Vec<Target>, TargetError> {
        self.tool.effects.targets(&self.tool.name, &self.tool.parameters, arguments)
    }

    /// Checks arguments against the schema, and that they are an object: a schema without a `type` takes any value. The output's
    /// schema is compiled as well, because a tool that has run cannot be called unavailable.
    pub(crate) fn check_arguments(&self, arguments: &Input) -> Result<(), ToolErrorKind> {
        self.output().transpose().map_err(|error| self.unavailable("output", error))?;
        if !arguments.node().is_object() {
            let violation = Violation::no_object(arguments.value());
            return Err(ToolErrorKind::InvalidArguments { violations: vec![violation] });
        }
        if self.plain().is_some_and(|plain| plain.accepts(arguments.node())) {
            return Ok(());
        }
        let (schema, validator) = self.parameters().map_err(|error| self.unavailable("parameters", error))?;
        validator
            .check(schema, arguments.node(), self.mask.as_deref())
            .map_err(|violations| ToolErrorKind::InvalidArguments { violations })
    }

    /// Checks a structured result against the output schema, where there is one.
    pub(crate) fn check_output(&self, structured: Option<&Json>) -> Result<(), ToolErrorKind> {
        let output = self.output().transpose().map_err(|error| self.unavailable("output", error))?;
        let Some((schema, validator)) = output else { return Ok(()) };
        let violations = match structured {
            None => vec![Violation::whole(
                "a structured result, as the output schema promises".to_owned(),
                "none".to_owned(),
            )],
            Some(value) => match validator.check(schema, value.node(), None) {
                Ok(()) => return Ok(()),
                Err(violations) => violations,
            },
        };
        Err(ToolErrorKind::InvalidOutput { violations })
    }

    pub(crate) fn build(tool: Tool, handler: Box<dyn Handler>, source: Source) -> Result<Self, RegisterError> {
        let Tool { name, description, parameters, output, effects, limits, .. } = &tool;
        let limiter = Limiter::new(limits).map_err(|reason| RegisterError::Limits { name: name.clone(), reason })?;
        if description.trim().is_empty() {
            return Err(RegisterError::Description { name: name.clone() });
        }
        let inspected = (
            Inspected::of_parameters(parameters).map_err(|error| schema_error(name, "parameters", error))?,
            output
                .as_ref()
                .map(Inspected::of_output)
                .transpose()
                .map_err(|error| schema_error(name, "output", error))?,
        );
        let refused = |error| RegisterError::Effects { name: name.clone(), source: Box::new(error) };
        effects.check(parameters).map_err(refused)?;
        let mask = Mask::of(parameters);
        if let (Some(mask), Effects::Declared(declared)) = (&mask, effects) {
            let fields = declared.templates().flat_map(|(_, template)| template.fields().map(move |it| (template, it)));
            if let Some((template, field)) = fields.into_iter().find(|(_, field)| mask.hides_property(field)) {
                let (template, field) = (template.to_string(), field.to_owned());
                return Err(RegisterError::SecretTarget { name: name.clone(), template, field });
            }
        }
        Ok(Self {
            tool,
            handler,
            source,
            digest: OnceLock::new(),
            definitions: FormatCell::new(),
            limiter: limiter.map(Arc::new),
            admission: OnceLock::new(),
            mask: mask.map(Box::new),
            plain: OnceLock::new(),
            parameters: inspected.0,
            output: inspected.1.map(Box::new),
        })
    }

    /// Checks both schemas against the rules of their dialects.
    pub(crate) fn with_checked_dialects(self) -> Result<Self, RegisterError> {
        let Tool { name, parameters, output, .. } = &self.tool;
        self.parameters.check_dialect(parameters).map_err(|error| schema_error(name, "parameters", error))?;
        if let (Some(inspected), Some(output)) = (&self.output, output) {
            inspected.check_dialect(output).map_err(|error| schema_error(name, "output", error))?;
        }
        Ok(self)
    }

    /// The schema of its arguments, where it says little.
    pub(crate) fn plain(&self) -> Option<&Plain> {
        self.plain.get_or_init(|| Plain::of(&self.tool.parameters).map(Box::new)).as_deref()
    }

    /// The schema of its arguments and the validator, compiled by the first call.
    pub(crate) fn parameters(&self) -> Result<(&Value, &Validator), &SchemaError> {
        let schema = &self.tool.parameters;
        Ok((schema, self.parameters.validator(schema)?))
    }

    /// The schema of its structured results and the validator, compiled by the first call.
    pub(crate) fn output(&self) -> Option<Result<(&Value, &Validator), &SchemaError>> {
        let (inspected, schema) = self.output.as_ref().zip(self.tool.output.as_ref())?;
        Some(inspected.validator(schema).map(|validator| (schema, validator)))
    }

    /// The answer to calls of a tool with a schema that does not compile.
    fn unavailable(&self, part: &'static str, error: &SchemaError) -> ToolErrorKind {
        let reason = format!("its {part} schema cannot be used: {error}");
        ToolErrorKind::Unavailable { reason }
    }
}

pub(crate) fn schema_error(name: &ToolName, part: &'static str, source: SchemaError) -> RegisterError {
    RegisterError::Schema { name: name.clone(), part, source }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("tool", &self.tool).field("source", &self.source).finish_non_exhaustive()
    }
}
