//! Trees that wait for the next call on their thread, so that a call in passing allocates nothing for its arguments.

use std::cell::RefCell;
use std::ops::Deref;

use super::Tree;
use super::node::Mark;

/// How large the buffers of a tree may be to be kept, in bytes: what an unusual call took is given back.
const MOST_BYTES: usize = 128 * 1024;

thread_local! {
    /// One: a call that runs inside another makes its own.
    static SPARE: RefCell<Option<Box<Tree>>> = const { RefCell::new(None) };
}

/// A tree on loan. Its buffers are kept for the next one when it is dropped.
pub(crate) struct Loan(Option<Box<Tree>>);

/// An empty text, with room where there is some.
pub(crate) fn text() -> String {
    with(|spare| spare.as_mut().map(|tree| std::mem::take(&mut tree.text))).flatten().unwrap_or_default()
}

/// Keeps the room of a text for the next call.
pub(crate) fn keep_text(mut text: String) {
    if text.capacity() <= MOST_BYTES {
        text.clear();
        with(|spare| {
            let kept = &mut spare.get_or_insert_default().text;
            if kept.capacity() < text.capacity() {
                *kept = text;
            }
        });
    }
}

/// An empty tree, with room where there is some.
pub(super) fn tree() -> Box<Tree> {
    with(Option::take).flatten().unwrap_or_default()
}

impl Loan {
    pub(crate) fn new(tree: Box<Tree>) -> Self {
        Self(Some(tree))
    }
}

impl Deref for Loan {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        static NONE: Tree = Tree::new();
        // It goes when the loan does.
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let Some(mut tree) = self.0.take() else { return };
        let Tree { text, other, marks, sorted, .. } = &*tree;
        let bytes = text.capacity() + other.capacity() + marks.capacity() * size_of::<Mark>() + 4 * sorted.capacity();
        if bytes <= MOST_BYTES {
            tree.clear();
            with(|spare| *spare = Some(tree));
        }
    }
}

/// `None` where the thread is at its end.
fn with<T>(change: impl FnOnce(&mut Option<Box<Tree>>) -> T) -> Option<T> {
    SPARE.try_with(|spare| spare.try_borrow_mut().ok().map(|mut spare| change(&mut spare))).ok().flatten()
}
