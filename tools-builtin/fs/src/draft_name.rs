//! The file names of drafts.

/// The prefix and suffix of a name; between them are [`DIGITS`] lower-case hexadecimal digits.
const PREFIX: &str = ".toolcrib-";
const SUFFIX: &str = ".tmp";
const DIGITS: usize = 16;

/// Returns the file name of a draft.
pub(crate) fn draft_name(number: u64) -> String {
    format!("{PREFIX}{number:0DIGITS$x}{SUFFIX}")
}

/// Returns true if the name is that of a draft. Listings and searches omit such files.
pub(crate) fn is_draft(name: &str) -> bool {
    let digits = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS
            && digits
                .bytes()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}
