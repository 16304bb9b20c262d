//! The intended differences from `serde_json`.

use serde_json::Value;

/// An intended difference between a call and `serde_json` on the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intended {
    /// Text with a duplicate key is refused. `serde_json` takes the last one, or refuses it too.
    Twins,
    /// JSON Schema counts `1.0` as an integer. An integer parameter is given 1, but serde refuses the float.
    IntegralFloat,
    /// An integral float for a type that treats floats differently in its own code: the type is given the integer.
    LenientIntegralFloat,
    /// An integral float beside a `Value`, which keeps the float.
    KeptFloat,
    /// An integer beyond 64 bits is refused if it would be rounded: in a `Value`, and in types that serde buffers (untagged and
    /// internally tagged enums, flattened structs).
    WideInteger,
    /// A number beyond the range of `f32` is refused. serde makes it infinite.
    InfiniteFloat,
    /// A numeric map key may contain escapes. `serde_json` accepts them in a value and refuses them in text.
    EscapedKey,
}

/// Facts about the arguments of a case.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    has_twins: bool,
    has_integral_float: bool,
    has_wide: bool,
    is_beyond_f32: bool,
    has_escapes: bool,
    /// serde's result for the text with integral floats written as integers.
    pub(crate) with_integers: Option<String>,
}

impl Intended {
    /// The differences that every type has.
    pub(crate) const ALWAYS: [Self; 2] = [Self::Twins, Self::IntegralFloat];

    /// Returns true if a difference of this kind can be seen in a case with these facts. `expected` is what serde gives, and
    /// `ran` the arguments that the tool was given.
    pub(crate) fn explains(self, facts: &Facts, expected: Option<&str>, ran: Option<&str>) -> bool {
        let (is_accepted, has_run) = (expected.is_some(), ran.is_some());
        // As an integer, -0 is 0.
        let unsigned = |text: Option<&str>| text.map(|text| text.replace("-0.0", "0.0"));
        let is_of_integers = has_run && unsigned(ran) == unsigned(facts.with_integers.as_deref());
        match self {
            Self::Twins => facts.has_twins && !has_run,
            Self::IntegralFloat => facts.has_integral_float && !is_accepted && is_of_integers,
            Self::LenientIntegralFloat => facts.has_integral_float && is_accepted && is_of_integers,
            Self::KeptFloat => facts.has_integral_float && !is_accepted && has_run,
            Self::WideInteger => facts.has_wide && is_accepted && !has_run,
            Self::InfiniteFloat => facts.is_beyond_f32 && is_accepted && !has_run,
            Self::EscapedKey => facts.has_escapes && !is_accepted && has_run,
        }
    }
}

impl Facts {
    pub(crate) fn of_text(text: &str, value: Option<&Value>, is_strict: bool) -> Self {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let mut words = text.split(|c| !is_number(c));
        let is_wide = |word: &str| {
            word.parse::<i64>().is_err()
                && word.parse::<u64>().is_err()
                && !word.contains(['.', 'e', 'E'])
                && word.len() > 18
        };
        Self {
            has_twins: value.is_some() && !is_strict,
            has_wide: words.any(is_wide),
            has_escapes: text.contains("\\u"),
            ..value.map(Self::of_value).unwrap_or_default()
        }
    }

    pub(crate) fn of_value(value: &Value) -> Self {
        let is_integral =
            |number: f64| number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
        Self {
            has_integral_float: any(value, &|number| {
                number.is_f64() && number.as_f64().is_some_and(is_integral)
            }),
            is_beyond_f32: any(value, &|number| {
                number
                    .as_f64()
                    .is_some_and(|number| (number as f32).is_infinite())
            }),
            ..Self::default()
        }
    }
}

/// Returns true if one of the numbers in a value is such a one.
fn any(value: &Value, is_it: &impl Fn(&serde_json::Number) -> bool) -> bool {
    match value {
        Value::Number(number) => is_it(number),
        Value::Array(items) => items.iter().any(|item| any(item, is_it)),
        Value::Object(members) => members.values().any(|member| any(member, is_it)),
        _ => false,
    }
}
