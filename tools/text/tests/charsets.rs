//! The test suite of chardet, with texts in many encodings.

use std::path::Path;
use std::{env, fs};

use tools_text::TextEncoding;

/// The least number of files that are read right, of 425. Of the others, 30 are in IBM855, Johab, UTF-32 and the like.
const LEAST_RIGHT: usize = 387;

/// Returns the encoding that the name of a folder says, such as `iso-8859-2-polish`.
fn named(folder: &str) -> Option<TextEncoding> {
    let shorter = || {
        folder
            .rsplit_once('-')
            .and_then(|(shorter, _)| named(shorter))
    };
    TextEncoding::from_label(folder).ok().or_else(shorter)
}

#[test]
#[ignore = "needs the suite of chardet, which .ci/charsets downloads"]
fn texts_of_the_suite_are_read_right_and_without_replacement_characters() {
    let suite = env::var("TOOLCRIB_CHARSETS").expect("run .ci/charsets");
    let entries = |folder: &Path| {
        let mut entries: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        entries
    };
    let (mut files, mut right, mut replaced, mut unknown) = (0, 0, 0, 0);
    for folder in entries(suite.as_ref())
        .iter()
        .filter(|folder| folder.is_dir())
    {
        let named = named(&folder.file_name().unwrap().to_string_lossy());
        for file in entries(folder) {
            let bytes = fs::read(&file).unwrap();
            let read = TextEncoding::of(&bytes);
            let text = read.decode(&bytes);
            let expected = TextEncoding::from_mark(&bytes).or(named);
            let is_right = expected.is_some_and(|expected| expected.decode(&bytes) == text);
            files += 1;
            right += usize::from(is_right);
            unknown += usize::from(expected.is_none());
            replaced += usize::from(text.contains(char::REPLACEMENT_CHARACTER));
            if !is_right {
                eprintln!(
                    "{}: read as {read:?}",
                    file.strip_prefix(&suite).unwrap().display()
                );
            }
        }
    }
    eprintln!(
        "{files} files, {right} read right, {replaced} with U+FFFD, {unknown} in encodings that nothing reads"
    );
    assert!(files == 425 && right >= LEAST_RIGHT && replaced == 0);
}
