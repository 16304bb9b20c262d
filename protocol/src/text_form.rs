//! Conversions for types that serialize as their text (serde's `try_from` and `into`).

/// Implements `TryFrom<String>`, `From<…> for String` and `Debug` for a type with `FromStr` and `Display`.
macro_rules! text_form {
    ($type:ident, $error:ty) => {
        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($type), "({})"), self)
            }
        }
    };
}

pub(crate) use text_form;
