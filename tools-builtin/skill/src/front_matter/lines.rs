//! Reads the lines of a front matter that is not YAML.

use super::Value;

/// Reads the fields of a front matter line by line. A line without indentation that begins with a word and a colon begins a field, and the
/// other lines belong to the field before them.
pub(super) fn read(text: &str) -> Vec<(String, Value)> {
    let mut fields: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with('#') && !line.starts_with([' ', '\t']) {
            continue;
        }
        match (field(line), fields.last_mut()) {
            (Some((key, value)), _) => fields.push((key.to_owned(), vec![value])),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    fields
        .into_iter()
        .map(|(key, lines)| (key, value(&lines)))
        .collect()
}

/// Returns the key and the rest of a line that begins a field.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| (key, value.trim()))
}

/// Returns the value of a field from the rest of its line and the lines below.
fn value(lines: &[&str]) -> Value {
    let (first, below) = lines.split_first().unwrap_or((&"", &[]));
    let mark = first.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    match mark {
        "|" => {
            return Value::Text(
                below
                    .iter()
                    .map(|line| line.trim())
                    .collect::<Vec<_>>()
                    .join("\n")
                    .trim()
                    .to_owned(),
            );
        }
        ">" => return Value::Text(join_lines(below)),
        _ => {}
    }
    let filled = below.iter().map(|line| line.trim());
    let filled: Vec<_> = filled.filter(|line| !line.is_empty()).collect();
    if first.is_empty() && !filled.is_empty() {
        if filled.iter().all(|line| line.starts_with("- ")) {
            return Value::List(
                filled
                    .iter()
                    .map(|line| Value::Text(unquote(line[2..].trim())))
                    .collect(),
            );
        }
        let fields = filled.iter().map(|line| field(line));
        if let Some(fields) = fields.collect::<Option<Vec<_>>>() {
            let fields = fields.into_iter();
            let fields = fields.map(|(key, value)| (key.to_owned(), Value::Text(unquote(value))));
            return Value::Map(fields.collect());
        }
    }
    if let Some(items) = first
        .strip_prefix('[')
        .and_then(|items| items.strip_suffix(']'))
    {
        return Value::List(
            items
                .split(',')
                .map(|item| Value::Text(unquote(item.trim())))
                .collect(),
        );
    }
    Value::Text(unquote(&join_lines(lines)))
}

/// Joins lines to a paragraph.
fn join_lines(lines: &[&str]) -> String {
    lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Removes a pair of quotation marks.
fn unquote(text: &str) -> String {
    for mark in ['"', '\''] {
        if let Some(inner) = text
            .strip_prefix(mark)
            .and_then(|text| text.strip_suffix(mark))
        {
            return inner.replace("\\\"", "\"");
        }
    }
    text.to_owned()
}
