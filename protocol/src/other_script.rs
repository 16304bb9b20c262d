//! [`has_other_script`]: letters that look like those of ASCII and are others.

/// Returns true if a name has letters or signs of another script among those of ASCII, or only such as look like ASCII: `gіthub` with a
/// Cyrillic `і`, `сору`, full-width letters, or a fraction slash. A name in one script, such as `документ` or `δοκιμή`, has none, and
/// Latin letters with accents are Latin.
///
/// A host of which a part begins with `xn--` has letters that its text does not show.
///
/// ```
/// assert!(protocol::has_other_script("https://g\u{456}thub.com") && protocol::has_other_script("xn--80ak6aa92e.com"));
/// assert!(!protocol::has_other_script("src/für/документ 東京.txt"));
/// ```
#[must_use]
pub fn has_other_script(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && !is_imitation(c))
        .any(is_mixed)
        || text.split(['.', '/', '@']).any(|label| {
            label
                .get(..4)
                .is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
        })
}

/// Returns true if a word imitates one of ASCII.
fn is_mixed(word: &str) -> bool {
    let has_latin = word.contains(|c: char| c.is_ascii_alphabetic());
    word.contains(is_imitation)
        || has_latin && word.contains(is_of_other_script)
        || !word.is_ascii()
            && word
                .chars()
                .all(|c| LOOK_ALIKES.contains(c) || c.is_ascii_digit())
}

/// Letters of other scripts that look like Latin ones.
const LOOK_ALIKES: &str = "асеорхуіјѕһԁԛԝӏгпАВЕКМНОРСТУХІЈЅҺԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναικρτυχγϲϳօսոցհԼԾՏ";

/// Returns true if the character is a letter of a script that ASCII words do not mix with. Names in Chinese, Japanese and Korean do.
fn is_of_other_script(c: char) -> bool {
    let is_latin = matches!(
        c,
        '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab6f}'
    );
    let is_east_asian = matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    c.is_alphabetic() && !is_latin && !is_east_asian
}

/// Returns true if the character is another form of a letter or a sign of ASCII.
fn is_imitation(c: char) -> bool {
    matches!(
        c,
        // Phonetic and small letters, hyphens, a dot, fractions and letters like those of formulas.
        '\u{250}'..='\u{2af}' | '\u{1d00}'..='\u{1d7f}' | '\u{2010}'..='\u{2011}' | '\u{2024}' | '\u{2044}'
            | '\u{2102}' | '\u{210a}'..='\u{2113}' | '\u{2115}' | '\u{2119}'..='\u{211d}' | '\u{2124}' | '\u{2128}'
            | '\u{212a}' | '\u{212c}'..='\u{2134}' | '\u{2139}' | '\u{2145}'..='\u{2149}' | '\u{2160}'..='\u{2188}'
            | '\u{2212}' | '\u{2215}' | '\u{2236}' | '\u{2571}' | '\u{29f8}' | '\u{a4d0}'..='\u{a4fd}' | '\u{a789}'
            | '\u{fe50}'..='\u{fe6f}' | '\u{ff01}'..='\u{ff5e}' | '\u{10400}'..='\u{1044f}' | '\u{1d400}'..='\u{1d7ff}'
            | '\u{1f100}'..='\u{1f189}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imitations_are_told_from_names_in_other_scripts() {
        for imitation in [
            "g\u{456}thub.com",
            "раураl",
            "apple.\u{441}om",
            "\u{441}url x",
            "git \u{440}ush",
            "\u{430}\u{440}\u{440}\u{4cf}\u{435}",
            "xn--80ak6aa92e.com",
            "https://a.XN--P1AI/x",
            "ｅｘａｍｐｌｅ.com",
            "𝐬𝐡",
            "a\u{2044}b",
            "rm \u{2010}rf",
            "\u{2212}x",
            "M\u{430}kefile",
            "ρackage.json",
            "ѕh",
            "ꓢꓧ",
            "admin\u{585}",
            "run.ꜱh\u{1d04}",
            "ᏢᎪᎽ1a",
            "\u{212a}ey",
            "с1",
        ] {
            assert!(has_other_script(imitation), "{imitation}");
        }
        for name in [
            "",
            "src/main.rs",
            "für/naïve/ışık.txt",
            "документ.txt",
            "δοκιμή/αρχείο",
            "東京tower.md",
            "報告v2",
            "한글abc",
            "a–b — c…",
            "50 % … ok",
            "x-n--a",
            "été2024",
            "ça va?",
            "Москва 2024",
            "héllo@example.com",
            "→ a",
            "µs",
            "Ærø",
        ] {
            assert!(!has_other_script(name), "{name}");
        }
    }
}
