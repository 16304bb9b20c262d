//! [`Dialect`]: the part of JSON Schema that a service takes.

use crate::word_list::has_word;

/// The part of JSON Schema that a service takes in the parameters of a tool. Rewriting is driven by this data alone.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct Dialect {
    /// True if the service takes every schema whose root has the type `object`.
    pub(in crate::wire) is_complete: bool,
    /// The keywords that the service takes. An incomplete dialect has no conditions, and no combinators at the root.
    pub(in crate::wire) keywords: Keywords,
    /// The references that the service takes below the root.
    pub(in crate::wire) references: References,
    /// True if a schema may be `true` or `false` where it is not `additionalProperties`.
    pub(in crate::wire) booleans: bool,
    /// True if an object needs `properties` and an array needs `items`.
    pub(in crate::wire) containers: bool,
    /// The values of `enum`.
    pub(in crate::wire) enums: Enums,
    /// The values of `format`. `None` allows any.
    pub(in crate::wire) formats: Option<&'static str>,
    /// The regular expressions in `pattern` and `patternProperties`.
    pub(in crate::wire) patterns: Patterns,
    /// The property keys.
    pub(in crate::wire) keys: KeyGrammar,
    /// The rules of strict mode. `None` means that the dialect is not strict.
    pub(in crate::wire) strict: Option<StrictRules>,
}

/// The rules of a strict dialect. All its objects are closed.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct StrictRules {
    /// True if all properties are required. Optional ones may then be null.
    pub(in crate::wire) requires_all: bool,
    /// The largest `minItems`. A larger one is lowered to it. `None` means any.
    pub(in crate::wire) min_items: Option<u64>,
    /// The limits of one schema.
    pub(in crate::wire) limits: Option<SchemaLimits>,
}

/// The largest schema that a strict dialect takes.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct SchemaLimits {
    /// The number of nested objects.
    pub(in crate::wire) levels: usize,
    /// The number of properties in all objects.
    pub(in crate::wire) properties: usize,
    /// The number of values in all `enum`s.
    pub(in crate::wire) enum_values: usize,
    /// The number of characters in all keys, names of definitions and listed values.
    pub(in crate::wire) characters: usize,
}

/// The keywords of a dialect.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) enum Keywords {
    /// All but the listed ones.
    AllBut(&'static str),
    /// The listed ones.
    Only(&'static str),
}

/// The references of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum References {
    /// None.
    None,
    /// References that are the only keyword of their schema, also recursive ones.
    Alone,
    /// References that are the only keyword of their schema, without recursion.
    AloneWithoutRecursion,
    /// References beside other keywords, also recursive ones.
    Any,
}

/// The values that a dialect takes in `enum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Enums {
    /// Any JSON value.
    Any,
    /// Strings, numbers, booleans and null.
    Scalars,
    /// Strings that are not empty, and numbers.
    TextsAndNumbers,
}

/// The regular expressions of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Patterns {
    /// Any.
    Any,
    /// The syntax of engines without backtracking: no lookaround, no reference to a group, no word boundary, no class of Unicode.
    Regular,
    /// Characters, `.`, classes, `\d`, `\w`, `\s`, groups, `*`, `+`, `?`, small `{n,m}` of one character, `^` and `$`.
    Simple,
}

/// The property keys of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum KeyGrammar {
    /// Any key.
    Any,
    /// `^[a-zA-Z0-9_.-]{1,64}$`
    Plain,
    /// `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`
    Identifier,
}

impl Dialect {
    /// Every keyword, in objects with `properties` and arrays with `items`.
    pub(in crate::wire) const PLAIN: Self = Self {
        is_complete: false,
        keywords: Keywords::AllBut(""),
        references: References::Any,
        booleans: false,
        containers: true,
        enums: Enums::Any,
        formats: None,
        patterns: Patterns::Any,
        keys: KeyGrammar::Any,
        strict: None,
    };

    /// Returns true if the service takes the keyword.
    pub(super) fn takes(&self, keyword: &str) -> bool {
        match self.keywords {
            Keywords::AllBut(others) => !has_word(others, keyword),
            Keywords::Only(own) => has_word(own, keyword),
        }
    }
}

impl KeyGrammar {
    /// The maximum length of a key, in characters, unless any is allowed.
    pub(super) const MAX_LENGTH: usize = 64;

    /// Returns true if the grammar allows the key.
    pub(super) fn allows(self, key: &str) -> bool {
        self == Self::Any
            || (1..=Self::MAX_LENGTH).contains(&key.len())
                && key.chars().all(|c| self.has(c))
                && (self != Self::Identifier || !key.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Returns true if a key may have the character after its first.
    pub(super) fn has(self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::Plain => c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'),
            Self::Identifier => c.is_ascii_alphanumeric() || c == '_',
        }
    }
}
