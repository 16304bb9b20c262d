//! [`OpenElements`]: the elements around the current place.

use super::element::Element;
use super::frame::{Effect, Frame};

/// The maximum number of open elements that are remembered. Deeper ones have no effect beyond their own tags.
const MAX_OPEN: usize = 256;

/// The open elements, the outermost first. Its size is bounded, whatever the nesting is.
#[derive(Debug)]
pub(super) struct OpenElements {
    frames: Vec<Frame>,
    /// The number of frames of each element.
    open: [u32; Element::COUNT],
    /// For each element the number of those that are open below the deepest frame.
    deeper: [u32; Element::COUNT],
}

impl OpenElements {
    pub(super) fn new() -> Self {
        Self {
            frames: Vec::new(),
            open: [0; Element::COUNT],
            deeper: [0; Element::COUNT],
        }
    }

    /// Returns true if an element with this name is open.
    pub(super) fn has(&self, element: Element) -> bool {
        self.open[element as usize] > 0
    }

    /// Returns true if there is no room for another frame.
    pub(super) fn is_full(&self) -> bool {
        self.frames.len() >= MAX_OPEN
    }

    /// Opens an element. Its end tag is counted even if there is no room for it.
    pub(super) fn push(&mut self, element: Element, effect: Effect) {
        if self.is_full() {
            let deeper = &mut self.deeper[element as usize];
            *deeper = deeper.saturating_add(1);
        } else {
            self.open[element as usize] += 1;
            self.frames.push(Frame { element, effect });
        }
    }

    /// Returns true if an end tag closes an element that had no room, which is then closed.
    pub(super) fn end_deeper(&mut self, element: Element) -> bool {
        let deeper = &mut self.deeper[element as usize];
        let is_deeper = *deeper > 0;
        *deeper = deeper.saturating_sub(1);
        is_deeper
    }

    /// Closes the innermost element.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.open[frame.element as usize] -= 1;
        if self.frames.len() + 1 == MAX_OPEN {
            // Everything below was inside of the closed element.
            self.deeper = [0; Element::COUNT];
        }
        Some(frame)
    }

    /// Closes an element and leaves those inside of it open.
    pub(super) fn remove(&mut self, index: usize) -> Frame {
        let frame = self.frames.remove(index);
        self.open[frame.element as usize] -= 1;
        frame
    }

    /// Returns the number of open elements.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns the position of the innermost element that matches, unless an element that ends the search is inside of it.
    pub(super) fn find(
        &self,
        matches: impl Fn(Element) -> bool,
        ends: impl Fn(Element) -> bool,
    ) -> Option<usize> {
        for (index, frame) in self.frames.iter().enumerate().rev() {
            if matches(frame.element) {
                return Some(index);
            }
            if ends(frame.element) {
                return None;
            }
        }
        None
    }

    /// Returns the innermost effect that matches.
    pub(super) fn innermost_mut(
        &mut self,
        matches: impl Fn(&Effect) -> bool,
    ) -> Option<&mut Effect> {
        let frames = self.frames.iter_mut().rev();
        let mut effects = frames.map(|frame| &mut frame.effect);
        effects.find(|effect| matches(effect))
    }
}

/// Returns true for elements beyond which an end tag closes nothing.
pub(super) fn is_scope(element: Element) -> bool {
    matches!(
        element,
        Element::Td | Element::Th | Element::Caption | Element::Table
    )
}
