//! [`DisclosureMode`]: the value of the key `disclosure.mode`.

use std::fmt;
use std::str::FromStr;

/// The value of the key `disclosure.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum DisclosureMode {
    All,
    Auto,
    Search,
}

impl FromStr for DisclosureMode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "auto" => Ok(Self::Auto),
            "search" => Ok(Self::Search),
            _ => Err("must be all, auto or search"),
        }
    }
}

impl fmt::Display for DisclosureMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::All => "all",
            Self::Auto => "auto",
            Self::Search => "search",
        })
    }
}
