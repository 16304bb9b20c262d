//! Convert: checks the arguments against the schema, and reads them leniently if they do not fit but have exactly one reading.
//!
//! The stage precedes *replay*, so that targets, approvals and the journal have the arguments that the tool gets. Arguments that fit the
//! schema never change, except for an absolute path of a file target, which no call may have.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use protocol::{Content, Effects};
use serde_json::Value;

use crate::context::ToolContext;
use crate::entry::Entry;
use crate::input::Input;
use crate::schema::{Reading, quote, read, unescape};
use crate::tool_error::ToolErrorKind;

/// The root of the files that targets of the scheme `fs` name, as a service of a context. An argument with an absolute path below it is
/// read as relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRoot {
    paths: Vec<PathBuf>,
}

impl FileRoot {
    /// Creates the root at an absolute path. Other spellings of it, such as one without links, are found.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let canonical = path
            .canonicalize()
            .ok()
            .filter(|canonical| *canonical != path);
        Self {
            paths: [path].into_iter().chain(canonical).collect(),
        }
    }

    /// Returns the path relative to the root. Returns `None` if it is not below it.
    fn relative(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        let below = self
            .paths
            .iter()
            .find_map(|root| path.strip_prefix(root).ok())?;
        let below = below.to_str()?;
        Some(if below.is_empty() {
            ".".to_owned()
        } else {
            below.to_owned()
        })
    }
}

/// Arguments after the check, with the readings of those that did not fit.
pub(super) struct Converted {
    pub(super) arguments: Input,
    pub(super) checked: Result<(), ToolErrorKind>,
    pub(super) readings: Vec<Reading>,
}

/// Checks the arguments, and reads them again if they do not fit.
pub(super) fn convert(cx: Option<&ToolContext>, entry: &Entry, arguments: Input) -> Converted {
    let checked = entry.check_arguments(&arguments);
    // A `Value` would round integers beyond 64 bits, and the tool would get another number than the model wrote.
    let is_exact = !arguments.json().extent().has_big_integer;
    let misfits = matches!(&checked, Err(ToolErrorKind::InvalidArguments { .. })) && is_exact;
    let mut converted = Converted {
        arguments,
        checked,
        readings: Vec::new(),
    };
    if misfits
        && let Some((value, readings)) = read(&entry.tool().parameters, converted.arguments.value())
    {
        converted.replace(entry, value);
        converted.readings = readings;
    }
    let root = cx
        .filter(|_| is_exact)
        .and_then(ToolContext::service::<FileRoot>);
    if let Some(root) = root
        && let Some(value) = relative_paths(entry, &root, &mut converted)
    {
        converted.replace(entry, value);
    }
    converted
}

impl Converted {
    fn replace(&mut self, entry: &Entry, arguments: Value) {
        self.arguments = Input::new(arguments.into(), entry.has_masked());
        self.checked = entry.check_arguments(&self.arguments);
    }
}

/// Returns the arguments with relative paths in place of absolute ones below the root, where a template of a file has them. Returns `None`
/// if there are none.
fn relative_paths(
    entry: &Entry,
    root: &FileRoot,
    Converted {
        arguments,
        readings,
        ..
    }: &mut Converted,
) -> Option<Value> {
    let mut changed: Option<Value> = None;
    let Effects::Declared(declared) = &entry.tool().effects else {
        return None;
    };
    let templates = declared
        .templates()
        .map(|(_, template)| template)
        .filter(|template| template.scheme() == "fs");
    for field in templates.flat_map(|template| template.fields()) {
        let paths: Vec<_> = match arguments.node().get(field) {
            None => continue,
            Some(node) => match node.as_str() {
                Some(path) => vec![(format!("/{field}"), path)],
                None => node
                    .elements()
                    .enumerate()
                    .filter_map(|(index, path)| Some((format!("/{field}/{index}"), path.as_str()?)))
                    .collect(),
            },
        };
        for (pointer, path) in paths {
            let (written, path) = match path.strip_prefix("file://") {
                Some(path) => ("a file URL", Cow::Owned(unescape(path))),
                None => ("an absolute path", Cow::Borrowed(path)),
            };
            let Some(relative) = root.relative(&path) else {
                continue;
            };
            let arguments = changed.get_or_insert_with(|| arguments.node().to_value());
            if let Some(argument) = arguments
                .pointer_mut(&pointer)
                .filter(|argument| **argument != *relative)
            {
                *argument = relative.into();
                readings.push(Reading {
                    pointer,
                    written,
                    read: Some("relative to the root"),
                });
            }
        }
    }
    changed
}

/// Returns the note about a reading, without a value, because that may be secret.
pub(super) fn note(reading: &Reading, spelled: impl Fn(&str) -> String) -> Content {
    let Reading { written, read, .. } = reading;
    let path = reading.pointer.trim_start_matches('/');
    let (first, rest) = path
        .split_once('/')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let name = match rest {
        _ if first.is_empty() => "the arguments".to_owned(),
        None => quote(&spelled(first), 128),
        Some(rest) => quote(&format!("{}/{rest}", spelled(first)), 128),
    };
    let verb = if first.is_empty() { "were" } else { "was" };
    Content::text(match read {
        Some(read) => {
            format!("note: {name} {verb} {written} and {verb} read as {read}; write it so")
        }
        None => format!(
            "note: {name} was {written} and was left out; leave out arguments without a value"
        ),
    })
}
