//! The images that models accept.

/// The maximum size of an image in bytes, as the large providers accept it.
pub const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// Returns the media type of an image by its first 12 bytes. Returns `None` for formats that models do not accept.
///
/// ```
/// assert_eq!(tools::image::image_type(b"GIF89a"), Some("image/gif"));
/// ```
pub fn image_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        _ if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_first_bytes() {
        for (head, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\r"[..], Some("image/png")),
            (b"\xFF\xD8\xFF\xE0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x10\0\0\0WEBP", Some("image/webp")),
            (b"RIFF\x10\0\0\0WAVE", None),
            (b"GIF", None),
            (b"", None),
        ] {
            assert_eq!(image_type(head), expected, "{head:?}");
        }
    }
}
