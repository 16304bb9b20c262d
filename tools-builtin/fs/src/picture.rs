//! Encoding of images.

use std::io::Read;

use data_encoding::BASE64;
use tools::Content;
use tools::image::MAX_IMAGE_BYTES;

use crate::counted::counted;
use crate::error::FsError;
use crate::path::RelativePath;
use crate::whole_file;

/// Returns the image, preceded by a line of text with its type and size.
pub(crate) fn contents(
    path: &RelativePath,
    mime_type: &'static str,
    file: impl Read,
) -> Result<Vec<Content>, FsError> {
    let bytes = whole_file::contents(file, path, MAX_IMAGE_BYTES as u64)?;
    let size = counted(bytes.len() as u64, "byte", "bytes");
    let description = Content::text(format!("[`{path}`: {mime_type}, {size}]"));
    Ok(vec![
        description,
        Content::Image {
            data: BASE64.encode(&bytes),
            mime_type: mime_type.to_owned(),
        },
    ])
}
