//! The names of drafts.

/// The beginning and the end of each name; between them are [`DIGITS`] hexadecimal digits, in lower case.
const BEGIN: &str = ".toolcrib-";
const END: &str = ".tmp";
const DIGITS: usize = 16;

/// Returns the name of the draft with this number.
pub(crate) fn draft_name(number: u64) -> String {
    format!("{BEGIN}{number:0DIGITS$x}{END}")
}

/// Returns true if drafts have names like this one. Such files are no part of the workspace: nothing shows them.
pub(crate) fn is_draft(name: &str) -> bool {
    let digits = name.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}
