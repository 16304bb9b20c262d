//! The size of a value as JSON, without writing it anywhere.

use serde_json::Value;

/// The length of the text that a value is written as, in bytes.
pub(crate) fn encoded(value: &Value) -> usize {
    let mut count = Count(0);
    // Neither a value nor the counting can fail; were it to, the value would count as too large.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
