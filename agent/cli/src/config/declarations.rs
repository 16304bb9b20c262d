//! Makes the values of all keys, and the functions over them, from their declarations.

/// Declares the struct with the values of keys, the groups of keys in it that are declared elsewhere, and the keys: documentation,
/// field, slot and [`Key`] of each.
macro_rules! declare_keys {
    (
        $(#[doc = $about:literal])+ $values:ident { $($group:ident: $group_values:ty),* }
        $($(#[doc = $doc:literal])+ $field:ident: $slot:ty = $key:expr;)+
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        pub(crate) struct $values {
            $($(#[doc = $doc])+ pub(crate) $field: $slot,)+
            $(pub(crate) $group: $group_values,)*
        }

        mod declared {
            use super::*;

            $(pub(super) fn $field() -> Key<$slot> {
                $key.with_doc(concat!($($doc),+))
            })+
        }

        impl Default for $values {
            fn default() -> Self {
                Self { $($field: declared::$field().default,)+ $($group: Default::default(),)* }
            }
        }

        impl $values {
            /// Reads the keys of a file, or those of a profile.
            pub(super) fn read(section: &mut Section<'_>, is_profile: bool) -> Result<Self, ConfigError> {
                let mut values = Self::default();
                $(let key = declared::$field();
                if key.about.in_profile || !is_profile {
                    values.$field = key.read(section)?;
                })+
                $(values.$group = <$group_values>::read(section, is_profile)?;)*
                Ok(values)
            }

            /// Returns the values of the texts that `lookup` finds for the keys.
            pub(super) fn from_texts(lookup: impl Fn(&KeyAbout) -> Result<Option<(Vec<String>, Origin)>, ConfigError>) -> Result<Self, ConfigError> {
                let mut values = Self::default();
                $(let key = declared::$field();
                if let Some((texts, origin)) = lookup(&key.about)? {
                    values.$field = key.parse(&texts, &origin)?;
                })+
                $(values.$group = <$group_values>::from_texts(&lookup)?;)*
                Ok(values)
            }

            /// Applies the values of a higher layer.
            pub(crate) fn merge(&mut self, upper: Self) {
                $(self.$field.merge(upper.$field);)+
                $(self.$group.merge(upper.$group);)*
            }

            /// Unsets the keys that belong to a provider.
            pub(super) fn forget_provider(&mut self) {
                $(let key = declared::$field();
                if key.about.of_provider {
                    self.$field = key.default;
                })+
                $(self.$group.forget_provider();)*
            }

            /// Returns the first key of this untrusted project that the user's values do not permit, and the reason.
            pub(super) fn refusal(&self, user: &Self) -> Option<(&'static str, &Origin, &'static str)> {
                $(let Key { about, project, .. } = declared::$field();
                if let Some(origin) = (project.refuses)(&self.$field, &user.$field) {
                    return Some((about.name, origin, project.reason));
                })+
                $(if let Some(refusal) = self.$group.refusal(&user.$group) {
                    return Some(refusal);
                })*
                None
            }

            /// Returns every value as JSON, with its key and its origin.
            pub(crate) fn rows(&self) -> Vec<(KeyAbout, Value, Origin)> {
                let mut rows = Vec::new();
                $(for (value, origin) in self.$field.documents() {
                    rows.push((declared::$field().about, value, origin));
                })+
                $(rows.extend(self.$group.rows());)*
                rows
            }

            /// Returns the descriptions of all keys.
            pub(crate) fn keys() -> Vec<KeyAbout> {
                [vec![$(declared::$field().about),+] $(, <$group_values>::keys())*].concat()
            }
        }
    };
}

pub(super) use declare_keys;
