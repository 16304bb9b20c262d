//! The targets of a tool whose effects another party declared than the one that wrote its schema.

use serde_json::{Map, Value};

use super::{Declared, argument};
use crate::effects::Effects;
use crate::json::{Kind, Node};
use crate::name::ToolName;
use crate::target::Target;
use crate::target_error::TargetError;
use crate::template::Template;
use crate::word_list::has_word;

/// The maximum number of references that are followed to find a field.
const MAX_REFS: usize = 16;

/// The signs between the user and the host of an address.
const AT: [char; 3] = ['@', '\u{fe6b}', '\u{ff20}'];

/// Words in the names of arguments that hold addresses, URLs and paths.
const WORDS: &str = "address addresses attachment attachments bcc callback cc destination dir \
    directory domain email emails endpoint file filename filepath files folder host hostname href \
    link links mail path paths recipient recipients server to uri url urls webhook";

impl Declared {
    /// Returns the targets of one call. A template whose arguments are all absent, null or empty has none.
    ///
    /// The call counts as a write anywhere if there is no target, if a template has only a part of its arguments, if a text of a template has
    /// several addresses, or if a writing call has an argument that no template names and that looks like an address, a URL or a path.
    pub(super) fn foreign_targets(
        &self,
        tool: &ToolName,
        parameters: &Value,
        arguments: Node<'_>,
    ) -> Result<Vec<Target>, TargetError> {
        let mut targets = Vec::new();
        let mut is_unbounded = false;
        for (access, template) in self.templates() {
            let values = |field: &str| values(parameters, arguments, field);
            let fields = template
                .fields()
                .map(values)
                .collect::<Result<Vec<_>, _>>()?;
            // One target of two addresses would match a clause for the last one.
            is_unbounded |= fields.iter().flatten().any(|value| {
                value
                    .as_str()
                    .is_some_and(|text| text.matches(AT).count() > 1)
            });
            if fields.iter().any(Vec::is_empty) {
                is_unbounded |= !fields.iter().all(Vec::is_empty);
                continue;
            }
            let remaining = Effects::MAX_TARGETS - targets.len();
            targets.extend(template.targets(access, remaining, |field, normaliser| {
                values(field)?
                    .into_iter()
                    .map(|value| template.text(field, normaliser, value))
                    .collect()
            })?);
        }
        let writes = !self.writes.is_empty() || !self.destroys.is_empty();
        // The user's templates may miss an argument of the server, through which the call would write unseen.
        if targets.is_empty() || is_unbounded || writes && self.has_unnamed(arguments) {
            targets.push(Target::unbounded(tool));
        }
        Ok(targets)
    }

    /// Returns true if an argument that no template names looks like an address, a URL or a path.
    fn has_unnamed(&self, arguments: Node<'_>) -> bool {
        let named: Vec<String> = self
            .templates()
            .flat_map(|(_, template)| template.fields())
            .map(strip_lists)
            .collect();
        has_address(arguments, "", "", &named)
    }

    /// Returns true if an argument of the schema is named by a template, or cannot hold an address, a URL or a path.
    pub fn names(&self, argument: &str) -> bool {
        self.templates()
            .flat_map(|(_, template)| template.fields())
            .any(|field| field == argument || root(field) == argument)
            || !is_place(argument)
    }
}

/// Returns true if the name of an argument is that of an address, a URL or a path.
pub(super) fn is_place(name: &str) -> bool {
    words(name).any(|word| has_word(WORDS, &word))
}

/// Returns the name of the top-level argument of a field.
pub(crate) fn root(field: &str) -> &str {
    field
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end_matches("[]")
}

/// Returns true if a field is an argument of the schema, at any depth.
pub(super) fn is_field(parameters: &Value, field: &str) -> bool {
    let top = parameters.get("properties").and_then(Value::as_object);
    top.is_some_and(|properties| properties.contains_key(field))
        || is_below(
            parameters,
            parameters,
            &strip_lists(field).split('.').collect::<Vec<_>>(),
            MAX_REFS,
        )
}

fn is_below(whole: &Value, schema: &Value, path: &[&str], refs: usize) -> bool {
    let Some(schema) = schema.as_object() else {
        return false;
    };
    // References can form cycles.
    let below = |schema: &Value, path: &[&str]| refs > 0 && is_below(whole, schema, path, refs - 1);
    let reference = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix('#'));
    if reference
        .and_then(|pointer| whole.pointer(pointer))
        .is_some_and(|target| below(target, path))
    {
        return true;
    }
    let lists = ["anyOf", "oneOf", "allOf"]
        .iter()
        .filter_map(|key| schema.get(*key)?.as_array())
        .flatten();
    if lists
        .chain(schema.get("items"))
        .any(|schema| below(schema, path))
    {
        return true;
    }
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    let property = schema
        .get("properties")
        .and_then(Value::as_object)
        .and_then(|properties: &Map<_, _>| properties.get(*first));
    property.is_some_and(|property| rest.is_empty() || below(property, rest))
}

/// Returns a field without the marks of lists: `attachments[].to` is `attachments.to`.
fn strip_lists(field: &str) -> String {
    field
        .split('.')
        .map(|name| name.trim_end_matches("[]"))
        .collect::<Vec<_>>()
        .join(".")
}

/// Returns the values of a field that are neither null nor empty. An absent argument has its default.
fn values<'a>(
    parameters: &'a Value,
    arguments: Node<'a>,
    field: &str,
) -> Result<Vec<Node<'a>>, TargetError> {
    let mut found = Vec::new();
    match argument(parameters, arguments, field)? {
        Some(value) => collect(value, &[], field, &mut found)?,
        None => collect(
            arguments,
            &strip_lists(field).split('.').collect::<Vec<_>>(),
            field,
            &mut found,
        )?,
    }
    Ok(found)
}

fn collect<'a>(
    value: Node<'a>,
    path: &[&str],
    field: &str,
    found: &mut Vec<Node<'a>>,
) -> Result<(), TargetError> {
    match (value.kind(), path.split_first()) {
        (Kind::Null, _) => {}
        (Kind::Array, _) => {
            for element in value.elements() {
                collect(element, path, field, found)?;
            }
        }
        (Kind::Object, Some((first, rest))) => {
            if let Some(value) = value.get(first) {
                collect(value, rest, field, found)?;
            }
        }
        (Kind::Object, None) if value.members().len() == 0 => {}
        (Kind::String(""), _) => {}
        // A text where the template expects an object has another form, which hides its targets.
        (_, Some(_)) => {
            return Err(TargetError::NotScalar {
                field: field.to_owned(),
                found: "a single value",
            });
        }
        (_, None) if found.len() == Effects::MAX_TARGETS => {
            return Err(TargetError::TooMany {
                template: field.to_owned(),
            });
        }
        (_, None) => found.push(value),
    }
    Ok(())
}

fn has_address(value: Node<'_>, path: &str, name: &str, named: &[String]) -> bool {
    match value.kind() {
        Kind::Array => value
            .elements()
            .any(|element| has_address(element, path, name, named)),
        Kind::Object => value.members().any(|(name, value)| {
            let path = if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            };
            is_address(name, "") || has_address(value, &path, name, named)
        }),
        Kind::String(text) if !named.iter().any(|named| named == path) => {
            let text = text.trim();
            // A list or an object may come as its JSON.
            let json = text
                .starts_with(['{', '['])
                .then(|| serde_json::from_str::<Value>(text).ok())
                .flatten();
            match json {
                Some(json) => has_address((&json).into(), path, name, named),
                None => is_address(text, name),
            }
        }
        _ => false,
    }
}

/// Returns true if a text is an address, a URL or a path: by its form, or by a form that may be one and the name of its argument.
fn is_address(text: &str, name: &str) -> bool {
    let is_place =
        is_place(name) && (text.contains(AT) || text.contains(['/', '\\', '.', ':', '+']));
    is_place
        || is_url(text)
        || is_path(text)
        || text.split([',', ';']).any(is_mail)
        || is_phone(text)
}

fn is_url(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let has_scheme = lower.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_lowercase())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    });
    has_scheme
        || ["mailto:", "www.", "data:", "//"]
            .iter()
            .any(|start| lower.starts_with(start))
}

fn is_path(text: &str) -> bool {
    let mut start = text.chars();
    let is_drive = start.next().is_some_and(|c| c.is_ascii_alphabetic())
        && start.next() == Some(':')
        && matches!(start.next(), Some('\\' | '/'));
    let starts = ["/", "~/", "./", "../", "\\\\", ".\\", "..\\"]
        .iter()
        .any(|start| text.starts_with(start));
    !text.contains('\n') && (is_drive || starts || text.contains("/../") || text.contains("\\..\\"))
}

/// Returns true for `a@b.c`, `A <a@b.c>` and several addresses with spaces between them.
fn is_mail(text: &str) -> bool {
    let text = text.trim();
    match text
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once('<'))
    {
        Some((_, inner)) => is_mail_address(inner),
        None => !text.is_empty() && text.split_whitespace().all(is_mail_address),
    }
}

fn is_mail_address(word: &str) -> bool {
    word.split_once(AT).is_some_and(|(user, host)| {
        !user.is_empty()
            && host.len() > 1
            && !word.contains(['(', ')', '='])
            && !word.contains(char::is_whitespace)
    })
}

fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.starts_with('+')
        && digits >= 7
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || "+ ()-./".contains(c))
}

/// Returns the words of a name in lower case: those of `replyTo` and of `reply_to` are `reply` and `to`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || c.is_uppercase() && was_lower;
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        if starts {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

impl Template {
    /// Returns true if a default can be part of a target, or makes none because it is null or empty.
    pub(super) fn accepts_or_skips(
        &self,
        field: &str,
        default: Node<'_>,
    ) -> Result<(), TargetError> {
        let mut found = Vec::new();
        collect(default, &[], field, &mut found)?;
        found
            .into_iter()
            .try_for_each(|value| self.accepts(field, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_its_form_or_by_its_name_and_form() {
        for (text, name) in [
            ("evil@x.y", "note"),
            ("Evil <evil@x.y>", "note"),
            ("team, evil@x.y", "note"),
            ("a@b.c evil@x.y", "note"),
            ("evil@localhost", "note"),
            ("evil\u{ff20}x.y", "note"),
            ("https://x.y/?q=1", "note"),
            ("HTTP://x.y", "note"),
            ("mailto:evil@x.y", "note"),
            ("www.x.y", "note"),
            ("//x.y/a", "note"),
            ("/etc/passwd", "note"),
            ("~/.ssh/id", "note"),
            ("../up", "note"),
            ("C:\\Users", "note"),
            ("\\\\host\\share", "note"),
            ("+49 123 4567890", "note"),
            ("x.y", "webhook"),
            ("notes/a.txt", "outputPath"),
            ("10.0.0.1:80", "target_host"),
            ("a.txt", "file_name"),
        ] {
            assert!(is_address(text, name), "{text} {name}");
        }
        assert!(is_address(&"a@b.c, ".repeat(1000), "note"));
        for (text, name) in [
            ("", "to"),
            ("Hello, please write to a@b.c soon", "body"),
            ("Yours\nA. Person\na@b.c", "body"),
            ("See https://x.y", "body"),
            ("kind/bug", "labels"),
            ("owner/repo", "repository"),
            ("1.2.3", "version"),
            ("a title", "title"),
            ("main", "path"),
            ("12345678", "id"),
            ("total", "tofu"),
        ] {
            assert!(!is_address(text, name), "{text} {name}");
        }
    }
}
