//! [`Entry`]: a tool in a catalog.

mod handler;
mod masking;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::wire::schema::Unsendable;
use protocol::wire::{Format, FormatCell, Strictness, WireTool};
use protocol::{Content, Digest, Effects, Example, Json, Tool, ToolName, ToolResult};
use serde_json::Value;

use crate::admission::{Admission, Limiter};
use crate::context::Need;
use crate::handler::Handler;
use crate::input::Input;
use crate::register_error::RegisterError;
use crate::schema::{Inspected, Mask, SchemaError, SimpleSchema, Validator, Violation};
use crate::source::Source;
use crate::spelling::Spelling;
use crate::tool_error::ToolErrorKind;

pub(crate) use handler::EntryHandler;

/// A tool in a catalog: its definition, its handler and the place of its declaration. Immutable; replacing a tool creates a new entry.
pub struct Entry {
    tool: Tool,
    pub(crate) handler: EntryHandler,
    source: Source,
    digest: OnceLock<Digest>,
    wires: OnceLock<Box<WireCells>>,
    /// The forms with examples, which few tools have.
    exemplified: OnceLock<Box<WireCells>>,
    pub(crate) limiter: Option<Arc<Limiter>>,
    admission: OnceLock<Arc<Admission>>,
    /// The secret arguments. `None` if the schema has none, which is usual.
    mask: Option<Box<Mask>>,
    /// True if the schema marks an argument as `writeOnly`, as [`Secret`](crate::Secret) does.
    pub has_secrets: bool,
    /// The parameter schema, if it is simple enough to be checked without a validator.
    plain: OnceLock<Option<Box<SimpleSchema>>>,
    parameters: Inspected,
    /// True if the parameter schema accepts no argument that it does not name.
    pub(crate) is_closed: bool,
    /// The output schema, which few tools have.
    output: Option<Box<Inspected>>,
    /// The number of times that the handler held its thread for longer than [`MAX_HOLD`].
    holds: AtomicU32,
    /// True if its last call held its thread for too long. On a busy machine a single call may, without a fault of its own.
    is_slow: AtomicBool,
}

/// The time for which a handler may hold its thread without a warning. Other calls, sessions and timers of the thread wait meanwhile.
const MAX_HOLD: Duration = Duration::from_millis(10);

/// The tool on each wire, or the reason that it cannot be sent there.
type WireCells = FormatCell<Result<Arc<WireTool>, Unsendable>>;

impl Entry {
    /// Creates an entry after these checks:
    ///
    /// - the description, the limits and the effects;
    /// - the budget, dialect rules, regular expressions and `$ref` targets of both schemas.
    ///
    /// The first call compiles the schemas. If that fails, the call ends with [`ToolErrorKind::Unavailable`].
    /// [`verify`](Self::verify) compiles them earlier and also validates the examples.
    ///
    /// # Errors
    /// Returns a [`RegisterError`] for the first check that fails.
    pub fn new(tool: Tool, handler: impl Handler, source: Source) -> Result<Self, RegisterError> {
        Self::build(tool, EntryHandler::new(handler), source)?.with_checked_dialects()
    }

    /// Creates an entry with the caller's place as its source.
    #[track_caller]
    pub(crate) fn from_caller(tool: Tool, handler: impl Handler) -> Result<Self, RegisterError> {
        let source = Source::from_caller(handler.origin());
        Self::new(tool, handler, source)
    }

    /// Returns the definition.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the name.
    pub fn name(&self) -> &ToolName {
        &self.tool.name
    }

    /// Returns the place of the declaration.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the handler. Only the pipeline's stages may use it.
    pub(crate) fn handler(&self) -> &dyn Handler {
        &self.handler
    }

    /// Returns the admission of the catalog that the entry was first added to. Entries without a catalog share one.
    pub fn admission(&self) -> &Arc<Admission> {
        static LOOSE: OnceLock<Arc<Admission>> = OnceLock::new();
        self.admission
            .get_or_init(|| LOOSE.get_or_init(Arc::default).clone())
    }

    /// Sets the admission, unless it is set already.
    pub(crate) fn set_admission(&self, admission: &Arc<Admission>) {
        self.admission.get_or_init(|| admission.clone());
    }

    /// Returns the services that the tool requires in its context.
    pub fn needs(&self) -> &[Need] {
        self.handler.needs()
    }

    /// Returns the digest of the definition, computed once.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.tool.digest())
    }

    /// Returns the tool as a service takes it, without its examples. Rendered once per format and mode.
    ///
    /// # Errors
    /// Returns the reason if the service would refuse every form of the tool.
    pub fn wire(
        &self,
        format: Format,
        strictness: Strictness,
    ) -> Result<&Arc<WireTool>, &Unsendable> {
        // Boxed, because most tools of a large catalog are not sent.
        let wires = self.wires.get_or_init(Box::default);
        wires
            .get_or_init(format, strictness, || {
                format.tool(&self.tool, strictness).map(Arc::new)
            })
            .as_ref()
    }

    /// Returns the tool like [`wire`](Self::wire), with [its examples](Format::tool_with_examples). Examples that do not match both
    /// the tool's schema and the one on the wire are left out, because a service would refuse the whole request.
    ///
    /// # Errors
    /// Returns the reason if the service would refuse every form of the tool.
    pub fn wire_with_examples(
        &self,
        format: Format,
        strictness: Strictness,
    ) -> Result<&Arc<WireTool>, &Unsendable> {
        let plain = self.wire(format, strictness)?;
        if self.tool.examples.is_empty() {
            return Ok(plain);
        }
        self.exemplified
            .get_or_init(Box::default)
            .get_or_init(format, strictness, || {
                let examples = self.sendable_examples(plain);
                format
                    .tool_with_examples(
                        &Tool {
                            examples,
                            ..self.tool.clone()
                        },
                        strictness,
                    )
                    .map(Arc::new)
            })
            .as_ref()
    }

    /// Returns the examples whose arguments match the tool's schema, and in their form on the wire the schema there.
    fn sendable_examples(&self, wire: &WireTool) -> Vec<Example> {
        let own = self.parameters().ok();
        let inspected = Inspected::for_parameters(&wire.parameters).ok();
        let sent = inspected
            .as_ref()
            .and_then(|inspected| inspected.validator(&wire.parameters).ok());
        let (Some((schema, own)), Some(sent)) = (own, sent) else {
            return Vec::new();
        };
        self.tool
            .examples
            .iter()
            .filter(|example| {
                let arguments = Json::from(example.arguments.clone());
                let encoded = wire.arguments.encode(&arguments);
                own.check(schema, arguments.node(), None).is_ok()
                    && sent.check(&wire.parameters, encoded.node(), None).is_ok()
            })
            .cloned()
            .collect()
    }

    /// Returns the names for a reader who knows the tools in this format and called this one.
    pub(crate) fn spelling(&self, format: Option<Format>) -> Spelling<'_> {
        // Both modes of a format have the same keys.
        let wire = format.and_then(|format| self.wire(format, Strictness::Relaxed).ok());
        Spelling::new(format).with_codec(wire.map(|wire| &wire.arguments))
    }

    /// Returns true if both entries have the same definition and the same source.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.source() == other.source() && self.digest() == other.digest())
    }

    /// Checks that the arguments are an object and fit the schema. A schema without a `type` would accept any value.
    ///
    /// Compiles the output schema as well, so that a faulty one fails the call before the tool runs.
    pub(crate) fn check_arguments(&self, arguments: &Input) -> Result<(), ToolErrorKind> {
        self.output()
            .transpose()
            .map_err(|error| self.unavailable("output", error))?;
        if !arguments.node().is_object() {
            return Err(Violation::no_object(arguments.value()).into());
        }
        if self
            .plain()
            .is_some_and(|plain| plain.accepts(arguments.node()))
        {
            return Ok(());
        }
        let (schema, validator) = self
            .parameters()
            .map_err(|error| self.unavailable("parameters", error))?;
        validator
            .check(schema, arguments.node(), self.mask.as_deref())
            .map_err(|violations| ToolErrorKind::InvalidArguments { violations })
    }

    /// Checks a structured result against the output schema, if the tool has one.
    pub(crate) fn check_output(&self, result: &mut ToolResult) -> Result<(), ToolErrorKind> {
        let output = self
            .output()
            .transpose()
            .map_err(|error| self.unavailable("output", error))?;
        let Some((schema, validator)) = output else {
            return Ok(());
        };
        let violations = match &result.structured {
            None => vec![Violation::whole(
                "a structured result, as the output schema requires",
                "none",
            )],
            Some(value) => match validator.check(schema, value.node(), None) {
                Ok(()) => return Ok(()),
                Err(violations) => violations,
            },
        };
        // A linked tool is fixed where it is written. A server belongs to others, and its call has taken effect.
        if !self.handler().is_remote() {
            return Err(ToolErrorKind::InvalidOutput { violations });
        }
        let Some(first) = violations.first() else {
            return Ok(());
        };
        let note = format!(
            "[the structured result does not fit the tool's output schema at {:?}: expected {}, found {}; the call has run]",
            first.pointer, first.expected, first.found
        );
        let is_empty = result.content.is_empty();
        let value = result.structured.take().filter(|_| is_empty);
        result
            .content
            .extend(value.map(|value| Content::text(value.to_string())));
        result.content.push(Content::text(note));
        Ok(())
    }

    pub(crate) fn build(
        tool: Tool,
        handler: EntryHandler,
        source: Source,
    ) -> Result<Self, RegisterError> {
        let Tool { name, effects, .. } = &tool;
        let limiter = Limiter::new(&tool.limits).map_err(|reason| RegisterError::Limits {
            name: name.clone(),
            reason,
        })?;
        // Without one, no model can choose the tool.
        if tool.description.trim().is_empty() {
            return Err(RegisterError::Description { name: name.clone() });
        }
        let parameters = &tool.parameters;
        let inspected = (
            Inspected::for_parameters(parameters)
                .map_err(|error| schema_error(name, "parameters", error))?,
            tool.output
                .as_ref()
                .map(Inspected::for_output)
                .transpose()
                .map_err(|error| schema_error(name, "output", error))?,
        );
        let supplied = handler.service_fields().iter().map(|field| field.name);
        effects
            .check(parameters, &supplied.collect::<Vec<_>>())
            .map_err(|error| RegisterError::Effects {
                name: name.clone(),
                source: Box::new(error),
            })?;
        let own = Mask::from_schema(parameters);
        let has_secrets = own.is_some();
        let mask = match handler.kept_call() {
            // Without the catalog it is not known which of them the other tool keeps secret.
            Some(kept) => Mask::from_schema(&masking::with_hidden(parameters, kept.arguments)),
            None => own,
        };
        if let (Some(mask), Effects::Declared(declared)) = (&mask, effects) {
            let fields = declared
                .templates()
                .flat_map(|(_, template)| template.fields().map(move |it| (template, it)));
            if let Some((template, field)) = fields
                .into_iter()
                // Targets are shown, matched and recorded, so a secret in one would be told.
                .find(|(_, field)| mask.hides_property(field))
            {
                return Err(RegisterError::SecretTarget {
                    name: name.clone(),
                    template: template.to_string(),
                    field: field.to_owned(),
                });
            }
        }
        let is_closed = tool.parameters.get("additionalProperties") == Some(&Value::Bool(false));
        Ok(Self {
            tool,
            handler,
            source,
            digest: OnceLock::new(),
            wires: OnceLock::new(),
            exemplified: OnceLock::new(),
            limiter: limiter.map(Arc::new),
            admission: OnceLock::new(),
            mask: mask.map(Box::new),
            has_secrets,
            plain: OnceLock::new(),
            parameters: inspected.0,
            is_closed,
            output: inspected.1.map(Box::new),
            holds: AtomicU32::new(0),
            is_slow: AtomicBool::new(false),
        })
    }

    /// Checks that both schemas are valid in their dialects.
    pub(crate) fn with_checked_dialects(self) -> Result<Self, RegisterError> {
        let name = self.name();
        self.parameters
            .check_dialect(&self.tool.parameters)
            .map_err(|error| schema_error(name, "parameters", error))?;
        if let (Some(inspected), Some(output)) = (&self.output, &self.tool.output) {
            inspected
                .check_dialect(output)
                .map_err(|error| schema_error(name, "output", error))?;
        }
        Ok(self)
    }

    /// Returns the simple form of the parameter schema, or `None` if the schema needs a validator.
    pub(crate) fn plain(&self) -> Option<&SimpleSchema> {
        self.plain
            .get_or_init(|| SimpleSchema::from_schema(&self.tool.parameters).map(Box::new))
            .as_deref()
    }

    /// Returns the parameter schema and its validator, compiled on first use.
    pub(crate) fn parameters(&self) -> Result<(&Value, &Validator), &SchemaError> {
        let schema = &self.tool.parameters;
        Ok((schema, self.parameters.validator(schema)?))
    }

    /// Returns the output schema and its validator, compiled on first use, or `None` if the tool has no output schema.
    pub(crate) fn output(&self) -> Option<Result<(&Value, &Validator), &SchemaError>> {
        let (inspected, schema) = self.output.as_ref().zip(self.tool.output.as_ref())?;
        Some(
            inspected
                .validator(schema)
                .map(|validator| (schema, validator)),
        )
    }

    /// Notes that the handler has held its thread so long. Logs a warning the first time that it was too long.
    pub(crate) fn note_hold(&self, held: Duration) {
        if held <= MAX_HOLD {
            return;
        }
        self.is_slow.store(true, Ordering::Relaxed);
        if self.holds.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(
                tool = %self.name(),
                "a call held its thread for {} ms, so other calls and sessions waited; write a plain `fn` with `blocking`, or await",
                held.as_millis()
            );
        }
    }

    /// Notes the time of a call on another thread. A short one brings the next call back.
    pub(crate) fn note_elsewhere(&self, held: Duration) {
        self.is_slow.store(false, Ordering::Relaxed);
        self.note_hold(held);
    }

    /// Returns true if the next call of a short function belongs on another thread.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    /// Returns the number of times that the handler held its thread for too long.
    pub(crate) fn holds(&self) -> u32 {
        self.holds.load(Ordering::Relaxed)
    }

    /// Returns the error of calls to a tool with a schema that does not compile.
    fn unavailable(&self, part: &'static str, error: &SchemaError) -> ToolErrorKind {
        let reason = format!("its {part} schema cannot be used: {error}");
        ToolErrorKind::Unavailable { reason }
    }
}

pub(crate) fn schema_error(
    name: &ToolName,
    part: &'static str,
    source: SchemaError,
) -> RegisterError {
    RegisterError::Schema {
        name: name.clone(),
        part,
        source,
    }
}

crate::debug_fields!(self: Entry { tool, source });
