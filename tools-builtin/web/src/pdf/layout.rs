//! [`Layout`]: puts the strings of a page together, by their places.

/// The average width of a character, as a part of the font size. The widths of fonts are not read.
const CHARACTER_WIDTH: f32 = 0.5;

/// The least distance between two words within a string, in thousandths of the font size.
const WORD_DISTANCE: f32 = 180.0;

/// The maximum number of saved states.
const MAX_STATES: usize = 256;

/// A transformation, in the order of PDF.
type Matrix = [f32; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// The text of a page, put together from its strings in the order of the page's content.
///
/// A string on another line begins a line. A space parts strings whose distance is more than the error of the estimated width.
#[derive(Debug)]
pub(super) struct Layout {
    text: String,
    max_bytes: usize,
    /// The transformation of the page, and those that are saved.
    page: Matrix,
    saved: Vec<Matrix>,
    /// The transformations of the line's start, and of the next string.
    line: Matrix,
    next: Matrix,
    size: f32,
    leading: f32,
    /// The estimated end of the last string.
    end: Option<(f32, f32)>,
    /// The number of characters since the last known place.
    estimated: f32,
    has_moved: bool,
}

impl Layout {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            text: String::new(),
            max_bytes,
            page: IDENTITY,
            saved: Vec::new(),
            line: IDENTITY,
            next: IDENTITY,
            size: 1.0,
            leading: 0.0,
            end: None,
            estimated: 0.0,
            has_moved: true,
        }
    }

    /// Returns true if the text has its maximum length.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.max_bytes
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Saves the transformation of the page. Pages with more states than a reader must support are read with an error in places.
    pub(super) fn save(&mut self) {
        if self.saved.len() < MAX_STATES {
            self.saved.push(self.page);
        }
    }

    pub(super) fn restore(&mut self) {
        self.page = self.saved.pop().unwrap_or(self.page);
    }

    pub(super) fn transform(&mut self, matrix: Matrix) {
        self.page = product(matrix, self.page);
    }

    pub(super) fn set_size(&mut self, size: f32) {
        self.size = size;
    }

    pub(super) fn set_leading(&mut self, leading: f32) {
        self.leading = leading;
    }

    /// Begins a text object.
    pub(super) fn begin(&mut self) {
        self.set_line(IDENTITY);
    }

    pub(super) fn set_line(&mut self, line: Matrix) {
        (self.line, self.next, self.has_moved) = (line, line, true);
    }

    /// Begins a line at a distance from the start of this one.
    pub(super) fn move_line(&mut self, x: f32, y: f32) {
        self.set_line(moved(self.line, x, y));
    }

    pub(super) fn next_line(&mut self) {
        self.move_line(0.0, -self.leading);
    }

    /// Moves the next string of this line to the left, in thousandths of the font size.
    pub(super) fn adjust(&mut self, thousandths: f32) {
        self.next = moved(self.next, -thousandths / 1000.0 * self.size, 0.0);
        if thousandths < -WORD_DISTANCE {
            self.push_space();
        }
    }

    /// Appends a string.
    pub(super) fn show(&mut self, string: &str) {
        if string.is_empty() {
            return;
        }
        let place = product(self.next, self.page);
        if std::mem::take(&mut self.has_moved) {
            self.part(place);
            self.estimated = 0.0;
        }
        self.text.push_str(string);
        #[allow(clippy::cast_precision_loss)]
        let characters = string.chars().count() as f32;
        self.estimated += characters;
        self.next = moved(self.next, characters * CHARACTER_WIDTH * self.size, 0.0);
        let [.., x, y] = product(self.next, self.page);
        self.end = Some((x, y));
    }

    /// Writes a line break or a space between the last string and one at a place.
    fn part(&mut self, place: Matrix) {
        let Some((end_x, end_y)) = self.end else {
            return;
        };
        let [_, _, c, d, x, y] = place;
        let em = (self.size * c.hypot(d)).abs();
        let (right, down) = (x - end_x, (y - end_y).abs());
        // The estimated width of a character may be wrong by this part of the size.
        let error = 0.3 * self.estimated;
        if down > 0.5 * em {
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text
                .push_str(if down > 2.0 * em { "\n\n" } else { "\n" });
        } else if right > em * (0.6 + error) || right < -em * (1.0 + error) {
            self.push_space();
        }
    }

    fn push_space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }
}

/// Returns the transformation by `first`, then by `second`.
fn product(first: Matrix, second: Matrix) -> Matrix {
    let [a, b, c, d, e, f] = first;
    let [a2, b2, c2, d2, e2, f2] = second;
    [
        a * a2 + b * c2,
        a * b2 + b * d2,
        c * a2 + d * c2,
        c * b2 + d * d2,
        e * a2 + f * c2 + e2,
        e * b2 + f * d2 + f2,
    ]
}

fn moved(matrix: Matrix, x: f32, y: f32) -> Matrix {
    product([1.0, 0.0, 0.0, 1.0, x, y], matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_string_decides_about_lines_and_spaces() {
        let mut layout = Layout::new(1000);
        layout.begin();
        layout.set_size(10.0);
        layout.move_line(72.0, 700.0);
        layout.show("Hel");
        layout.move_line(16.0, 0.0);
        layout.show("lo");
        layout.adjust(-300.0);
        layout.show("world");
        layout.move_line(200.0, 0.0);
        layout.show("far");
        layout.set_leading(12.0);
        layout.next_line();
        layout.show("next");
        layout.save();
        layout.transform([2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        layout.begin();
        layout.move_line(36.0, 300.0);
        layout.show("paragraph");
        layout.restore();
        assert_eq!(layout.finish(), "Hello world far\nnext\n\nparagraph");
    }
}
