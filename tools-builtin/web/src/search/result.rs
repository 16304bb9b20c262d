//! [`SearchResult`]: one result of a search.

use serde::Serialize;
use serde_json::Value;
use tools::visible_line;
use tools_http::Url;

const MAX_TITLE: usize = 200;
const MAX_URL: usize = 2000;
const MAX_SNIPPET: usize = 1000;
const MAX_DATE: usize = 40;

/// One result of a search, as text from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// The title, as plain text.
    pub title: String,
    /// The address.
    pub url: String,
    /// A part or a summary of the page, as plain text.
    pub snippet: String,
    /// The date of the page, as the service writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

impl SearchResult {
    /// Creates a result without a date.
    pub fn new(
        title: impl Into<String>,
        url: impl Into<String>,
        snippet: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            url: url.into(),
            snippet: snippet.into(),
            date: None,
        }
    }

    /// Creates a result from the fields of these names. A field that is missing or no string is empty.
    pub fn from_json(item: &Value, title: &str, url: &str, snippet: &str) -> Self {
        let field = |name: &str| item[name].as_str().unwrap_or_default();
        Self::new(field(title), field(url), field(snippet))
    }

    /// Sets the date.
    #[must_use]
    pub fn with_date(mut self, date: Option<&str>) -> Self {
        self.date = date.map(str::to_owned);
        self
    }

    /// Returns the result with a normalised address and bounded texts of one line. Returns `None` if the address is not `http` or
    /// `https`, is too long, or has credentials.
    pub(super) fn cleaned(&self) -> Option<Self> {
        let url = Url::parse(self.url.trim()).ok()?;
        let is_usable = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.as_str().len() <= MAX_URL;
        let date = self
            .date
            .as_deref()
            .map(|date| visible_line(date, MAX_DATE))
            .filter(|date| !date.is_empty());
        is_usable.then(|| Self {
            title: visible_line(&self.title, MAX_TITLE),
            url: url.into(),
            snippet: visible_line(&self.snippet, MAX_SNIPPET),
            date,
        })
    }
}
