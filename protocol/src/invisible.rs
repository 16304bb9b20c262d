//! [`is_invisible`]: the table of invisible characters.

/// Returns true if the character draws nothing, looks like a space, or changes how its neighbours look. Returns false for the
/// ASCII space.
///
/// By Unicode 16, the invisible characters are
///
/// - the general categories Cc (controls), Cf (formats), Zl and Zp (line and paragraph separators) and Zs (spaces) without
///   U+0020 and without the Arabic and other number signs (`Prepended_Concatenation_Mark`), which are visible,
/// - `Default_Ignorable_Code_Point`: variation selectors, fillers, tags and the code points reserved for them,
/// - blank symbols: U+2800, U+13441, U+13442 and U+1D159.
///
/// ```
/// assert!(protocol::is_invisible('\u{202e}') && protocol::is_invisible('\u{a0}') && protocol::is_invisible('\n'));
/// assert!(!protocol::is_invisible(' ') && !protocol::is_invisible('é'));
/// ```
#[must_use]
pub fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}'
            | '\u{1680}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
            | '\u{13441}'..='\u{13442}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::is_invisible;

    #[test]
    fn the_table_matches_unicode_and_the_blank_symbols() {
        let expected = Regex::new(
            r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\x{2800}\x{13441}\x{13442}\x{1d159}]--[\x20\p{Prepended_Concatenation_Mark}]]",
        )
        .unwrap();
        let differing: Vec<char> = ('\0'..=char::MAX)
            .filter(|c| is_invisible(*c) != expected.is_match(c.encode_utf8(&mut [0; 4])))
            .collect();
        assert_eq!(differing, []);
    }
}
