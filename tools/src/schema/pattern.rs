//! Untrusted regular expressions on untrusted strings.
//!
//! `jsonschema` supports look-around and back-references, and a limit on backtracking does not bound their cost:
//! `^(?:(?=[^b]*$)a)*` takes seconds for 64 KiB, and a thousand seconds for a MiB. Therefore the cost of each match is estimated and
//! taken from a budget for the whole check.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::{FancyRegex, Keyword, PatternOptions, ValidationError};
use protocol::json::Node;
use serde_json::{Value, json};

use super::instance::Instance;
use super::{SchemaError, deadline, phrase};

/// The budget for all matches of one check, in worst-case nanoseconds.
pub(super) const MATCH_BUDGET: u64 = 2_000_000_000;
/// The smallest budget, even just before a deadline: most matches cost far less than the worst case.
const MIN_MATCH_BUDGET: u64 = 50_000_000;
/// The backtracking limit of one match.
const MOST_BACKTRACKS: usize = 10_000;
/// The size limit of a compiled pattern, in bytes, for a schema with at most [`FEW`] patterns.
const LARGE_PROGRAM: usize = 10 << 20;
/// The size limit of a compiled pattern, in bytes, for a schema with more than [`FEW`] patterns.
const SMALL_PROGRAM: usize = 1 << 20;
const FEW: usize = 16;

thread_local! {
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Runs `work` with the budget for one check, which a near [deadline] reduces to the remaining time.
///
/// Returns `None` if the budget was exceeded. Further matches then failed untried, so the result of `work` is wrong.
pub(super) fn with_match_budget<T>(work: impl FnOnce() -> T) -> Option<T> {
    let budget = deadline::time_left().map_or(MATCH_BUDGET, |left| {
        let left = left.as_nanos().try_into().unwrap_or(MATCH_BUDGET);
        left.clamp(MIN_MATCH_BUDGET, MATCH_BUDGET)
    });
    LEFT.set(Some(budget));
    let result = work();
    let is_paid = LEFT.take().is_some();
    if !is_paid && budget < MATCH_BUDGET {
        // The budget was cut to the time that is left, so the call is late and its strings are not at fault.
        deadline::pass();
    }
    is_paid.then_some(result)
}

/// The regular expressions of a schema, compiled once each.
#[derive(Clone, Default)]
pub(super) struct Patterns(Arc<HashMap<String, Arc<Pattern>>>);

/// Returns the limits for the patterns that `jsonschema` compiles, for a schema with `count` of them.
pub(super) fn options(count: usize) -> PatternOptions<FancyRegex> {
    let size = if count > FEW {
        SMALL_PROGRAM
    } else {
        LARGE_PROGRAM
    };
    PatternOptions::fancy_regex()
        .backtrack_limit(MOST_BACKTRACKS)
        .size_limit(size)
}

impl Patterns {
    /// Compiles the patterns of a schema with `count` regular expressions in total.
    pub(super) fn compile(patterns: &[String], count: usize) -> Result<Self, SchemaError> {
        let compiled = patterns
            .iter()
            .map(|text| Ok((text.clone(), Arc::new(Pattern::compile(text, count)?))));
        compiled
            .collect::<Result<_, SchemaError>>()
            .map(|map| Self(Arc::new(map)))
    }

    /// Implements the keyword `pattern`.
    pub(super) fn keyword(
        &self,
        value: &Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i, Instance>>, ValidationError<'static>> {
        let found = value.as_str().and_then(|text| self.0.get(text));
        match found {
            Some(pattern) => Ok(Box::new(SharedPattern(pattern.clone()))),
            None => Err(ValidationError::custom(
                "a pattern that was inspected before",
            )),
        }
    }
}

struct Pattern {
    cost: Cost,
    expected: String,
    /// A validator for `{"pattern": …}`, because `jsonschema` does not expose its regex engine.
    validator: jsonschema::Validator<Instance>,
}

impl Pattern {
    fn compile(text: &str, count: usize) -> Result<Self, SchemaError> {
        let validator = jsonschema::options_for::<Instance>()
            .offline()
            .with_pattern_options(options(count))
            .build(&json!({ "pattern": text }))
            .map_err(|_| SchemaError::Pattern {
                pattern: phrase::quote(text, 128),
            })?;
        let expected = format!(
            "a string that matches the pattern {}",
            phrase::quote(text, 200)
        );
        Ok(Self {
            cost: Cost::from_pattern(text),
            expected,
            validator,
        })
    }

    fn accepts(&self, value: Node<'_>) -> bool {
        let Some(text) = value.as_str() else {
            return true;
        };
        // An exceeded or missing budget fails the match untried.
        let left = LEFT
            .get()
            .and_then(|left| left.checked_sub(self.cost.for_length(text.len())));
        LEFT.set(left);
        if left.is_none() {
            return false;
        }
        match self
            .validator
            .validate(value)
            .map_err(|error| error.into_parts().kind)
        {
            Ok(()) => true,
            Err(jsonschema::error::ValidationErrorKind::Pattern { .. }) => false,
            Err(_) => {
                LEFT.set(None);
                false
            }
        }
    }
}

struct SharedPattern(Arc<Pattern>);

impl<'i> Keyword<'i, Instance> for SharedPattern {
    fn validate(&self, value: Node<'i>) -> Result<(), ValidationError<'i>> {
        if self.0.accepts(value) {
            Ok(())
        } else {
            Err(ValidationError::custom(self.0.expected.clone()))
        }
    }

    fn is_valid(&self, value: Node<'i>) -> bool {
        self.0.accepts(value)
    }
}

/// An estimate of the worst-case cost of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// The states of the automaton, which bound the cost of one character.
    states: u64,
    /// The nesting depth of look-around and back-references. 0 means that matching is linear.
    looks: u32,
}

impl Cost {
    /// Estimates the cost from the pattern's text. An invalid pattern also gets a cost.
    pub(super) fn from_pattern(pattern: &str) -> Self {
        /// An open group: its states so far, and those of its last piece, which a repetition count multiplies.
        #[derive(Default)]
        struct Group {
            states: u64,
            last: u64,
            is_look: bool,
        }
        let mut groups = vec![Group::default()];
        let mut looks = 0u32;
        let mut open_looks = 0u32;
        let mut rest = pattern;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            let mut piece = 1;
            match character {
                '(' => {
                    let is_look = ["?=", "?!", "?<=", "?<!", "?>", "?("]
                        .iter()
                        .any(|start| rest.starts_with(start));
                    open_looks += u32::from(is_look);
                    looks = looks.max(open_looks);
                    groups.push(Group {
                        is_look,
                        ..Group::default()
                    });
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
                        group.states = group
                            .states
                            .saturating_add(group.last.saturating_mul(count));
                    }
                    continue;
                }
                '\\' => {
                    let escaped = rest.chars().next().unwrap_or(' ');
                    rest = &rest[escaped.len_utf8().min(rest.len())..];
                    match escaped {
                        '1'..='9' | 'k' => looks = looks.max(open_looks + 1),
                        // A class of Unicode compiles to many ranges.
                        'p' | 'P' => piece = 100,
                        _ => {}
                    }
                }
                '[' => {
                    let length = class_length(rest);
                    piece = if rest[..length].contains("\\p") {
                        200
                    } else {
                        1
                    };
                    rest = &rest[length..];
                }
                _ => {}
            }
            if let Some(group) = groups.last_mut() {
                group.states = group.states.saturating_add(piece);
                group.last = piece;
            }
        }
        let states = groups
            .iter()
            .fold(1, |sum: u64, group| sum.saturating_add(group.states));
        Self { states, looks }
    }

    /// Returns the cost for a string of `length` bytes, in nanoseconds.
    pub(super) fn for_length(self, length: usize) -> u64 {
        let length = length as u64;
        // Even on a short string a match may backtrack up to the limit.
        let start = if self.looks == 0 { 10 } else { 50_000 };
        self.states
            .saturating_mul(length.saturating_pow(self.looks.saturating_add(1)))
            .saturating_add(start)
    }
}

/// Reads a counted repetition after its `{`. Returns its highest number and its length including the `}`.
fn highest_count(text: &str) -> (u64, usize) {
    let length = text.find('}').map_or(text.len(), |end| end + 1);
    let numbers = text[..length].split(|character: char| !character.is_ascii_digit());
    let count = numbers
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .max();
    (count.unwrap_or(1), length)
}

/// Returns the length of a character class after its `[`, including the `]`.
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

    /// Checks a string against a pattern.
    fn check(pattern: &str, text: &str) -> Result<(), String> {
        let validator = Compiled::new(&json!({ "pattern": pattern })).expect("a pattern");
        validator
            .check(&json!(text))
            .map_err(|violations| violations[0].to_string())
    }

    #[test]
    fn hostile_patterns_stop() {
        let long = "a".repeat(1_000_000);
        for pattern in [
            "^(?:(?=[^b]*$)a)*$",
            "(?=.*b)c",
            "^(a*)*\\1b$",
            "^(?=(?:(?=.*b)a)*)b",
        ] {
            let refusal = check(pattern, &long).unwrap_err();
            assert!(refusal.contains("take too long"), "{refusal}");
        }
        let refusal = check("^(?:(?=a)a|a)+$", &format!("{}b", "a".repeat(40))).unwrap_err();
        assert!(refusal.contains("take too long"), "{refusal}");
        assert!(
            check("(a+)+$", &format!("{long}b"))
                .unwrap_err()
                .contains("matches the pattern")
        );
    }

    #[test]
    fn an_untried_match_does_not_satisfy_not() {
        let validator = Compiled::new(&json!({"not": {"pattern": "^(?:(?=[^b]*$)a)*$"}})).unwrap();
        assert!(validator.check(&json!("a".repeat(1_000_000))).is_err());
    }

    #[test]
    fn long_strings_pass_plain_patterns() {
        let base64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
        assert_eq!(check(base64, &"QUJD".repeat(250_000)), Ok(()));
        assert_eq!(
            check("^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{8,}$", "Passw0rd"),
            Ok(())
        );
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
            let error = Compiled::new(&json!({ "pattern": pattern }))
                .err()
                .expect("a refusal");
            assert!(
                matches!(&error, SchemaError::Pattern { pattern: named } if named.contains(pattern)),
                "{error}"
            );
        }
    }

    #[test]
    fn names_of_properties_cost_too() {
        let validator =
            Compiled::new(&json!({"patternProperties": {"^(?:(?=[^b]*$)a)*$": true}})).unwrap();
        assert_eq!(validator.check(&json!({"aaa": 1})), Ok(()));
        assert!(validator.check(&json!({"a".repeat(1_000_000): 1})).is_err());
    }

    #[test]
    fn costs_follow_groups_counts_and_looks() {
        let cost = |pattern| {
            (
                Cost::from_pattern(pattern).states,
                Cost::from_pattern(pattern).looks,
            )
        };
        assert_eq!(cost("abc"), (4, 0));
        assert_eq!(cost("(?:ab){1,10}").1, 0);
        assert!(cost("(?:[01]{0,100}1){100}").0 > 10_000);
        assert_eq!(cost("(?=a)(?!b)").1, 1);
        assert_eq!(cost("(?=a(?<!b))").1, 2);
        assert_eq!(cost("(?<name>a)[(?=]\\(?=").1, 0);
    }
}
