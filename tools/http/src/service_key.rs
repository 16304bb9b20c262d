//! [`ServiceKey`]: the place of a service's key.

use host::settings::{Origin, Setting};
use tools_text::KeySource;
use url::Url;

use crate::error::HttpError;
use crate::secret::BoundSecret;

/// The place of a service's key: in a request, and in the environment of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceKey {
    /// The name of the header.
    pub header: &'static str,
    /// The text before the key in the header: `"Bearer "` or nothing.
    pub prefix: &'static str,
    /// The usual environment variable of the key.
    pub variable: &'static str,
    /// True if the service refuses a request without a key at its usual address.
    pub is_required: bool,
}

impl ServiceKey {
    /// Binds a key of the user to the origin of the service, whose URL this is. `name` stands for the key in texts.
    ///
    /// # Errors
    /// Returns the errors of [`BoundSecret::new`].
    pub fn bind(&self, name: &str, url: &Url, key: &str) -> Result<BoundSecret, HttpError> {
        let origin = url.origin().ascii_serialization();
        BoundSecret::new(name, &origin, self.header, self.prefix, key)
    }

    /// Returns the usual environment variable as the place of the key, for settings that name none.
    pub fn usual_place(&self) -> Setting<KeySource> {
        Setting::new(
            KeySource::Environment(self.variable.to_owned()),
            Origin::Environment(self.variable.to_owned()),
        )
    }
}
