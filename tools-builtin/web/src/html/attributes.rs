//! [`Attributes`]: the attributes of one tag that the conversion reads.

use std::borrow::Cow;
use std::ops::Range;

/// The maximum length of a name in bytes: more than that of any known element or attribute.
const MAX_NAME: usize = 16;

/// The maximum length of a value in bytes. Longer values are dropped.
const MAX_VALUE: usize = 4096;

macro_rules! attributes {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An attribute that the conversion reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Attribute { $($variant),* }

        impl Attribute {
            const COUNT: usize = [$($name),*].len();

            fn from_name(name: &[u8]) -> Option<Self> {
                $(if name == $name.as_bytes() { return Some(Self::$variant); })*
                None
            }
        }
    };
}

attributes! {
    Alt = "alt", AltText = "alttext", AriaHidden = "aria-hidden", AriaLabel = "aria-label",
    Checked = "checked", Class = "class", ColSpan = "colspan", Content = "content",
    DataLang = "data-lang", DataLanguage = "data-language", DataSrc = "data-src",
    Encoding = "encoding", Height = "height", Hidden = "hidden", Href = "href",
    HttpEquiv = "http-equiv", Id = "id", Lang = "lang", Name = "name", Open = "open",
    Property = "property", Role = "role", RowSpan = "rowspan",
    ShadowRootMode = "shadowrootmode", Src = "src", SrcSet = "srcset", Start = "start",
    Style = "style", Title = "title", Type = "type", Value = "value", Width = "width",
}

/// The known attributes of one tag. Its memory does not grow with the number and the length of attributes.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    values: String,
    ranges: [Option<Range<usize>>; Attribute::COUNT],
}

impl Attributes {
    /// Forgets all attributes.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.ranges.fill(None);
    }

    /// Adds an attribute if it is known. The first of several with one name counts.
    pub(crate) fn add<'a>(&mut self, name: &str, value: impl FnOnce() -> Cow<'a, str>) {
        let Some(attribute) = known_name(name, Attribute::from_name).flatten() else {
            return;
        };
        let range = &mut self.ranges[attribute as usize];
        if range.is_some() {
            return;
        }
        let value = value();
        let start = self.values.len();
        if value.len() <= MAX_VALUE {
            self.values.push_str(&value);
        }
        *range = Some(start..self.values.len());
    }

    /// Returns the value of an attribute, which is empty if the tag has only its name.
    pub(crate) fn value(&self, attribute: Attribute) -> Option<&str> {
        let range = self.ranges[attribute as usize].clone()?;
        Some(&self.values[range])
    }

    /// Returns true if the tag has the attribute.
    pub(crate) fn has(&self, attribute: Attribute) -> bool {
        self.ranges[attribute as usize].is_some()
    }

    /// Returns the value of an attribute as a number.
    pub(crate) fn number(&self, attribute: Attribute) -> Option<u32> {
        self.value(attribute)?.trim().parse().ok()
    }

    /// Returns the words of the attribute `class`.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &str> {
        self.value(Attribute::Class)
            .unwrap_or_default()
            .split_ascii_whitespace()
    }

    /// Returns the label of an element without text, which may be empty.
    pub(crate) fn label(&self) -> &str {
        let names = [Attribute::AriaLabel, Attribute::Title];
        let mut labels = names.into_iter().filter_map(|name| self.value(name));
        labels.find(|label| !label.is_empty()).unwrap_or_default()
    }
}

/// Looks a name up in lower case. Returns `None` if it is too long to be known.
pub(super) fn known_name<T>(name: &str, find: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let mut lower = [0; MAX_NAME];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    Some(find(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_attribute_of_a_name_counts() {
        let mut read = Attributes::default();
        for (name, value) in [
            ("HREF", "a"),
            ("href", "b"),
            ("unknown", "c"),
            ("class", " x  y "),
        ] {
            read.add(name, || value.into());
        }
        assert_eq!(read.value(Attribute::Href), Some("a"));
        assert_eq!(read.classes().collect::<Vec<_>>(), ["x", "y"]);
        read.clear();
        assert!(!read.has(Attribute::Href));
    }

    #[test]
    fn memory_depends_on_neither_number_nor_length() {
        let long = "x".repeat(MAX_VALUE + 1);
        let mut read = Attributes::default();
        read.add("href", || long.as_str().into());
        for index in 0..10_000 {
            read.add(&format!("data-{index}"), || long.as_str().into());
            read.add("href", || "b".into());
        }
        assert_eq!(read.value(Attribute::Href), Some(""));
        assert!(read.values.capacity() <= MAX_VALUE);
    }
}
