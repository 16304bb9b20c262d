//! [`Field`]: a part of a definition that is searched.

use std::fmt;

/// A part of a definition that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The name.
    Name,
    /// The display name.
    Title,
    /// The description.
    Description,
    /// A label.
    Tag,
    /// The name of a parameter, at any depth.
    Parameter,
    /// The description of a parameter, at any depth, and the texts that it allows as value.
    ParameterDescription,
}

impl Field {
    /// All fields. The position of a field is its discriminant.
    pub(crate) const ALL: [Self; 6] = [
        Self::Name,
        Self::Title,
        Self::Description,
        Self::Tag,
        Self::Parameter,
        Self::ParameterDescription,
    ];
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Description => "description",
            Self::Tag => "tag",
            Self::Parameter => "parameter",
            Self::ParameterDescription => "parameter description",
        })
    }
}
