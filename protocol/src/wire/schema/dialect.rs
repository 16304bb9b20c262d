//! [`Dialect`]: the part of JSON Schema that a service takes.

/// The part of JSON Schema that a service takes in the parameters of a tool. Rewriting is driven by this data alone.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// True if the service takes every schema as it is, once the root has the type `object`.
    pub is_complete: bool,
    /// The keywords that the service takes. At the root of an incomplete dialect there are no combinators and conditions.
    pub keywords: Keywords,
    /// The references that the service takes below the root.
    pub references: References,
    /// True if a schema may be `true` or `false` where it is not `additionalProperties`.
    pub booleans: bool,
    /// True if an object needs `properties` and an array needs `items`.
    pub containers: bool,
    /// The values of `enum`.
    pub enums: Enums,
    /// The values of `format`. `None` stands for any.
    pub formats: Option<&'static [&'static str]>,
    /// The property keys.
    pub keys: KeyGrammar,
    /// True if all objects are closed and all properties are required.
    pub strict: bool,
}

/// The keywords of a dialect.
#[derive(Clone, Copy, Debug)]
pub enum Keywords {
    /// All but the listed ones.
    AllBut(&'static [&'static str]),
    /// The listed ones.
    Only(&'static [&'static str]),
}

/// The references of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
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
pub enum Enums {
    /// Any JSON value.
    Any,
    /// Strings, numbers, booleans and null.
    Scalars,
    /// Strings and numbers.
    StringsAndNumbers,
}

/// The property keys of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGrammar {
    /// Any key.
    Any,
    /// `^[a-zA-Z0-9_.-]{1,64}$`
    Plain,
    /// `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`
    Identifier,
}

impl Dialect {
    /// Returns true if the service takes the keyword.
    pub fn takes(&self, keyword: &str) -> bool {
        match self.keywords {
            Keywords::AllBut(others) => !others.contains(&keyword),
            Keywords::Only(own) => own.contains(&keyword),
        }
    }
}

impl KeyGrammar {
    /// The maximum length of a key, in characters, unless any is allowed.
    pub(super) const MAX_LENGTH: usize = 64;

    /// Returns true if the grammar allows the key.
    pub fn allows(self, key: &str) -> bool {
        let fits = (1..=Self::MAX_LENGTH).contains(&key.len());
        match self {
            Self::Any => true,
            Self::Plain => fits && key.chars().all(|c| self.has(c)),
            Self::Identifier => {
                fits && key.chars().all(|c| self.has(c)) && !key.starts_with(|c: char| c.is_ascii_digit())
            }
        }
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
