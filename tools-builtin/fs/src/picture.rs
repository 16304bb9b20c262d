//! Detection and encoding of images.

use std::io::Read;

use data_encoding::BASE64;
use tools::Content;

use crate::counted::counted;
use crate::error::FsError;
use crate::path::RelativePath;

/// The maximum size of an image in bytes, as the large providers accept it.
const MAX_PICTURE: u64 = 5 * 1024 * 1024;

/// Detects the media type of an image by its first bytes. Returns `None` for formats that models do not accept.
pub(crate) fn mime_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Returns the image, preceded by a line of text with its type and size.
pub(crate) fn contents(path: &RelativePath, mime_type: &'static str, file: impl Read) -> Result<Vec<Content>, FsError> {
    let mut bytes = Vec::new();
    file.take(MAX_PICTURE + 1).read_to_end(&mut bytes).map_err(FsError::io(path))?;
    if bytes.len() as u64 > MAX_PICTURE {
        return Err(FsError::TooLarge { path: path.clone(), limit: MAX_PICTURE });
    }
    let description =
        Content::text(format!("[`{path}`: {mime_type}, {}]", counted(bytes.len() as u64, "byte", "bytes")));
    Ok(vec![description, Content::Image { data: BASE64.encode(&bytes), mime_type: mime_type.to_owned() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        for (head, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\r"[..], Some("image/png")),
            (b"\xFF\xD8\xFF\xE0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x10\0\0\0WEBP", Some("image/webp")),
            (b"RIFF\x10\0\0\0WAVE", None),
            (b"GIF", None),
            (b"", None),
        ] {
            assert_eq!(mime_type(head), expected, "{head:?}");
        }
    }
}
