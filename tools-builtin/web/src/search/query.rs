//! [`SearchQuery`]: a query for a search service.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tools_http::Url;

/// A query for a search service.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SearchQuery<'a> {
    /// The base URL of the service.
    pub base_url: &'a Url,
    /// The query, which is not blank.
    pub query: &'a str,
    /// The wanted number of results, from 1 to 20. Further results are left out.
    pub count: usize,
    /// The language, as the service spells it.
    pub language: Option<&'a str>,
    /// The filter of adult content.
    pub safe_search: Option<SafeSearch>,
}

/// A filter of adult content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SafeSearch {
    /// Filters nothing.
    Off,
    /// Filters pictures and videos.
    Moderate,
    /// Filters all adult content.
    Strict,
}

/// The error for a text that is no [`SafeSearch`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no safe search {0:?}; use one of: off, moderate, strict")]
pub struct UnknownSafeSearch(pub String);

impl<'a> SearchQuery<'a> {
    pub(super) fn new(base_url: &'a Url, query: &'a str, count: usize) -> Self {
        Self {
            base_url,
            query,
            count,
            language: None,
            safe_search: None,
        }
    }

    /// Returns the URL of a path below the base URL, with these parameters.
    pub fn endpoint(&self, path: &str, parameters: &[(&str, &str)]) -> Url {
        let mut url = self.base_url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        url
    }
}

impl SafeSearch {
    /// Returns the name: `off`, `moderate` or `strict`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Moderate => "moderate",
            Self::Strict => "strict",
        }
    }
}

impl FromStr for SafeSearch {
    type Err = UnknownSafeSearch;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::Off, Self::Moderate, Self::Strict];
        all.into_iter()
            .find(|each| each.name() == text)
            .ok_or_else(|| UnknownSafeSearch(text.to_owned()))
    }
}
