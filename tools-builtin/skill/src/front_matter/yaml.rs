//! Reads a front matter as YAML.

use saphyr_parser::{Event, Parser, ScanError};

use super::{Fault, Value};

/// The maximum number of nodes.
const MAX_EVENTS: usize = 10_000;

/// The maximum number of levels.
const MAX_DEPTH: usize = 32;

/// Reads the fields of a mapping. The parser gives events and expands no alias, so a value is not longer than its text.
///
/// # Errors
/// Returns [`Fault::Yaml`] if the text is not YAML, or not a mapping, or has an alias.
pub(super) fn read(text: &str) -> Result<Vec<(String, Value)>, Fault> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        events: 0,
    };
    let mut top = None;
    while let Some(event) = reader.next()? {
        match event {
            Event::StreamStart
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::StreamEnd
            | Event::Nothing => {}
            _ if top.is_some() => return Err(refuse(1, "it is more than one document")),
            event => top = Some(reader.value(event, 0)?),
        }
    }
    match top {
        None => Ok(Vec::new()),
        Some(Value::Map(fields)) => Ok(fields),
        Some(_) => Err(refuse(1, "it has no fields")),
    }
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    events: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<Event<'a>>, Fault> {
        self.events += 1;
        if self.events > MAX_EVENTS {
            return Err(refuse(1, "it has too many values"));
        }
        match self.parser.next() {
            None => Ok(None),
            Some(Ok((event, _))) => Ok(Some(event)),
            Some(Err(error)) => Err(fault(&error)),
        }
    }

    /// Returns the next event of a document that is not at its end.
    fn require_next(&mut self) -> Result<Event<'a>, Fault> {
        self.next()?.ok_or_else(|| refuse(1, "it ends too early"))
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            return Err(refuse(1, "it has too many levels"));
        }
        match event {
            Event::Scalar(text, ..) => Ok(Value::Text(text.into_owned())),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.require_next()? {
                        Event::SequenceEnd => return Ok(Value::List(items)),
                        event => items.push(self.value(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut fields = Vec::new();
                loop {
                    match self.require_next()? {
                        Event::MappingEnd => return Ok(Value::Map(fields)),
                        Event::Scalar(key, ..) => {
                            let event = self.require_next()?;
                            fields.push((key.into_owned(), self.value(event, depth + 1)?));
                        }
                        _ => return Err(refuse(1, "a key is no text")),
                    }
                }
            }
            Event::Alias(_) => Err(refuse(1, "it has an alias, which is not expanded")),
            _ => Err(refuse(1, "it ends too early")),
        }
    }
}

fn fault(error: &ScanError) -> Fault {
    // The front matter begins in the second line of the file.
    refuse(error.marker().line(), error.info())
}

fn refuse(line: usize, reason: &str) -> Fault {
    Fault::Yaml {
        line: line + 1,
        reason: reason.to_owned(),
    }
}
