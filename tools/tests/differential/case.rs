//! Texts of valid arguments, nearly valid arguments, and invalid JSON.

use proptest::prelude::Rng as _;
use proptest::test_runner::TestRng;
use serde_json::Value;

/// Numbers at the limits of Rust's types, in JSON's spellings.
const NUMBERS: &str = "0 -0 -0.0 1 -1 1.0 2.0 -3.0 1e0 1E2 1.5 0.1 255 255.0 256 65536.0 2147483648 16777217 9007199254740991.0 \
    9007199254740992.0 9007199254740993 9007199254740993.0 -9007199254740993 9223372036854775807 \
    9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616 \
    18446744073709551617 -18446744073709551617 340282366920938463463374607431768211455 \
    340282366920938463463374607431768211456 -170141183460469231731687303715884105728 1e19 3.5e38 1e300 -1e300 \
    5e-324 123456789012345678901234567890123456789012345678901234567890";

const STRINGS: [&str; 14] = [
    "",
    "a",
    "b",
    "red",
    "Green",
    "7",
    "-7",
    "1.0",
    "true",
    "é",
    "x\u{1f600}",
    "\"\\\n",
    "18446744073709551616",
    "kind",
];

/// A JSON text that can be changed: numbers keep their spelling, and an object may have a key twice.
#[derive(Clone, Debug)]
enum Json {
    /// A number, a word or a string, as it is written.
    Scalar(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn from_value(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::Array(items.iter().map(Self::from_value).collect()),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(key, member)| (key.clone(), Self::from_value(member)))
                    .collect(),
            ),
            scalar => Self::Scalar(scalar.to_string()),
        }
    }

    /// Writes floats that stand for an integer of at most 2^53 - 1 as that integer.
    fn replace_integral_floats(&mut self) {
        match self {
            Self::Scalar(text) => {
                let float = text
                    .parse::<f64>()
                    .ok()
                    .filter(|_| text.contains(['.', 'e', 'E']) || text == "-0");
                if let Some(float) = float
                    .filter(|float| float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0)
                {
                    *text = (float as i64).to_string();
                }
            }
            Self::Array(items) => items.iter_mut().for_each(Self::replace_integral_floats),
            Self::Object(members) => members
                .iter_mut()
                .for_each(|(_, member)| member.replace_integral_floats()),
        }
    }
}

/// The arguments of a case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) text: String,
    /// `text` with each integral float written as an integer, such as `1.0` as `1`.
    pub(crate) with_integers: String,
}

/// Makes cases out of valid arguments, by changing them at random places.
pub(crate) struct Cases {
    rng: TestRng,
}

impl Cases {
    pub(crate) fn new(rng: TestRng) -> Self {
        Self { rng }
    }

    /// Returns the next case: one of the seeds, with up to three changes.
    pub(crate) fn next(&mut self, seeds: &[Value]) -> Case {
        let mut json = Json::from_value(self.pick(seeds));
        for _ in 0..self.below(4) {
            let depth = self.below(4);
            self.change(&mut json, depth);
        }
        let (mut text, mut with_integers) = (String::new(), String::new());
        self.write(&json, &mut text, true);
        json.replace_integral_floats();
        self.write(&json, &mut with_integers, false);
        if self.below(50) == 0 {
            let end = (0..=self.below(text.len() + 1))
                .rfind(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            text.truncate(end);
        }
        Case {
            text,
            with_integers,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.rng.next_u64() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let index = self.below(list.len());
        &list[index]
    }

    /// Changes the value, or one that lies up to `depth` levels inside of it.
    fn change(&mut self, json: &mut Json, depth: usize) {
        match json {
            Json::Array(items) if depth > 0 && !items.is_empty() => {
                let index = self.below(items.len());
                self.change(&mut items[index], depth - 1);
            }
            Json::Object(members) if depth > 0 && !members.is_empty() => {
                let index = self.below(members.len());
                self.change(&mut members[index].1, depth - 1);
            }
            Json::Object(members) if self.below(4) > 0 => self.change_members(members),
            Json::Array(items) if self.below(4) > 0 => match self.below(3) {
                0 => drop(items.pop()),
                1 => items.push(self.scalar()),
                _ => items.extend_from_within(..),
            },
            _ => {
                *json = match self.below(12) {
                    0 => Json::Array(Vec::new()),
                    1 => Json::Object(Vec::new()),
                    2 => Json::Array(vec![json.clone()]),
                    _ => self.scalar(),
                }
            }
        }
    }

    fn change_members(&mut self, members: &mut Vec<(String, Json)>) {
        if members.is_empty() {
            return members.push((self.key(), self.scalar()));
        }
        let index = self.below(members.len());
        match self.below(6) {
            0 => drop(members.remove(index)),
            1 => members.push((self.key(), self.scalar())),
            2 => members[index].0 = self.key(),
            3 if self.below(4) == 0 => {
                let twin = (members[index].0.clone(), self.scalar());
                members.push(twin);
            }
            3 => members.rotate_left(index),
            _ => members[index].1 = self.scalar(),
        }
    }

    fn key(&mut self) -> String {
        (*self.pick(&[
            "a", "b", "n", "kind", "c", "x", "1", "-1", "300", "true", "rest", "value", "Number",
            "é",
        ]))
        .to_owned()
    }

    fn scalar(&mut self) -> Json {
        Json::Scalar(match self.below(8) {
            0 => (*self.pick(&["null", "true", "false"])).to_owned(),
            1 | 2 => Value::from(*self.pick(&STRINGS)).to_string(),
            3 => self.below(300).to_string(),
            _ => {
                let index = self.below(NUMBERS.split(' ').count());
                NUMBERS.split(' ').nth(index).unwrap().to_owned()
            }
        })
    }

    /// Writes the text, sometimes with insignificant blanks and escapes.
    fn write(&mut self, json: &Json, text: &mut String, varied: bool) {
        self.blank(text, varied);
        match json {
            Json::Scalar(scalar) => text.push_str(scalar),
            Json::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    self.write(item, text, varied);
                }
                text.push(']');
            }
            Json::Object(members) => {
                text.push('{');
                for (index, (key, member)) in members.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    self.blank(text, varied);
                    self.write_key(key, text, varied);
                    self.blank(text, varied);
                    text.push(':');
                    self.write(member, text, varied);
                }
                text.push('}');
            }
        }
        self.blank(text, varied);
    }

    fn write_key(&mut self, key: &str, text: &mut String, varied: bool) {
        if !varied || self.below(20) > 0 {
            return text.push_str(&Value::from(key).to_string());
        }
        text.push('"');
        key.encode_utf16()
            .for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        text.push('"');
    }

    fn blank(&mut self, text: &mut String, varied: bool) {
        if varied && self.below(10) == 0 {
            text.push(*self.pick(&[' ', '\n', '\t', '\r']));
        }
    }
}
