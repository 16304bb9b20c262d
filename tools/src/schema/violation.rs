//! [`Violation`]: an error in a value, described so that a model can repair it.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde::Serialize;
use serde_json::Value;

use super::branch::{self, Nearest};
use super::mask::MASK;
use super::{expectation, phrase};
use crate::join::join;
use crate::near::near;

/// The most violations that are reported one by one.
const MOST: usize = 64;

/// One violation of a schema by a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// The JSON pointer (RFC 6901) of the violation; empty for the whole value.
    ///
    /// A missing property is reported at its object, an unexpected one at the property itself. Property names over 128 characters
    /// are cut, and control characters are escaped.
    pub pointer: String,
    /// The expected value, as a phrase.
    pub expected: String,
    /// The value found: JSON, or a description if that is longer than 64 characters.
    pub found: String,
    /// Likely intended names, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
}

impl Violation {
    pub(crate) fn new(
        pointer: String,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            pointer,
            expected: expected.into(),
            found: found.into(),
            near: Vec::new(),
        }
    }

    /// Creates a violation of the whole value.
    pub(crate) fn whole(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(String::new(), expected, found)
    }

    /// Creates the violation for arguments that are not an object.
    pub(crate) fn no_object(arguments: &Value) -> Self {
        Self::whole("a JSON object", phrase::kind(arguments))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at {}: expected {}, found {}",
            phrase::place(&self.pointer),
            self.expected,
            self.found
        )?;
        for (index, name) in self.near.iter().enumerate() {
            let or = if index == 0 { "; did you mean" } else { " or" };
            write!(f, "{or} `{name}`")?;
        }
        Ok(())
    }
}

/// Returns all violations, sorted by pointer. If `masked` is given, found values are taken from it.
pub(super) fn all(
    mut errors: Vec<ValidationError<'_>>,
    schema: &Value,
    masked: Option<&Value>,
) -> Vec<Violation> {
    errors.sort_by(|one, other| {
        one.instance_path()
            .as_str()
            .cmp(other.instance_path().as_str())
    });
    let mut collector = Collector {
        schema,
        masked,
        violations: Vec::new(),
        more: errors.len().saturating_sub(4 * MOST),
    };
    // An error of a union may stand for many, so more errors than violations are read.
    for error in errors.iter().take(4 * MOST) {
        collector.add(error, "");
    }
    let mut violations = collector.violations;
    let mut more = collector.more;
    violations.sort();
    // Two branches may report the same fault.
    violations.dedup();
    more += violations.len().saturating_sub(MOST);
    violations.truncate(MOST);
    if more > 0 {
        let found = phrase::counted(more as u64, "more violation", "more violations");
        violations.push(Violation::whole("a value that matches the schema", found));
    }
    violations
}

/// Returns the first violation of an error.
pub(super) fn first(error: ValidationError<'_>) -> Violation {
    all(vec![error], &Value::Null, None)
        .into_iter()
        .next()
        .unwrap_or_else(|| Violation::whole("a valid value", "another"))
}

struct Collector<'a> {
    schema: &'a Value,
    masked: Option<&'a Value>,
    violations: Vec<Violation>,
    /// The number of violations beyond the limit.
    more: usize,
}

impl<'a> Collector<'a> {
    /// Adds the violations of an error; for a failed `anyOf` or `oneOf`, those of its nearest branch. `aside` is appended to each
    /// expectation: `, for …` with the branch that was guessed, or an empty text.
    fn add(&mut self, error: &ValidationError<'_>, aside: &str) {
        let value = error.instance().as_ref();
        let at = error.instance_path().as_str();
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                self.add_unexpected(unexpected, value, error, aside);
            }
            Kind::Required {
                property: Value::String(name),
            } => {
                let known = self.list_declared(error);
                let unknown = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.as_str());
                // A value may have any number of unknown names, each of which is compared.
                let unknown = unknown.filter(|name| !known.contains(name)).take(1000);
                let meant = match near(name, unknown).first() {
                    Some(given) => {
                        format!(", for which {} may be meant", phrase::quote(given, 128))
                    }
                    None => String::new(),
                };
                self.push(
                    at,
                    format!("the property {}{meant}{aside}", phrase::quote(name, 128)),
                    value,
                    Vec::new(),
                );
            }
            Kind::PropertyNames { error } => {
                let expected = format!(
                    "only property names that are {}{aside}",
                    expectation::for_error(error)
                );
                self.push(at, expected, error.instance(), Vec::new());
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                match branch::nearest(context, at) {
                    Nearest::Choice(errors) => self.choice(&errors, aside),
                    Nearest::Branch { index, is_guess } => {
                        let guess = match self.label(error, index) {
                            _ if !is_guess => aside.to_owned(),
                            Some(label) => format!(
                                ", for {label}, the nearest of {} alternatives",
                                context.len()
                            ),
                            None => format!(", for the nearest of {} alternatives", context.len()),
                        };
                        for error in context.get(index).into_iter().flatten() {
                            self.add(error, &guess);
                        }
                    }
                }
            }
            Kind::OneOfMultipleValid { context } => {
                let matching = (0..context.len()).filter(|index| context[*index].is_empty());
                let labels: Vec<_> = matching
                    .map(|index| self.label(error, index).unwrap_or((index + 1).to_string()))
                    .collect();
                let expected = format!(
                    "a value that matches exactly one of {} alternatives; this one matches {}{aside}",
                    context.len(),
                    join(labels.iter().take(5), " and "),
                );
                self.push(at, expected, value, Vec::new());
            }
            Kind::Enum { options } => {
                let near = near_options(value, options.as_array().into_iter().flatten());
                self.push(at, expectation::for_error(error) + aside, value, near);
            }
            _ => self.push(at, expectation::for_error(error) + aside, value, Vec::new()),
        }
    }

    fn add_unexpected(
        &mut self,
        names: &[String],
        value: &Value,
        error: &ValidationError<'_>,
        aside: &str,
    ) {
        let known = self.list_declared(error);
        let expected = if known.is_empty() {
            format!("no property of this name{aside}")
        } else {
            format!(
                "no property of this name{aside}; known are {}",
                phrase::names(known.iter().copied())
            )
        };
        let mut names: Vec<_> = names.iter().map(String::as_str).collect();
        names.sort_unstable();
        self.more += names.len().saturating_sub(MOST);
        for name in names.into_iter().take(MOST) {
            let at = format!(
                "{}/{}",
                error.instance_path().as_str(),
                name.replace('~', "~0").replace('/', "~1")
            );
            let near = near(name, known.iter().copied());
            self.push(
                &at,
                expected.clone(),
                value.get(name).unwrap_or(value),
                near,
            );
        }
    }

    fn choice(&mut self, errors: &[&ValidationError<'static>], aside: &str) {
        let Some(first) = errors.first() else { return };
        let value = first.instance().as_ref();
        let options: Vec<&Value> = errors
            .iter()
            .flat_map(|error| expectation::options(error))
            .collect();
        let (expected, near) = if errors
            .iter()
            .all(|error| !expectation::options(error).is_empty())
        {
            (expectation::one_of(&options), near_options(value, options))
        } else {
            let mut kinds: Vec<_> = errors
                .iter()
                .map(|error| expectation::for_error(error))
                .collect();
            kinds.sort();
            kinds.dedup();
            let more = kinds.len().saturating_sub(8);
            kinds.truncate(8);
            let rest = if more > 0 {
                format!(", or one of {more} more alternatives")
            } else {
                String::new()
            };
            (kinds.join(" or ") + &rest, Vec::new())
        };
        self.push(
            first.instance_path().as_str(),
            expected + aside,
            value,
            near,
        );
    }

    fn push(&mut self, pointer: &str, expected: String, found: &Value, near: Vec<String>) {
        let found = match self.masked.map(|masked| masked.pointer(pointer)) {
            None => phrase::show(found),
            Some(Some(masked)) => phrase::show(masked),
            // An enclosing value is masked.
            Some(None) => MASK.to_owned(),
        };
        let segments = pointer.split('/');
        let pointer = join(segments.map(|segment| phrase::visible(segment, 128)), "/");
        let near = near.iter().map(|name| phrase::visible(name, 128)).collect();
        self.violations.push(Violation {
            pointer,
            expected,
            found,
            near,
        });
    }

    /// Returns the property names that the failed subschema declares.
    fn list_declared(&self, error: &ValidationError<'_>) -> Vec<&'a str> {
        let path = error.schema_path().as_str();
        let schema = self.schema;
        let parent = path
            .rsplit_once('/')
            .and_then(|(parent, _)| schema.pointer(parent));
        let properties = parent
            .and_then(|parent| parent.get("properties"))
            .and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Returns the name of a branch: its title, or the last segment of its `$ref`.
    fn label(&self, error: &ValidationError<'_>, index: usize) -> Option<String> {
        let branch = self
            .schema
            .pointer(error.schema_path().as_str())?
            .get(index)?;
        let title = branch.get("title").and_then(Value::as_str);
        let name = title.or_else(|| branch.get("$ref")?.as_str()?.rsplit('/').next())?;
        Some(phrase::quote(name, 64))
    }
}

fn near_options<'a>(value: &Value, options: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
    let options = options.into_iter().filter_map(Value::as_str).take(1000);
    value
        .as_str()
        .map(|text| near(text, options))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::compiled::Compiled;

    fn violations(schema: Value, value: Value) -> Vec<Violation> {
        let validator = Compiled::new(&schema).unwrap_or_else(|error| panic!("{error}"));
        validator.check(&value).expect_err("a violation")
    }

    fn messages(schema: Value, value: Value) -> String {
        let all: Vec<String> = violations(schema, value)
            .iter()
            .map(Violation::to_string)
            .collect();
        all.join("\n")
    }

    #[test]
    fn every_violation_is_reported_sorted_by_pointer() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"minimum": 1}}, "required": ["c"]});
        assert_eq!(
            messages(schema, json!({"a": 1, "b": 0})),
            "at the top level: expected the property `c`, found {\"a\":1,\"b\":0}\n\
             at `/a`: expected a string, found 1\n\
             at `/b`: expected a number of at least 1, found 0"
        );
    }

    #[test]
    fn an_unexpected_property_is_reported_with_near_names() {
        let schema =
            json!({"properties": {"path": {}, "limit": {}}, "additionalProperties": false});
        assert_eq!(
            messages(schema, json!({"file_path": "x"})),
            "at `/file_path`: expected no property of this name; known are `limit`, `path`, found \"x\"; did you mean `path`"
        );
    }

    #[test]
    fn a_missing_property_is_reported_with_a_near_unknown_one() {
        let schema = json!({"properties": {"file_path": {}}, "required": ["file_path"]});
        let violation = &violations(schema, json!({"filePath": "x"}))[0];
        assert_eq!(
            violation.expected,
            "the property `file_path`, for which `filePath` may be meant"
        );
    }

    #[test]
    fn a_wrong_option_is_reported_with_near_ones() {
        let schema = json!({"properties": {"unit": {"enum": ["celsius", "fahrenheit"]}}});
        assert_eq!(
            violations(schema, json!({"unit": "Celcius"}))[0].near,
            ["celsius"]
        );
    }

    #[test]
    fn optional_values_name_both_kinds() {
        let schema = json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]});
        assert_eq!(
            messages(schema.clone(), json!("x")),
            "at the top level: expected an integer or null, found \"x\""
        );
        assert_eq!(
            messages(schema, json!(0)),
            "at the top level: expected a number of at least 1, found 0"
        );
    }

    fn shapes() -> Value {
        json!({"oneOf": [
            {"title": "Circle", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"title": "Square", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]},
        ]})
    }

    #[test]
    fn a_tag_chooses_the_alternative() {
        let text = messages(shapes(), json!({"kind": "square", "a": "1", "r": "2"}));
        assert_eq!(text, "at `/a`: expected a number, found \"1\"");
    }

    #[test]
    fn an_unknown_tag_is_reported_with_all_tags() {
        let text = messages(shapes(), json!({"kind": "circel", "r": 1}));
        assert_eq!(
            text,
            "at `/kind`: expected one of \"circle\", \"square\", found \"circel\"; did you mean `circle`"
        );
    }

    #[test]
    fn without_a_tag_the_nearest_alternative_is_reported_as_a_guess() {
        let schema = json!({"anyOf": [
            {"required": ["a", "b", "c"]},
            {"title": "Pair", "required": ["x", "y"]},
        ]});
        let text = messages(schema, json!({"x": 1}));
        assert_eq!(
            text,
            "at the top level: expected the property `y`, for `Pair`, the nearest of 2 alternatives, found {\"x\":1}"
        );
    }

    #[test]
    fn too_many_matching_alternatives_are_named() {
        let schema = json!({"oneOf": [{"title": "Any"}, {"type": "string"}, {"type": "integer"}]});
        let text = messages(schema, json!(1));
        assert!(
            text.contains("exactly one of 3 alternatives; this one matches `Any` and 3"),
            "{text}"
        );
    }

    #[test]
    fn long_values_are_never_echoed() {
        let long = "s3cret".repeat(1_000);
        let schema = json!({"properties": {"key": {"type": "integer"}, "list": {"not": {}}}, "propertyNames": {"maxLength": 9}});
        let text = messages(schema, json!({"key": long, "list": [long], (&long): 1}));
        assert!(
            text.len() < 1_000 && text.contains("a string of 6,000 characters"),
            "{text}"
        );
    }

    #[test]
    fn pointers_are_escaped_and_control_characters_visible() {
        let schema = json!({"additionalProperties": {"type": "string"}});
        assert_eq!(
            violations(schema, json!({"a/b~\n\u{202e}": 1}))[0].pointer,
            "/a~1b~0\\u000a\\u202e"
        );
    }
}
