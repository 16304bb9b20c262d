//! Makes a set of keys from their declarations.

/// Declares a set of keys: a struct with the value of each, and documentation, field, slot and [`Key`](crate::settings::Key) of each.
///
/// ```
/// use host::settings::{FlagValue::Named, Key, ProjectRule, Setting, declare_keys, non_blank, text};
///
/// declare_keys! {
///     /// The keys of the table `[lamp]`.
///     pub struct LampKeys;
///
///     /// The room of the lamp that is switched without a name
///     pub room: Option<Setting<String>> = Key::new("lamp.room", text(non_blank), None, "\"kitchen\"")
///         .with_flag("--lamp-room", Named("ROOM"))
///         .with_project(ProjectRule::if_unset());
/// }
///
/// assert!(LampKeys::default().room.is_none());
/// ```
#[macro_export]
macro_rules! declare_keys {
    (
        $(#[doc = $about:literal])+ $visibility:vis struct $keys:ident;
        $($(#[doc = $doc:literal])+ $field_visibility:vis $field:ident: $slot:ty = $key:expr;)+
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        $visibility struct $keys {
            $($(#[doc = $doc])+ $field_visibility $field: $slot,)+
        }

        // Methods have no effect on the names that the keys use.
        const _: () = {
            struct Declared;

            impl Declared {
                $(fn $field() -> $crate::settings::Key<$slot> {
                    $key.with_doc(concat!($($doc),+))
                })+
            }

            impl ::core::default::Default for $keys {
                fn default() -> Self {
                    Self { $($field: Declared::$field().default,)+ }
                }
            }

            impl $crate::settings::KeySet for $keys {
                fn unset() -> &'static Self {
                    static UNSET: $crate::settings::Lazy<$keys> = $crate::settings::Lazy::new(<$keys>::default);
                    &UNSET
                }

                fn keys(&self) -> Vec<Box<dyn $crate::settings::AnyKey>> {
                    vec![$(Box::new(Declared::$field())),+]
                }

                fn slots(&self) -> Vec<&dyn $crate::settings::AnySlot> {
                    vec![$(&self.$field),+]
                }

                fn slots_mut(&mut self) -> Vec<&mut dyn $crate::settings::AnySlot> {
                    vec![$(&mut self.$field),+]
                }

                fn clone_box(&self) -> Box<dyn $crate::settings::KeySet> {
                    Box::new(self.clone())
                }
            }
        };
    };
}
