//! Compares files with their committed contents.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::committed::{Blob, Kind};
use crate::git::Git;

/// The longest file that is compared.
const MAX_FILE: u64 = 64 << 20;

/// Returns true if each file has its committed content, apart from line endings of Windows where the commit has none. No filter runs.
pub(crate) fn is_committed(git: &Git, files: &[(PathBuf, &Blob)]) -> bool {
    if files.is_empty() {
        return true;
    }
    let Ok(mut child) = git
        .command()
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .spawn()
    else {
        return false;
    };
    let same = match (child.stdin.take(), child.stdout.take()) {
        (Some(mut ask), Some(answers)) => {
            let mut answers = BufReader::new(answers);
            files
                .iter()
                .all(|(path, blob)| is_same(path, blob, &mut ask, &mut answers).unwrap_or(false))
        }
        _ => false,
    };
    // The answer is known, and git has nothing to finish.
    let _ = child.kill();
    let _ = child.wait();
    same
}

fn is_same(
    path: &Path,
    blob: &Blob,
    ask: &mut impl io::Write,
    answers: &mut impl io::BufRead,
) -> io::Result<bool> {
    let found = match blob.kind {
        Kind::File => {
            let mut bytes = Vec::new();
            File::open(path)?
                .take(MAX_FILE + 1)
                .read_to_end(&mut bytes)?;
            bytes
        }
        Kind::Link => fs::read_link(path)?.into_os_string().into_encoded_bytes(),
    };
    if found.len() as u64 > MAX_FILE {
        return Ok(false);
    }
    ask.write_all(format!("{}\n", blob.id).as_bytes())?;
    ask.flush()?;
    let Some(committed) = blob_text(&blob.id, answers)? else {
        return Ok(false);
    };
    Ok(found == committed || !committed.contains(&b'\r') && without_returns(&found) == committed)
}

/// Reads one answer: `<id> blob <length>`, then the content and a line end.
fn blob_text(id: &str, answers: &mut impl io::BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut head = String::new();
    answers.by_ref().take(200).read_line(&mut head)?;
    let mut words = head.split_whitespace();
    let length = match (
        words.next(),
        words.next(),
        words.next().map(str::parse::<u64>),
    ) {
        (Some(found), Some("blob"), Some(Ok(length))) if found == id && length <= MAX_FILE => {
            length
        }
        _ => return Ok(None),
    };
    let mut text = Vec::new();
    answers.by_ref().take(length + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 == length + 1 && text.pop() == Some(b'\n')).then_some(text))
}

/// Returns the text with the line endings of Unix.
fn without_returns(text: &[u8]) -> Vec<u8> {
    let is_kept = |at: &usize| !(text[*at] == b'\r' && text.get(at + 1) == Some(&b'\n'));
    (0..text.len()).filter(is_kept).map(|at| text[at]).collect()
}
