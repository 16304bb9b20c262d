//! [`debug_fields!`](crate::debug_fields): `Debug` by some fields of a type.

/// Implements `Debug` by these fields, for a type whose others are secrets, closures or of no interest. A field may have another value.
///
/// ```
/// struct Client {
///     name: &'static str,
///     key: &'static str,
///     sent: Vec<u8>,
/// }
///
/// tools::debug_fields!(self: Client { name, sent = self.sent.len() });
///
/// let client = Client { name: "a", key: "secret", sent: vec![1, 2] };
/// assert_eq!(format!("{client:?}"), r#"Client { name: "a", sent: 2, .. }"#);
/// # assert_eq!(client.key, "secret");
/// ```
#[macro_export]
macro_rules! debug_fields {
    ($this:ident: $name:ident $(<$life:lifetime>)? { $($field:ident $(= $value:expr)?),* }) => {
        impl ::std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&$this, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                $($crate::debug_fields!(@ shown, $this, $field $(, $value)?);)*
                shown.finish_non_exhaustive()
            }
        }
    };
    (@ $shown:ident, $this:ident, $field:ident) => {
        $shown.field(stringify!($field), &$this.$field)
    };
    (@ $shown:ident, $this:ident, $field:ident, $value:expr) => {
        $shown.field(stringify!($field), &$value)
    };
}
