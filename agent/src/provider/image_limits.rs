//! [`ImageLimits`]: the images that a model takes.

use tools::Content;

use super::{ProviderError, ProviderInfo};
use crate::prompt::Prompt;

/// The images that a model and its service take in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageLimits {
    /// True if the model takes no images.
    pub is_blind: bool,
    /// The most bytes of the base64 of an image. `None` if they are unknown.
    pub max_base64_bytes: Option<u64>,
    /// The media types. If it is empty, they are unknown.
    pub types: Vec<String>,
}

impl ProviderInfo {
    /// Checks that the model takes the images of a prompt.
    ///
    /// # Errors
    /// Returns [`ProviderError::Image`] for the first image that it does not take.
    pub fn check_prompt(&self, prompt: &Prompt) -> Result<(), ProviderError> {
        let problems = prompt.content().iter().filter_map(|content| match content {
            Content::Image { data, mime_type } => self.images.find_problem(data, mime_type),
            _ => None,
        });
        problems.take(1).try_for_each(|reason| {
            let provider = &self.name;
            Err(ProviderError::Image {
                model: match &self.model {
                    Some(model) => format!("the model {model} of the provider {provider}"),
                    None => format!("the provider {provider}"),
                },
                reason,
            })
        })
    }
}

impl ImageLimits {
    /// Returns the reason that an image is not taken, and the next step.
    fn find_problem(&self, data: &str, mime_type: &str) -> Option<String> {
        let bytes = data.len() as u64;
        if self.is_blind {
            return Some("it takes none; use another model, or leave the image out".to_owned());
        }
        if !self.types.is_empty() && !self.types.iter().any(|known| known == mime_type) {
            let known = self.types.join(", ");
            return Some(format!(
                "it is of the type {mime_type}, and the service takes {known}; convert it"
            ));
        }
        self.max_base64_bytes
            .filter(|most| bytes > *most)
            .map(|most| {
                format!(
                    "it has {bytes} bytes in base64, and the service takes {most}; make it smaller"
                )
            })
    }
}
