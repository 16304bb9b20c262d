//! [`UrlSecrets`]: the values in the URL of a server that errors do not show.

use tools::Secret;
use tools_http::{BoundSecret, HttpError, Url};

/// Stands for a value.
const MASK: &str = "[secret:url]";

/// The values in the URL of a server that errors do not show.
#[derive(Clone, Default)]
pub(super) struct UrlSecrets(Vec<Secret>);

impl UrlSecrets {
    /// Creates them from values in a URL. Scheme, host and port are no secrets.
    pub(super) fn new(url: &Url, values: impl IntoIterator<Item = String>) -> Self {
        let origin = url.origin().ascii_serialization();
        let values = values
            .into_iter()
            .filter(|value| !origin.contains(value.as_str()));
        Self(values.map(|value| Secret::new(&value)).collect())
    }

    /// Returns a URL as errors show it: without its path and query if there are secrets.
    pub(super) fn mask_url(&self, url: &Url) -> String {
        if self.0.is_empty() {
            url.to_string()
        } else {
            format!("{}/...", url.origin().ascii_serialization())
        }
    }

    /// Replaces the values in a text, as they are and as a URL spells them. Short ones would occur by chance.
    pub(super) fn mask(&self, url: &Url, mut text: String) -> String {
        let values = self.0.iter().map(Secret::expose);
        for value in values.filter(|value| value.len() >= BoundSecret::MIN_LENGTH) {
            let mut query = url.clone();
            let mut path = url.clone();
            query.set_query(Some(value));
            path.set_path(value);
            let spellings = [
                value,
                query.query().unwrap_or_default(),
                path.path().trim_start_matches('/'),
            ];
            for spelling in spellings
                .into_iter()
                .filter(|spelling| !spelling.is_empty())
            {
                text = text.replace(spelling, MASK);
            }
        }
        text
    }

    /// Hides the URL of an error. Its text could end within a value.
    pub(super) fn hide(&self, mut error: HttpError) -> HttpError {
        match &mut error {
            HttpError::Url { url, .. }
            | HttpError::Redirects { url, .. }
            | HttpError::TooLarge { url, .. }
            | HttpError::Headers { url, .. }
            | HttpError::Time { url, .. }
            | HttpError::Cancelled { url }
            | HttpError::Lookup { url, .. }
            | HttpError::Connect { url, .. }
            | HttpError::Tls { url, .. }
            | HttpError::Broken { url, .. }
            | HttpError::Invalid { url, .. }
            | HttpError::Failed { url, .. } => {
                if let Ok(parsed) = Url::parse(url) {
                    *url = self.mask_url(&parsed);
                }
            }
            _ => {}
        }
        error
    }
}
