//! Mutations and equal encodings of a pinned definition.

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Map, Number, Value, json};
use tools::{Tool, ToolName};
use tools_mcp::client::{Review, ServerTool};
use tools_mcp::config::ServerSettings;
use tools_mcp::trust::Pins;

/// The number of cases of each test and field.
const CASES: u32 = 1000;

fn definition() -> Value {
    json!({
        "name": "create issue",
        "title": "Create an issue",
        "description": "Creates an issue.\nIt is \"open\" \u{2028}at first: \u{e9}\u{1f600}.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 1, "maxLength": 256.0, "description": "The title."},
                "labels": {"type": "array", "items": {"enum": ["bug", "idea", 1, 1.5, null, true]}, "default": []},
                "weight": {"type": "number", "minimum": -1e3, "maximum": 9_007_199_254_740_993_i64, "multipleOf": 0.1},
            },
            "required": ["title"],
            "additionalProperties": false,
        },
        "outputSchema": {"type": "object", "properties": {"number": {"type": "integer", "minimum": 0}}},
        "annotations": {"title": "Create", "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true},
        "icons": [{"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}],
    })
}

fn pinned(folder: &tempfile::TempDir) -> Pins {
    let pins = Pins::open(
        folder.path().join("s.lock"),
        "s".parse().unwrap(),
        ServerSettings::default(),
    )
    .unwrap();
    let _tool = review(&pins, &definition().to_string()).unwrap();
    pins.end_list(false);
    assert!(review(&pins, &definition().to_string()).is_ok());
    pins
}

/// Returns the outcome of a listed definition, at the list and at a call.
fn review(pins: &Pins, text: &str) -> Result<Tool, String> {
    // An import refuses a malformed definition.
    let definition = ServerTool::from_json(serde_json::from_str(text).unwrap())
        .map_err(|error| error.to_string())?;
    let name: ToolName = format!(
        "mcp:s/{}",
        ToolName::from_foreign(definition.name()).unwrap()
    )
    .parse()
    .unwrap();
    let tool = Tool::new(&name, "Does it.", json!({"type": "object"})).unwrap();
    let reviewed = pins.review(&definition, tool);
    if pins.is_pinned() {
        assert_eq!(
            pins.check(&name, &definition.digest()).is_ok(),
            reviewed.is_ok(),
            "{text}"
        );
    }
    reviewed
}

/// Changes one place of a value, chosen by the numbers, so that the value is another one.
fn mutate(value: &mut Value, choose: &mut impl FnMut(usize) -> usize, may_add: bool) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(choose(fields.len())).unwrap().clone();
            match choose(if may_add { 5 } else { 1 }) {
                1 => drop(fields.remove(&key)),
                2 => {
                    let moved = fields.remove(&key).unwrap();
                    fields.insert(mutated_text(&key, choose), moved);
                }
                3 => drop(fields.insert(mutated_text(&key, choose), Value::Null)),
                _ => mutate(&mut fields[&key], choose, may_add),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = choose(items.len());
            match choose(if may_add { 4 } else { 1 }) {
                1 => drop(items.remove(index)),
                2 => items.insert(index, json!("inserted")),
                _ => mutate(&mut items[index], choose, may_add),
            }
        }
        Value::String(text) => *text = mutated_text(text, choose),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => {
            let steps = [1.0, -1.0, 0.5, 1e-3, 1e6];
            let other = number.as_f64().unwrap() + steps[choose(steps.len())];
            *number = match number.as_i64() {
                Some(integer) if choose(2) == 0 => (integer + 1).into(),
                Some(integer) if integer.unsigned_abs() > 1 << 53 => (integer - 1).into(),
                _ => Number::from_f64(other).unwrap(),
            };
        }
        Value::Null => *value = json!(false),
        Value::Object(_) => *value = json!({"added": 1}),
        Value::Array(_) => *value = json!(["added"]),
    }
}

fn mutated_text(text: &str, choose: &mut impl FnMut(usize) -> usize) -> String {
    let mut characters: Vec<_> = text.chars().collect();
    let at = choose(characters.len() + 1);
    let added = [
        'x',
        ' ',
        '\n',
        '\u{200b}',
        '\u{202e}',
        '\u{0}',
        '\\',
        '\u{e9}',
        '\u{301}',
        '\u{1f600}',
    ];
    match choose(3) {
        0 if at < characters.len() => drop(characters.remove(at)),
        1 if at < characters.len() => {
            characters[at] = if characters[at] == 'y' { 'z' } else { 'y' }
        }
        _ => characters.insert(at, added[choose(added.len())]),
    }
    characters.into_iter().collect()
}

fn choices(numbers: &[prop::sample::Index]) -> impl FnMut(usize) -> usize {
    let mut numbers = numbers.iter();
    move |most| numbers.next().map_or(0, |number| number.index(most))
}

#[test]
fn every_mutation_of_a_pinned_definition_is_blocked() {
    let folder = tempfile::tempdir().unwrap();
    let pins = pinned(&folder);
    for field in [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "icons",
    ] {
        let numbers = prop::collection::vec(any::<prop::sample::Index>(), 64);
        let mut runner = TestRunner::new(ProptestConfig::with_cases(CASES));
        let outcome = runner.run(&numbers, |numbers| {
            let mut changed = definition();
            let has_any_field = field.ends_with("Schema");
            mutate(&mut changed[field], &mut choices(&numbers), has_any_field);
            prop_assert_ne!(&changed, &definition());
            match review(&pins, &changed.to_string()) {
                Ok(_) => Err(TestCaseError::fail(format!(
                    "not blocked: {}",
                    changed[field]
                ))),
                Err(_) => Ok(()),
            }
        });
        outcome.unwrap_or_else(|error| panic!("{field}: {error}"));
    }
    for field in [
        "title",
        "description",
        "outputSchema",
        "annotations",
        "icons",
    ] {
        let mut changed = definition();
        changed.as_object_mut().unwrap().remove(field);
        assert!(review(&pins, &changed.to_string()).is_err(), "{field}");
    }
}

/// Writes a value in another way: other white space, order of keys, escapes and spelling of numbers.
fn encode(value: &Value, choose: &mut impl FnMut(usize) -> usize, out: &mut String) {
    let spaces = ["", " ", "\n\t", "\r\n  "];
    *out += spaces[choose(4)];
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            for index in (1..fields.len()).rev() {
                fields.swap(index, choose(index + 1));
            }
            encode_all(('{', '}'), fields.len(), out, |index, out| {
                encode(&json!(fields[index].0), choose, out);
                *out += spaces[choose(4)];
                out.push(':');
                encode(fields[index].1, choose, out);
            });
        }
        Value::Array(items) => {
            encode_all(('[', ']'), items.len(), out, |index, out| {
                encode(&items[index], choose, out)
            });
        }
        Value::String(text) => {
            out.push('"');
            for c in text.chars() {
                let must = c < ' ' || c == '"' || c == '\\';
                if must || choose(3) == 0 {
                    let mut units = [0; 2];
                    c.encode_utf16(&mut units)
                        .iter()
                        .for_each(|unit| *out += &format!("\\u{unit:04X}"));
                } else {
                    out.push(c);
                }
            }
            out.push('"');
        }
        Value::Number(number) => *out += &encode_number(number, choose),
        other => *out += &other.to_string(),
    }
    *out += spaces[choose(4)];
}

fn encode_all(
    (open, close): (char, char),
    count: usize,
    out: &mut String,
    mut item: impl FnMut(usize, &mut String),
) {
    out.push(open);
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        item(index, out);
    }
    out.push(close);
}

fn encode_number(number: &Number, choose: &mut impl FnMut(usize) -> usize) -> String {
    let value = number.as_f64().unwrap();
    match number
        .as_i64()
        .or_else(|| (value.fract() == 0.0).then_some(value as i64))
    {
        // A float has no room for more digits.
        Some(integer) if integer.unsigned_abs() > 1 << 53 => integer.to_string(),
        Some(integer) => match choose(5) {
            0 => format!("{integer}.0"),
            1 => format!("{integer}e0"),
            2 if integer != 0 => format!("{integer}000E-3"),
            3 => format!("{integer}.000e+00"),
            _ => integer.to_string(),
        },
        None => [
            format!("{value}"),
            format!("{value}00"),
            format!("{value}e0"),
            format!("{value:e}"),
        ][choose(4)]
        .clone(),
    }
}

#[test]
fn no_equal_encoding_of_a_pinned_definition_is_blocked() {
    let folder = tempfile::tempdir().unwrap();
    let pins = pinned(&folder);
    let numbers = prop::collection::vec(any::<prop::sample::Index>(), 1000);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(CASES));
    let outcome = runner.run(&numbers, |numbers| {
        let mut text = String::new();
        encode(&definition(), &mut choices(&numbers), &mut text);
        prop_assert!(review(&pins, &text).is_ok(), "{}", text);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn fields_that_reach_nobody_are_not_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let pins = pinned(&folder);
    let mut more = definition();
    let fields: Map<_, _> = [
        ("_meta".to_owned(), json!({"time": 1})),
        ("x-other".to_owned(), json!(1)),
    ]
    .into_iter()
    .collect();
    more.as_object_mut().unwrap().extend(fields);
    assert!(review(&pins, &more.to_string()).is_ok());
}
