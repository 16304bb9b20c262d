//! [`Inline`]: the text of one block.

use super::Notation;
use super::code_span::CodeSpan;
use super::escape::{Place, is_space, push_escaped, push_label, without_break_marks};
use super::link::{Link, Mark, OpenMark, Written};

/// The maximum number of marks around a text. Further ones are left out.
const MAX_MARKS: usize = 32;

/// The form of line breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// A hard break; two of them begin a new paragraph.
    #[default]
    Hard,
    /// A space, in headings.
    Space,
    /// `<br>`, in a table's cell.
    Tag,
}

/// The text of one block, with the marks of the elements around it.
///
/// Marks are written when text follows, and end before the space after it: `<b> a </b>` becomes ` **a** `.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    text: String,
    /// Space that is written before the next text.
    space: bool,
    /// Line breaks that are written before the next text.
    breaks: usize,
    form: Breaks,
    marks: Vec<OpenMark>,
    /// True if a mark may have to be written before the next text.
    is_pending: bool,
    /// The mark that ended at the end of the text, and its opening.
    ended: Option<(Mark, Written)>,
    code: CodeSpan,
    link: Option<Link>,
    /// True while the text of a link is being written.
    in_link: bool,
    notation: Notation,
}

impl Inline {
    pub(crate) fn new(notation: Notation) -> Self {
        Self {
            notation,
            ..Self::default()
        }
    }

    /// Sets the form of line breaks for the text that follows.
    pub(crate) fn set_breaks(&mut self, form: Breaks) {
        self.form = form;
    }

    /// Returns the length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len() + self.code.len()
    }

    /// Returns true if there is no text yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.code.is_empty()
    }

    /// Appends text. Runs of white space become one space.
    pub(crate) fn push_text(&mut self, text: &str) {
        if self.code.is_open() {
            self.space |= self.code.push(text);
            return;
        }
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if is_space(c) {
                self.space = true;
                continue;
            }
            self.begin_text();
            if self.notation == Notation::Plain {
                self.text.push(c);
            } else {
                let place = self.place();
                push_escaped(&mut self.text, c, chars.peek().copied(), place);
            }
        }
    }

    /// Appends an image.
    pub(crate) fn push_image(&mut self, alt: &str, destination: &str) {
        match self.notation {
            Notation::Plain => self.push_text(&without_break_marks(alt)),
            Notation::Markdown => self.push_reference("![", alt, destination),
        }
    }

    /// Appends a link that is no mark, to a part of the page.
    pub(crate) fn push_embedded(&mut self, label: &str, destination: &str) {
        self.push_reference("[", label, destination);
    }

    /// Appends a line break.
    pub(crate) fn push_break(&mut self) {
        self.flush_code();
        self.breaks += 1;
    }

    /// Opens a mark other than a link. Returns false if too many are open.
    pub(crate) fn open(&mut self, mark: Mark) -> bool {
        let fits = self.marks.len() < MAX_MARKS;
        if fits {
            self.marks.push(OpenMark {
                mark,
                written: None,
                is_done: false,
            });
            self.is_pending = true;
        }
        fits
    }

    /// Opens a link. Without text in it, its text is the label, if there is one. Returns false if too many marks are open.
    pub(crate) fn open_link(
        &mut self,
        destination: String,
        is_fragment: bool,
        label: &str,
    ) -> bool {
        self.flush_code();
        let fits = self.open(Mark::Link);
        if fits {
            self.link = Some(Link::new(destination, is_fragment, label));
        }
        fits
    }

    /// Closes the innermost mark of a kind.
    pub(crate) fn close(&mut self, mark: Mark) {
        let Some(index) = self.marks.iter().rposition(|open| open.mark == mark) else {
            return;
        };
        if mark == Mark::Link {
            self.label_link(index);
            self.flush_code();
        }
        if self.marks[index].written.is_some() {
            self.write_closing(index);
        }
        self.marks.remove(index);
        self.is_pending = true;
        if mark == Mark::Link {
            self.link = None;
        }
    }

    /// Begins a code span.
    pub(crate) fn open_code(&mut self) {
        self.code.open();
    }

    /// Ends a code span.
    pub(crate) fn close_code(&mut self) {
        self.code.close();
        if !self.code.is_open() {
            self.flush_code();
        }
    }

    /// Ends the block and returns its text. Open marks continue in the next block, except for a link that has text.
    pub(crate) fn finish(&mut self) -> String {
        self.flush_code();
        self.write_closing(0);
        self.space = false;
        self.breaks = 0;
        self.ended = None;
        self.code.end_block();
        self.is_pending = true;
        let mut text = std::mem::take(&mut self.text);
        text.truncate(text.trim_end().len());
        text
    }

    fn place(&self) -> Place {
        Place {
            in_link: self.in_link,
            in_cell: self.form == Breaks::Tag,
        }
    }

    fn push_reference(&mut self, opening: &str, label: &str, destination: &str) {
        self.flush_code();
        self.begin_text();
        self.keep_from_image(opening);
        self.text.push_str(opening);
        push_label(&mut self.text, label, self.form == Breaks::Tag);
        self.text.push_str("](");
        self.text.push_str(destination);
        self.text.push(')');
    }

    /// Escapes a `!` that would make an image of the link that follows.
    fn keep_from_image(&mut self, opening: &str) {
        let Some(before) = self.text.strip_suffix('!').filter(|_| opening == "[") else {
            return;
        };
        let is_escaped = (before.len() - before.trim_end_matches('\\').len()) % 2 == 1;
        if !is_escaped {
            self.text.pop();
            self.text.push_str("\\!");
        }
    }

    /// Writes space, line breaks and marks before text.
    fn begin_text(&mut self) {
        if self.breaks > 0 {
            self.write_breaks();
        }
        if self.space {
            self.space = false;
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
                self.ended = None;
            }
        }
        if self.is_pending {
            self.is_pending = false;
            self.write_marks();
        }
        self.ended = None;
    }

    fn write_breaks(&mut self) {
        let breaks = std::mem::take(&mut self.breaks);
        self.ended = None;
        if self.text.is_empty() {
            return;
        }
        let mark = match self.form {
            Breaks::Space => " ",
            Breaks::Tag => self.notation.pick("<br>", " "),
            Breaks::Hard if breaks == 1 => self.notation.pick("  \n", "\n"),
            Breaks::Hard => {
                self.write_closing(0);
                self.is_pending = true;
                "\n\n"
            }
        };
        // A space is written before the next text alone.
        self.space = mark == " ";
        if !self.space {
            self.text.push_str(mark);
        }
    }

    /// Writes the openings of all marks that have none.
    fn write_marks(&mut self) {
        if self.notation == Notation::Plain {
            return;
        }
        for index in 0..self.marks.len() {
            let open = self.marks[index];
            let mark = open.mark;
            let is_written = self.marks[..index]
                .iter()
                .any(|open| open.mark == mark && open.written.is_some());
            // A heading is strong anyway.
            let is_implied = mark == Mark::Strong && self.form == Breaks::Space;
            if open.written.is_some() || open.is_done || is_written || is_implied {
                continue;
            }
            if let Some((ended, written)) = self.ended.take()
                && ended == mark
            {
                // The same mark ended here: it continues.
                self.text.truncate(self.text.len() - written.closing.len());
                self.marks[index].written = Some(written);
                continue;
            }
            let (opening, closing) = mark.delimiters(&self.text);
            self.keep_from_image(opening);
            let start = self.text.len();
            self.text.push_str(opening);
            self.in_link |= mark == Mark::Link;
            self.marks[index].written = Some(Written {
                start,
                content: self.text.len(),
                closing,
            });
        }
    }

    /// Closes the written marks from an index on. Those that stay open are written again before the next text.
    fn write_closing(&mut self, from: usize) {
        for index in (from..self.marks.len()).rev() {
            let Some(written) = self.marks[index].written.take() else {
                continue;
            };
            self.is_pending = true;
            let mark = self.marks[index].mark;
            self.ended = Some((mark, written));
            if mark == Mark::Link {
                self.ended = None;
                self.in_link = false;
                self.marks[index].is_done = true;
                let link = self.link.as_ref();
                if link.is_some_and(|link| link.is_permalink(&self.text[written.content..])) {
                    self.retract(index, written.start);
                    continue;
                }
            }
            self.text.push_str(written.closing);
            if mark == Mark::Link
                && let Some(link) = &self.link
            {
                link.write_destination(&mut self.text);
            }
        }
    }

    /// Removes the text from a position on, and the openings that then have no text.
    fn retract(&mut self, below: usize, to: usize) {
        self.text.truncate(to);
        for open in self.marks[..below].iter_mut().rev() {
            let end = self.text.len();
            if let Some(written) = open.written.take_if(|written| written.content == end) {
                self.text.truncate(written.start);
            }
        }
        if self.text.ends_with(' ') {
            self.text.pop();
            self.space = true;
        }
    }

    /// Writes the label of a link that has no text.
    fn label_link(&mut self, index: usize) {
        let open = &self.marks[index];
        if open.written.is_some()
            || open.is_done
            || !self.code.is_empty()
            || self.notation == Notation::Plain
        {
            return;
        }
        if let Some(label) = self.link.as_mut().and_then(Link::take_label) {
            self.begin_text();
            push_label(&mut self.text, &label, self.form == Breaks::Tag);
        }
    }

    /// Writes the code that was read, as a code span.
    fn flush_code(&mut self) {
        let Some((code, has_space)) = self.code.take() else {
            return;
        };
        self.begin_text();
        match (self.notation, self.form) {
            (Notation::Plain, _) => self.text.push_str(&code),
            (Notation::Markdown, Breaks::Tag) => {
                self.code.write(&code.replace('|', "\\|"), &mut self.text)
            }
            (Notation::Markdown, _) => self.code.write(&code, &mut self.text),
        }
        self.space |= has_space;
    }
}
