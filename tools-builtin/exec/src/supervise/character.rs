//! Where characters of UTF-8 begin and end.

/// The bytes of the longest character.
const LONGEST: usize = 4;

/// Returns the number of bytes at the beginning that belong to a character before it.
pub(super) fn torn_start(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(LONGEST - 1)
        .take_while(|byte| is_continuation(**byte))
        .count()
}

/// Returns the number of bytes at the end that belong to a character which is not complete.
pub(super) fn torn_end(bytes: &[u8]) -> usize {
    let Some(back) = bytes
        .iter()
        .rev()
        .take(LONGEST)
        .position(|byte| !is_continuation(*byte))
    else {
        return 0;
    };
    let length = match bytes[bytes.len() - 1 - back] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    if back + 1 < length { back + 1 } else { 0 }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_inside_a_character_is_seen_from_both_sides() {
        for character in ["a", "é", "€", "🦀"] {
            let text = format!("x{character}y");
            for cut in 0..=text.len() {
                let (before, after) = text.as_bytes().split_at(cut);
                let boundary = |at: &usize| text.is_char_boundary(*at);
                let (kept, next) = (
                    (0..=cut).rev().find(boundary),
                    (cut..=text.len()).find(boundary),
                );
                assert_eq!(
                    Some(before.len() - torn_end(before)),
                    kept,
                    "{text} cut at {cut}"
                );
                assert_eq!(Some(cut + torn_start(after)), next, "{text} cut at {cut}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_not_withheld() {
        assert_eq!(torn_end(&[0xFF]), 0);
        assert_eq!(torn_end(&[0x80, 0x80, 0x80, 0x80, 0x80]), 0);
        assert_eq!(torn_start(&[0x80; 9]), 3);
    }
}
