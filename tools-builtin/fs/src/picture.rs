//! Encoding of images.

use std::io::Read;

use data_encoding::BASE64;
use tools::Content;
use tools::image::MAX_IMAGE_BYTES;

use crate::counted::counted;
use crate::error::FsError;
use crate::path::RelativePath;

/// Returns the image, preceded by a line of text with its type and size.
pub(crate) fn contents(
    path: &RelativePath,
    mime_type: &'static str,
    file: impl Read,
) -> Result<Vec<Content>, FsError> {
    let mut bytes = Vec::new();
    let limit = MAX_IMAGE_BYTES as u64;
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(FsError::io(path))?;
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(FsError::TooLarge {
            path: path.clone(),
            limit,
        });
    }
    let description = Content::text(format!(
        "[`{path}`: {mime_type}, {}]",
        counted(bytes.len() as u64, "byte", "bytes")
    ));
    Ok(vec![
        description,
        Content::Image {
            data: BASE64.encode(&bytes),
            mime_type: mime_type.to_owned(),
        },
    ])
}
