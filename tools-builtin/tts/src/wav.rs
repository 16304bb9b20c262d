//! Corrects the lengths in the header of a WAV file. A writer that cannot seek puts dummies there, as `espeak-ng --stdout` does.

/// The bytes of a header of RIFF, and of a chunk.
const RIFF: usize = 12;
const CHUNK: usize = 8;

/// Returns the file with the real lengths of the file and of its samples.
///
/// # Errors
/// Returns the reason if the file is no WAV file, or has no samples.
pub(crate) fn with_lengths(mut bytes: Vec<u8>) -> Result<Vec<u8>, &'static str> {
    if bytes.is_empty() {
        return Err("it is empty");
    }
    if bytes.len() < RIFF || &bytes[..4] != b"RIFF" || &bytes[8..RIFF] != b"WAVE" {
        return Err("it is no WAV file");
    }
    let mut at = RIFF;
    let mut has_format = false;
    while let Some(header) = bytes.get(at..at + CHUNK) {
        let (name, declared) = (
            &header[..4],
            u32::from_le_bytes([header[4], header[5], header[6], header[7]]),
        );
        let left = bytes.len() - at - CHUNK;
        let declared = declared as usize;
        if name == b"data" {
            if !has_format {
                return Err("it has samples before their format");
            }
            // A dummy is 0 or more than there is.
            let length = if declared == 0 || declared > left {
                left
            } else {
                declared
            };
            if length == 0 {
                return Err("it has no samples");
            }
            let end = at + CHUNK + length;
            bytes[at + 4..at + CHUNK].copy_from_slice(&length_field(length)?);
            if length % 2 == 1 && end == bytes.len() {
                bytes.push(0);
            }
            let whole = bytes.len() - CHUNK;
            bytes[4..CHUNK].copy_from_slice(&length_field(whole)?);
            return Ok(bytes);
        }
        has_format |= name == b"fmt ";
        // A chunk has an even length.
        at = at
            .saturating_add(CHUNK)
            .saturating_add(declared)
            .saturating_add(declared % 2);
    }
    Err("it has no samples")
}

fn length_field(length: usize) -> Result<[u8; 4], &'static str> {
    u32::try_from(length)
        .map(u32::to_le_bytes)
        .map_err(|_| "it is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a WAV file of 16-bit samples with these lengths in the header.
    fn file(riff: u32, data: u32, samples: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF".to_vec();
        bytes.extend(riff.to_le_bytes());
        bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x22\x56\0\0\x44\xac\0\0\x02\0\x10\0data");
        bytes.extend(data.to_le_bytes());
        bytes.extend(samples);
        bytes
    }

    #[test]
    fn dummies_become_the_real_lengths() {
        let expected = file(40, 4, b"abcd");
        for (riff, data) in [
            (0x7fff_f024, 0x7fff_f000),
            (u32::MAX, u32::MAX),
            (0, 0),
            (40, 4),
            (3, 5),
        ] {
            assert_eq!(
                with_lengths(file(riff, data, b"abcd")).as_ref(),
                Ok(&expected),
                "{riff} {data}"
            );
        }
    }

    #[test]
    fn other_chunks_stay() {
        let mut with_list = file(0, 4, b"abcd");
        with_list.extend(b"LIST\x02\0\0\0xy");
        let corrected = with_lengths(with_list.clone()).unwrap();
        assert_eq!(
            (&corrected[40..44], corrected.len()),
            (&4_u32.to_le_bytes()[..], with_list.len())
        );
        assert_eq!(corrected[4..8], 50_u32.to_le_bytes());
    }

    #[test]
    fn an_odd_length_is_padded() {
        let corrected = with_lengths(file(0, 0, b"abc")).unwrap();
        assert_eq!(
            (corrected[40..44].to_vec(), corrected.len() % 2),
            (3_u32.to_le_bytes().to_vec(), 0)
        );
        assert_eq!(corrected[4..8], (corrected.len() as u32 - 8).to_le_bytes());
    }

    #[test]
    fn another_file_is_refused() {
        for bytes in [
            &b""[..],
            b"RIFF",
            b"<html>not a sound</html>",
            b"RIFF\0\0\0\0WAVEdata\x04\0\0\0abcd",
        ] {
            assert!(with_lengths(bytes.to_vec()).is_err(), "{bytes:?}");
        }
        assert_eq!(with_lengths(file(0, 0, b"")), Err("it has no samples"));
        let huge_chunk = [&file(0, 0, b"")[..12], b"junk\xff\xff\xff\xff".as_slice()].concat();
        assert_eq!(with_lengths(huge_chunk), Err("it has no samples"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            let _ = with_lengths(bytes.clone());
            let _ = with_lengths([&b"RIFF\0\0\0\0WAVE"[..], &bytes].concat());
        }
    }
}
