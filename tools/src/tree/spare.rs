//! Buffers that wait for the next call on their thread, so that a call in passing allocates nothing for its arguments.

use std::cell::RefCell;

use super::Tree;
use super::node::Mark;

/// How large a buffer may be to be kept, in bytes: what an unusual call took is given back.
const MOST_BYTES: usize = 64 * 1024;

/// Of each kind one: a call that runs inside another makes its own.
#[derive(Default)]
struct Spare {
    text: String,
    other: String,
    marks: Vec<Mark>,
}

thread_local! {
    static SPARE: RefCell<Spare> = RefCell::default();
}

/// An empty text, with room where there is some.
pub(crate) fn text() -> String {
    with(|spare| std::mem::take(&mut spare.text))
}

/// An empty tree, with room where there is some.
pub(super) fn tree() -> Tree {
    let (other, marks) = with(|spare| (std::mem::take(&mut spare.other), std::mem::take(&mut spare.marks)));
    Tree { text: String::new(), other, marks, sorted: Vec::new(), depth: 0 }
}

impl Drop for Tree {
    fn drop(&mut self) {
        with(|spare| {
            keep_text(&mut spare.text, &mut self.text);
            keep_text(&mut spare.other, &mut self.other);
            if larger(self.marks.capacity(), spare.marks.capacity(), size_of::<Mark>()) {
                self.marks.clear();
                std::mem::swap(&mut spare.marks, &mut self.marks);
            }
        });
    }
}

fn keep_text(spare: &mut String, text: &mut String) {
    if larger(text.capacity(), spare.capacity(), 1) {
        text.clear();
        std::mem::swap(spare, text);
    }
}

fn larger(capacity: usize, kept: usize, bytes: usize) -> bool {
    capacity > kept && capacity * bytes <= MOST_BYTES
}

/// Without the buffers where the thread is at its end.
fn with<T: Default>(change: impl FnOnce(&mut Spare) -> T) -> T {
    SPARE
        .try_with(|spare| spare.try_borrow_mut().map(|mut spare| change(&mut spare)).unwrap_or_default())
        .unwrap_or_default()
}
