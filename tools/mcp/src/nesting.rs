//! [`Nesting`]: the place in a JSON text, byte by byte.

/// The place in a JSON text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Nesting {
    /// The objects and lists that are open.
    pub(crate) depth: usize,
    pub(crate) is_string: bool,
    is_escaped: bool,
}

impl Nesting {
    /// Takes the next byte. Returns false if it closes what is not open.
    pub(crate) fn push(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_string => self.is_escaped = true,
            b'"' => self.is_string = !self.is_string,
            b'[' | b'{' if !self.is_string => self.depth += 1,
            b']' | b'}' if !self.is_string => match self.depth.checked_sub(1) {
                Some(depth) => self.depth = depth,
                None => return false,
            },
            _ => {}
        }
        true
    }

    /// Returns the levels of a JSON text.
    pub(crate) fn deepest(json: &[u8]) -> usize {
        let mut nesting = Self::default();
        let depths = json.iter().map(|byte| {
            nesting.push(*byte);
            nesting.depth
        });
        depths.max().unwrap_or(0)
    }
}
