//! [`SearchResult`]: one result of a search.

use serde::Serialize;
use serde_json::Value;
use tools::visible_line;
use tools_http::Url;

use crate::html::{Attributes, Element, Sink, tokenize};

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
    pub(super) fn clean(&self) -> Option<Self> {
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

/// Returns the text of a fragment of HTML, such as a snippet with its words in `<strong>`: tags and comments are removed, entities are
/// decoded. Use it for fields that a service sends as HTML. Other fields may contain `<` and `&` as they are.
pub fn text_of_html(html: &str) -> String {
    let mut text = PlainText(String::with_capacity(html.len()));
    tokenize(html, &mut text);
    text.0
}

struct PlainText(String);

impl PlainText {
    /// Parts words at a line break or a block. An inline tag does not part them.
    fn part(&mut self, element: Element) {
        if element == Element::Br || element.is_block() {
            self.0.push(' ');
        }
    }
}

impl Sink for PlainText {
    fn start(&mut self, element: Element, _attributes: &Attributes) {
        self.part(element);
    }

    fn end(&mut self, element: Element) {
        self.part(element);
    }

    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn is_foreign(&self) -> bool {
        false
    }
}
