//! Regular expressions of strangers on strings of strangers.
//!
//! `jsonschema` takes patterns with look-around and back-references, and a limit on backtracking does not bound them:
//! `^(?:(?=[^b]*$)a)*` takes seconds for 64 KiB, and a thousand seconds for a MiB. So what a match may cost is estimated and
//! paid from a purse that holds for one check.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jsonschema::{FancyRegex, Keyword, PatternOptions, ValidationError};
use protocol::json::Node;
use serde_json::{Value, json};

use super::instance::Instance;
use super::{SchemaError, deadline, phrase};

/// What the patterns of one check may cost together: nanoseconds in the worst case.
pub(super) const PURSE: u64 = 2_000_000_000;
/// The least that they may cost, however near the deadline is: an estimate of the worst case is far above most matches.
const SMALL_PURSE: u64 = 50_000_000;
/// Times one match may go back and try another way.
const MOST_BACKTRACKS: usize = 10_000;
/// Size of one compiled pattern in bytes, where there are few patterns and where there are many.
const LARGE_PROGRAM: usize = 10 << 20;
const SMALL_PROGRAM: usize = 1 << 20;
const FEW: usize = 16;

thread_local! {
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Runs `work` with a full purse, or, before a near [deadline], with one for the time that is left. Returns `None` if the patterns
/// cost more: `work` then saw matches fail that were never tried.
pub(super) fn within_purse<T>(work: impl FnOnce() -> T) -> Option<T> {
    let nanoseconds = |left: Duration| left.as_nanos().try_into().unwrap_or(PURSE);
    let purse = deadline::left().map_or(PURSE, |left| nanoseconds(left).clamp(SMALL_PURSE, PURSE));
    LEFT.set(Some(purse));
    let result = work();
    let is_paid = LEFT.take().is_some();
    if !is_paid && purse < PURSE {
        deadline::pass();
    }
    is_paid.then_some(result)
}

/// The regular expressions of a schema, compiled once each.
#[derive(Clone, Default)]
pub(super) struct Patterns(Arc<HashMap<String, Arc<Pattern>>>);

/// Limits for the patterns that `jsonschema` compiles itself, where a schema has `count` of them.
pub(super) fn options(count: usize) -> PatternOptions<FancyRegex> {
    let size = if count > FEW { SMALL_PROGRAM } else { LARGE_PROGRAM };
    PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKS).size_limit(size)
}

impl Patterns {
    /// Compiles the patterns of a schema that has `count` regular expressions in all.
    pub(super) fn compile(patterns: &[String], count: usize) -> Result<Self, SchemaError> {
        let compiled = patterns.iter().map(|text| Ok((text.clone(), Arc::new(Pattern::compile(text, count)?))));
        compiled.collect::<Result<_, SchemaError>>().map(|map| Self(Arc::new(map)))
    }

    /// Stands in for the keyword `pattern`.
    pub(super) fn keyword(
        &self,
        value: &Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i, Instance>>, ValidationError<'static>> {
        let found = value.as_str().and_then(|text| self.0.get(text));
        match found {
            Some(pattern) => Ok(Box::new(Shared(pattern.clone()))),
            None => Err(ValidationError::custom("a pattern that was inspected before")),
        }
    }
}

struct Pattern {
    cost: Cost,
    expected: String,
    /// Of the schema `{"pattern": …}`: this is how `jsonschema` lends its engine.
    validator: jsonschema::Validator<Instance>,
}

impl Pattern {
    fn compile(text: &str, count: usize) -> Result<Self, SchemaError> {
        let validator = jsonschema::options_for::<Instance>()
            .offline()
            .with_pattern_options(options(count))
            .build(&json!({ "pattern": text }))
            .map_err(|_| SchemaError::Pattern { pattern: phrase::quote(text, 128) })?;
        let expected = format!("a string that matches the pattern {}", phrase::quote(text, 200));
        Ok(Self { cost: Cost::of(text), expected, validator })
    }

    fn accepts(&self, value: Node<'_>) -> bool {
        let Some(text) = value.as_str() else { return true };
        // Nothing is tried with an empty purse, or without one.
        let left = LEFT.get().and_then(|left| left.checked_sub(self.cost.for_length(text.len())));
        LEFT.set(left);
        if left.is_none() {
            return false;
        }
        match self.validator.validate(value).map_err(|error| error.into_parts().kind) {
            Ok(()) => true,
            Err(jsonschema::error::ValidationErrorKind::Pattern { .. }) => false,
            Err(_) => {
                LEFT.set(None);
                false
            }
        }
    }
}

struct Shared(Arc<Pattern>);

impl<'i> Keyword<'i, Instance> for Shared {
    fn validate(&self, value: Node<'i>) -> Result<(), ValidationError<'i>> {
        if self.0.accepts(value) { Ok(()) } else { Err(ValidationError::custom(self.0.expected.clone())) }
    }

    fn is_valid(&self, value: Node<'i>) -> bool {
        self.0.accepts(value)
    }
}

/// An estimate of what matching a pattern costs, in the worst case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// States of the automaton: what one character may cost.
    states: u64,
    /// How deep look-around and back-references nest; 0 where the pattern has none and matching is linear.
    looks: u32,
}

impl Cost {
    /// Reads a pattern roughly: what is no valid pattern gets some cost, too.
    pub(super) fn of(pattern: &str) -> Self {
        /// A group that is open: its states so far, and those of its last piece, which a count may multiply.
        #[derive(Default)]
        struct Group {
            states: u64,
            last: u64,
            is_look: bool,
        }
        let mut groups = vec![Group::default()];
        let (mut looks, mut open_looks) = (0u32, 0u32);
        let mut rest = pattern;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            let mut piece = 1;
            match character {
                '(' => {
                    let is_look = ["?=", "?!", "?<=", "?<!", "?>", "?("].iter().any(|start| rest.starts_with(start));
                    open_looks += u32::from(is_look);
                    looks = looks.max(open_looks);
                    groups.push(Group { is_look, ..Group::default() });
                    continue;
                }
                ')' if groups.len() > 1 => {
                    let group = groups.pop().unwrap_or_default();
                    open_looks -= u32::from(group.is_look);
                    piece = group.states.saturating_add(1);
                }
                '{' => {
                    let (count, length) = highest_count(rest);
                    rest = &rest[length..];
                    if let Some(group) = groups.last_mut() {
                        group.states = group.states.saturating_add(group.last.saturating_mul(count));
                    }
                    continue;
                }
                '\\' => {
                    let escaped = rest.chars().next().unwrap_or(' ');
                    rest = &rest[escaped.len_utf8().min(rest.len())..];
                    match escaped {
                        '1'..='9' | 'k' => looks = looks.max(open_looks + 1),
                        'p' | 'P' => piece = 100,
                        _ => {}
                    }
                }
                '[' => {
                    let length = class_length(rest);
                    piece = if rest[..length].contains("\\p") { 200 } else { 1 };
                    rest = &rest[length..];
                }
                _ => {}
            }
            if let Some(group) = groups.last_mut() {
                group.states = group.states.saturating_add(piece);
                group.last = piece;
            }
        }
        let states = groups.iter().fold(1, |sum: u64, group| sum.saturating_add(group.states));
        Self { states, looks }
    }

    /// The cost for a string of `length` bytes, in nanoseconds.
    pub(super) fn for_length(self, length: usize) -> u64 {
        let length = length as u64;
        // A match may go back up to the limit, however short the string.
        let start = if self.looks == 0 { 10 } else { 50_000 };
        self.states.saturating_mul(length.saturating_pow(self.looks.saturating_add(1))).saturating_add(start)
    }
}

/// The highest number of a counted repetition after its `{`, and the length of the rest of it with the `}`.
fn highest_count(text: &str) -> (u64, usize) {
    let length = text.find('}').map_or(text.len(), |end| end + 1);
    let numbers = text[..length].split(|character: char| !character.is_ascii_digit());
    let count = numbers.filter(|digits| !digits.is_empty()).map(|digits| digits.parse().unwrap_or(u64::MAX)).max();
    (count.unwrap_or(1), length)
}

/// The length of a character class after its `[`, with the `]`.
fn class_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if index > 0 => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::compiled::Compiled;

    /// Whether a string matches, and that this does not take long.
    fn check(pattern: &str, text: &str) -> Result<(), String> {
        let validator = Compiled::new(&json!({ "pattern": pattern })).expect("a pattern");
        validator.check(&json!(text)).map_err(|violations| violations[0].to_string())
    }

    #[test]
    fn hostile_patterns_stop() {
        let long = "a".repeat(1_000_000);
        for pattern in ["^(?:(?=[^b]*$)a)*$", "(?=.*b)c", "^(a*)*\\1b$", "^(?=(?:(?=.*b)a)*)b"] {
            let refusal = check(pattern, &long).unwrap_err();
            assert!(refusal.contains("take too long"), "{refusal}");
        }
        let refusal = check("^(?:(?=a)a|a)+$", &format!("{}b", "a".repeat(40))).unwrap_err();
        assert!(refusal.contains("take too long"), "{refusal}");
        assert!(check("(a+)+$", &format!("{long}b")).unwrap_err().contains("matches the pattern"));
    }

    #[test]
    fn a_match_that_was_given_up_is_no_match_turned_round() {
        let validator = Compiled::new(&json!({"not": {"pattern": "^(?:(?=[^b]*$)a)*$"}})).unwrap();
        assert!(validator.check(&json!("a".repeat(1_000_000))).is_err());
    }

    #[test]
    fn long_strings_pass_plain_patterns() {
        let base64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
        assert_eq!(check(base64, &"QUJD".repeat(250_000)), Ok(()));
        assert_eq!(check("^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{8,}$", "Passw0rd"), Ok(()));
    }

    #[test]
    fn many_strings_pass_usual_patterns() {
        let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
        let validator = Compiled::new(&json!({"items": {"pattern": uuid}})).unwrap();
        let value = json!(vec!["123e4567-e89b-12d3-a456-426614174000"; 20_000]);
        assert_eq!(validator.check(&value), Ok(()));
    }

    #[test]
    fn patterns_that_do_not_compile_are_named() {
        for pattern in ["(", "[z-a]", "(?:(?:a{1000}){1000}){1000}"] {
            let error = Compiled::new(&json!({ "pattern": pattern })).err().expect("a refusal");
            assert!(matches!(&error, SchemaError::Pattern { pattern: named } if named.contains(pattern)), "{error}");
        }
    }

    #[test]
    fn names_of_properties_cost_too() {
        let validator = Compiled::new(&json!({"patternProperties": {"^(?:(?=[^b]*$)a)*$": true}})).unwrap();
        assert_eq!(validator.check(&json!({"aaa": 1})), Ok(()));
        assert!(validator.check(&json!({"a".repeat(1_000_000): 1})).is_err());
    }

    #[test]
    fn costs_follow_groups_counts_and_looks() {
        let cost = |pattern| (Cost::of(pattern).states, Cost::of(pattern).looks);
        assert_eq!(cost("abc"), (4, 0));
        assert_eq!(cost("(?:ab){1,10}").1, 0);
        assert!(cost("(?:[01]{0,100}1){100}").0 > 10_000);
        assert_eq!(cost("(?=a)(?!b)").1, 1);
        assert_eq!(cost("(?=a(?<!b))").1, 2);
        assert_eq!(cost("(?<name>a)[(?=]\\(?=").1, 0);
    }
}
