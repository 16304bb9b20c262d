//! [`Screen`]: a terminal that knows the control sequences of a program and of its line editor.

/// The rows of a terminal, with those that have scrolled off.
pub struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    width: usize,
    height: usize,
}

impl Screen {
    /// Creates an empty terminal of this many columns and rows.
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            rows: vec![Vec::new()],
            row: 0,
            column: 0,
            width,
            height,
        }
    }

    /// Shows what a program writes.
    ///
    /// # Panics
    ///
    /// Panics if the text has another control sequence.
    pub fn write(&mut self, text: &str) {
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            match c {
                '\r' => self.column = 0,
                '\n' => self.down(),
                '\u{8}' => self.column = self.column.saturating_sub(1),
                '\x1b' => {
                    assert_eq!(characters.next(), Some('['), "{text:?}");
                    let mut sequence = String::new();
                    for c in characters.by_ref() {
                        sequence.push(c);
                        if c.is_ascii_alphabetic() {
                            break;
                        }
                    }
                    self.command(&sequence);
                }
                c if c.is_control() => {}
                c => self.put(c),
            }
        }
    }

    fn put(&mut self, c: char) {
        if self.column == self.width {
            self.column = 0;
            self.down();
        }
        let row = &mut self.rows[self.row];
        row.resize(row.len().max(self.column + 1), ' ');
        row[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn command(&mut self, sequence: &str) {
        let (count, name) = sequence.split_at(sequence.len() - 1);
        let number = count.parse().unwrap_or(1);
        let top = self.rows.len().saturating_sub(self.height);
        if !matches!(name, "m" | "h" | "l") {
            // Behind a full row, the cursor is on its last character for commands.
            self.column = self.column.min(self.width - 1);
        }
        match name {
            "A" => self.row = self.row.saturating_sub(number).max(top),
            "B" => self.row = (self.row + number).min(self.rows.len() - 1),
            "C" => self.column = (self.column + number).min(self.width - 1),
            "K" if count == "2" => self.rows[self.row].clear(),
            "K" => self.rows[self.row].truncate(self.column),
            "J" => {
                self.rows[self.row].truncate(self.column);
                self.rows[self.row + 1..].iter_mut().for_each(Vec::clear);
            }
            "m" | "h" | "l" => {}
            other => panic!("{other}"),
        }
    }

    /// Returns the rows without spaces and empty rows at their ends.
    pub fn text(&self) -> Vec<String> {
        let rows = self.rows.iter().map(|row| row.iter().collect::<String>());
        let mut rows: Vec<_> = rows.map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}
