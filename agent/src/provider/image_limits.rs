//! [`ImageLimits`]: the images that a model takes.

use serde::Deserialize;
use tools::Content;

/// The images that a model and its service take in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ImageLimits {
    /// True if the model takes no images.
    pub is_blind: bool,
    /// The most bytes of the base64 of an image. `None` if they are unknown.
    pub max_base64_bytes: Option<u64>,
    /// The media types. If it is empty, they are unknown.
    pub types: Vec<String>,
}

impl ImageLimits {
    /// Returns the reason that an image is not taken, and the next step. Returns `None` for other content.
    pub(super) fn find_problem(&self, content: &Content) -> Option<String> {
        let Content::Image { data, mime_type } = content else {
            return None;
        };
        let bytes = data.len() as u64;
        match self.max_base64_bytes {
            _ if self.is_blind => {
                Some("it takes none; use another model, or leave the image out".to_owned())
            }
            _ if !self.types.is_empty() && !self.types.iter().any(|known| known == mime_type) => {
                let known = self.types.join(", ");
                Some(format!(
                    "the service takes {known}, and not {mime_type}; convert it"
                ))
            }
            Some(most) if bytes > most => Some(format!(
                "the service takes {most} bytes in base64, and not {bytes}; make it smaller"
            )),
            _ => None,
        }
    }
}
