//! [`Secret`]: a string that is never printed.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;

use crate::schema::{MASK, Mask};

/// A string that is never printed, such as a password, key or token. Its memory is overwritten on drop.
///
/// `{}` and `{:?}` print `[secret]`. As an argument of a tool its schema is a `writeOnly` string, which errors, approvals, events,
/// spans and journal records show [masked](crate::Entry::mask). Prefer a service of the [context](crate::ToolContext): a model never
/// sees it.
///
/// ```standalone_crate
/// use tools::{Secret, tool};
///
/// /// Opens the vault.
/// #[tool(pure)]
/// fn open(
///     /// The word that opens it.
///     word: Secret,
/// ) -> Result<String, String> {
///     if word.expose() == "sesame" { Ok("open".to_owned()) } else { Err(format!("{word} is not the word")) }
/// }
///
/// assert_eq!(open(Secret::new("friend")), Err("[secret] is not the word".to_owned()));
/// ```
///
/// A secret cannot be part of a result, because it does not implement `Serialize`:
///
/// ```compile_fail
/// serde_json::to_string(&tools::Secret::new("sesame"));
/// ```
///
/// The string from [`expose`](Self::expose) is not protected: a tool that writes it into a result, an error or a panic reveals it. The
/// arguments that a secret was read from are not overwritten.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Creates a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// Returns the string.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the arguments with each value that the schema marks `writeOnly` replaced by `[secret]`, or unchanged if it marks none.
    ///
    /// Every subschema that may apply counts, even in a branch that does not match. A schema with secrets also masks values that may
    /// be a misplaced secret:
    ///
    /// - a value that no subschema describes, such as a misspelled property;
    /// - a single value in place of an object or array with secrets.
    ///
    /// Property names and `null` are never masked.
    ///
    /// ```
    /// use serde_json::json;
    ///
    /// let schema = json!({"properties": {"user": {"type": "string"}, "key": {"type": "string", "writeOnly": true}}});
    /// let arguments = json!({"user": "ada", "key": "7Yt", "keey": "7Yt"});
    /// assert_eq!(*tools::Secret::mask(&schema, &arguments), json!({"user": "ada", "key": "[secret]", "keey": "[secret]"}));
    /// ```
    pub fn mask<'a>(schema: &Value, arguments: &'a Value) -> Cow<'a, Value> {
        match Mask::from_schema(schema) {
            Some(mask) => Cow::Owned(mask.apply(arguments)),
            None => Cow::Borrowed(arguments),
        }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(MASK)
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "password", "writeOnly": true})
    }
}

impl<'de> Deserialize<'de> for Secret {
    /// Deserializes a string. The error for another type does not quote the value, as serde's would.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer).map(Self::new);
        text.map_err(|_| D::Error::custom("a secret must be a string; write it in quotes"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema_of::schema_of;

    #[test]
    fn no_way_of_formatting_shows_it() {
        let secret = Secret::new("7Yt");
        let shown = format!(
            "{secret} {secret:?} {secret:#?} {secret:>12} {:?}",
            Some((&secret, [secret.clone()]))
        );
        assert_eq!(
            shown,
            "[secret] [secret] [secret]     [secret] Some(([secret], [[secret]]))"
        );
        assert_eq!(secret.expose(), "7Yt");
    }

    #[test]
    fn an_error_does_not_quote_the_value() {
        for value in [
            json!(7041),
            json!(-7041),
            json!(7041.5),
            json!(true),
            json!(["7041"]),
            json!({"7041": "7041"}),
        ] {
            let from_value = serde_json::from_value::<Secret>(value.clone())
                .unwrap_err()
                .to_string();
            let from_text = serde_json::from_str::<Secret>(&value.to_string())
                .unwrap_err()
                .to_string();
            assert!(
                !format!("{from_value} {from_text}").contains("704"),
                "{from_value} {from_text}"
            );
        }
        assert_eq!(
            serde_json::from_str::<Secret>(r#""7\u0059t""#)
                .unwrap()
                .expose(),
            "7Yt"
        );
    }

    #[test]
    fn its_schema_says_that_it_is_only_written() {
        assert_eq!(
            schema_of::<Secret>(),
            json!({"type": "string", "format": "password", "writeOnly": true})
        );
        let optional = schema_of::<Option<Secret>>();
        assert_eq!(optional["writeOnly"], true, "{optional}");
    }
}
