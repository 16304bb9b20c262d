//! The names of encodings, which people write in several ways.

use encoding_rs::Encoding;

/// Returns the encoding with a label of the Encoding Standard, or with a common name such as `latin-1`, `utf_16_le` or `MacRoman`, in any
/// letter case. Returns `None` for the encodings whose text the standard does not read, such as ISO-2022-KR.
pub(crate) fn encoding(label: &str) -> Option<&'static Encoding> {
    let standard = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    // As it is at first: some labels of the standard have an underscore, such as `shift_jis`.
    standard(label)
        .or_else(|| standard(&label.replace('_', "-")))
        .or_else(|| {
            let name: String = label.chars().filter(char::is_ascii_alphanumeric).collect();
            let name = name.to_ascii_lowercase();
            standard(match &*name {
                "utf8sig" | "utf8bom" => "utf-8",
                "utf16" | "utf16le" => "utf-16le",
                "utf16be" => "utf-16be",
                "cp932" | "ms932" => "shift_jis",
                "cp936" => "gbk",
                "cp949" | "ms949" => "euc-kr",
                "cp950" => "big5",
                "maccyrillic" => "x-mac-cyrillic",
                "macroman" => "macintosh",
                name => match name
                    .strip_prefix("windows")
                    .or_else(|| name.strip_prefix("win"))
                {
                    Some(page) => return standard(&format!("windows-{page}")),
                    None => name,
                },
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_has_many_names() {
        for (label, name) in [
            ("Latin1", Some("windows-1252")),
            ("latin-1", Some("windows-1252")),
            ("iso8859_15", Some("ISO-8859-15")),
            ("UTF_8_SIG", Some("UTF-8")),
            ("utf_16_be", Some("UTF-16BE")),
            ("UTF16", Some("UTF-16LE")),
            ("win1251", Some("windows-1251")),
            ("Windows 1250", Some("windows-1250")),
            ("euc_kr", Some("EUC-KR")),
            ("cp932", Some("Shift_JIS")),
            ("MacCyrillic", Some("x-mac-cyrillic")),
            ("iso-2022-kr", None),
            ("hz-gb-2312", None),
            ("windows-9", None),
            ("utf-32", None),
            ("", None),
        ] {
            assert_eq!(encoding(label).map(Encoding::name), name, "{label}");
        }
    }
}
