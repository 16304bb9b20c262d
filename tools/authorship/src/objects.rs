//! [`Objects`]: reads objects of git, and compares each with its id.
//!
//! Git itself believes what a file of objects says. A session that has another name of such a file could give the commits of the user
//! other contents, so that no object counts here whose content is not the one that its id stands for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha1::{Digest as _, Sha1};

use crate::git::Git;

/// The longest object that is read.
pub(crate) const MAX_OBJECT: u64 = 64 << 20;

/// The most questions before the first answer is read: these fit into a pipe, so that git and this program never wait for each other.
const MAX_QUESTIONS: usize = 500;

/// The digits of an id of SHA-256.
const LONG_ID: usize = 64;

/// A running `git cat-file`. It ends when this is dropped.
pub(crate) struct Objects {
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    _end: Sender<()>,
}

impl Objects {
    /// Starts git, which ends after this time: then each read fails.
    pub(crate) fn open(git: &Git, limit: Duration) -> Option<Self> {
        let mut command = git.command();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (end, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            // It ends by the time, or by the drop of the other side.
            let _ = ended.recv_timeout(limit);
            // It may have ended already, and its answers are not read any more.
            let _ = child.kill();
            let _ = child.wait();
        });
        let (questions, answers) = pipes?;
        Some(Self {
            questions,
            answers: BufReader::new(answers),
            _end: end,
        })
    }

    /// Returns the contents of objects. Returns `None` if git has none of this kind and id, or one whose content is another than the id says.
    pub(crate) fn read(&mut self, kind: &str, ids: &[&str]) -> Option<Vec<Vec<u8>>> {
        let mut contents = Vec::new();
        for ids in ids.chunks(MAX_QUESTIONS) {
            let questions: String = ids.iter().flat_map(|id| [*id, "\n"]).collect();
            self.questions.write_all(questions.as_bytes()).ok()?;
            for id in ids {
                contents.push(self.read_answer(kind, id)?);
            }
        }
        Some(contents)
    }

    /// Reads one answer: `<id> <kind> <length>`, then the content and a line end.
    fn read_answer(&mut self, kind: &str, id: &str) -> Option<Vec<u8>> {
        let mut head = String::new();
        let mut answer = self.answers.by_ref().take(200);
        answer.read_line(&mut head).ok()?;
        let length = head.strip_prefix(&format!("{id} {kind} "))?;
        let length: u64 = length.trim_end().parse().ok()?;
        if length > MAX_OBJECT {
            return None;
        }
        let mut content = Vec::new();
        let mut answer = self.answers.by_ref().take(length + 1);
        answer.read_to_end(&mut content).ok()?;
        content.pop();
        has_id(kind, &content, id).then_some(content)
    }
}

/// Returns true if this is the id that git gives to an object.
pub(crate) fn has_id(kind: &str, content: &[u8], id: &str) -> bool {
    let head = format!("{kind} {}\0", content.len());
    let hash = if id.len() == LONG_ID {
        let mut hash = hmac_sha256::Hash::new();
        hash.update(head);
        hash.update(content);
        HEXLOWER.encode(&hash.finalize())
    } else {
        HEXLOWER.encode(
            &Sha1::new()
                .chain_update(head)
                .chain_update(content)
                .finalize(),
        )
    };
    hash == id
}
#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::committed::tests::Scratch;

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn an_object_of_another_kind_or_of_too_many_bytes_is_not_read() {
        let scratch = Scratch::new();
        let (small, large) = (b"text".to_vec(), vec![0; MAX_OBJECT as usize + 1]);
        let id = scratch.write("blob", &small);
        let read =
            |kind: &str, id: &str| Objects::open(&scratch.opened(), LIMIT)?.read(kind, &[id]);
        assert_eq!(read("blob", &id), Some(vec![small]));
        assert_eq!(read("tree", &id), None);
        assert!(read("blob", &scratch.write("blob", &large)).is_none());
    }

    #[test]
    fn more_questions_than_a_pipe_holds_are_answered() {
        let scratch = Scratch::new();
        let id = scratch.write("blob", &[b'x'; 100]);
        let mut objects = Objects::open(&scratch.opened(), LIMIT).unwrap();
        let contents = objects.read("blob", &[&*id; 5000]);
        assert_eq!(contents.unwrap().len(), 5000);
    }

    #[test]
    fn nothing_is_read_after_the_time() {
        let scratch = Scratch::new();
        let id = scratch.write("blob", b"text");
        let mut objects = Objects::open(&scratch.opened(), Duration::from_millis(1)).unwrap();
        let start = Instant::now();
        while objects.read("blob", &[&*id]).is_some() {
            assert!(start.elapsed() < LIMIT, "git still answers");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
