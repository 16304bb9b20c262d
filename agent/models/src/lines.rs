//! [`Lines`]: the documents in the events of a stream, or in its lines.
//!
//! Crates for server-sent events read a stream as the standard says. Services are less careful: they leave out the names of fields and the
//! empty lines between events, report errors in a field of their own, and put several documents into one event.

use memchr::memchr_iter;

use crate::broken::Broken;
use crate::documents::{documents, probable_document};
use crate::split_characters::escape_line;

/// Takes a document of a reply, or several in one text that looks like a document.
pub(crate) type ReadDocument<'a> = dyn FnMut(&str) -> Result<(), Broken> + 'a;

/// The state of a stream that is read in lines.
pub(crate) struct Lines {
    /// True if each line is a document, as Ollama has it.
    is_plain: bool,
    /// The incomplete last line.
    rest: Vec<u8>,
    /// The data of the incomplete last event, which may span lines.
    data: String,
    /// True if the incomplete last event has the name of an error.
    is_error: bool,
}

impl Lines {
    pub(crate) fn new(is_plain: bool) -> Self {
        Self {
            is_plain,
            rest: Vec::new(),
            data: String::new(),
            is_error: false,
        }
    }

    /// Returns the number of bytes that wait for the end of their event.
    pub(crate) fn held_bytes(&self) -> usize {
        self.rest.len() + self.data.len()
    }

    /// Reads a piece of the stream. Passes on each document that ends in it, and marks of the end.
    ///
    /// # Errors
    /// Returns an error if the stream reports one, if a document is garbled, and the errors of `read`.
    pub(crate) fn read(&mut self, piece: &[u8], read: &mut ReadDocument<'_>) -> Result<(), Broken> {
        let mut start = 0;
        for end in memchr_iter(b'\n', piece) {
            let part = &piece[start..=end];
            start = end + 1;
            if self.rest.is_empty() {
                self.read_line(part, read)?;
            } else {
                self.rest.extend_from_slice(part);
                let line = std::mem::take(&mut self.rest);
                self.read_line(&line, read)?;
            }
        }
        self.rest.extend_from_slice(&piece[start..]);
        Ok(())
    }

    /// Reads the rest of the stream, whose last line may lack its line break.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub(crate) fn finish(&mut self, read: &mut ReadDocument<'_>) -> Result<(), Broken> {
        let line = std::mem::take(&mut self.rest);
        self.read_line(&line, read)?;
        self.read_event(read)
    }

    fn read_line(&mut self, line: &[u8], read: &mut ReadDocument<'_>) -> Result<(), Broken> {
        let text = escape_line(line);
        let text = text.trim_start_matches('\u{feff}');
        // GPUStack reports an error of a stream in a field of this name, which is not of the standard.
        if let Some(error) = text.strip_prefix("error:") {
            return Err(Broken::Reported(error.trim().to_owned()));
        }
        // A line that is a document is one of a stream without the names of fields, or of an array over several lines.
        let element = text.trim_start_matches([',', ' ']);
        let element = element
            .strip_prefix('[')
            .filter(|_| !element.trim_end().ends_with(']'))
            .unwrap_or(element);
        // A document without the name of a field ends no event, so the data that was read before it is kept.
        if self.is_plain || element.trim_start_matches('[').starts_with('{') {
            read_documents(element, read)?;
        } else if let Some(data) = text.strip_prefix("data:") {
            self.data.push_str(data);
        } else if text.trim().is_empty() {
            self.read_event(read)?;
        } else if let Some(name) = text.strip_prefix("event:") {
            // Only this name counts: the types of all other events are in their documents too, and services leave the names out.
            self.is_error = name.trim() == "error";
        }
        Ok(())
    }

    fn read_event(&mut self, read: &mut ReadDocument<'_>) -> Result<(), Broken> {
        if std::mem::take(&mut self.is_error) && !self.data.trim().is_empty() {
            return Err(Broken::Reported(self.data.trim().to_owned()));
        }
        let mut data = std::mem::take(&mut self.data);
        read_documents(&data, read)?;
        // The next event needs no new memory.
        data.clear();
        self.data = data;
        Ok(())
    }
}

/// Passes on the documents in a text, and marks of the end. Passes on a text that looks like one document as a whole.
///
/// # Errors
/// Returns an error if the text tells of one or is garbled, and the errors of `read`.
fn read_documents(text: &str, read: &mut ReadDocument<'_>) -> Result<(), Broken> {
    match probable_document(text) {
        Some(document) => read(document),
        None => documents(text)?.into_iter().try_for_each(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &str, piece: usize) -> Result<Vec<String>, Broken> {
        let (mut lines, mut found) = (Lines::new(false), Vec::new());
        let mut keep = |text: &str| -> Result<(), Broken> {
            found.extend(documents(text)?.into_iter().map(str::to_owned));
            Ok(())
        };
        for piece in stream.as_bytes().chunks(piece) {
            lines.read(piece, &mut keep)?;
        }
        lines.finish(&mut keep)?;
        Ok(found)
    }

    #[test]
    fn documents_are_the_same_in_pieces_of_any_size() {
        let stream = "\u{feff}: note\r\nevent: a\r\nid: 1\r\ndata:{\"é\":1}\r\n\r\ndata: {\"b\":\ndata: 2}\n\n{\"c\":3}\n\
            data: data: {\"d\":4}\ndata: ping\n\ndata: {\"e\":5}{\"f\":6}\n\ndata: [DONE]";
        let documents = [
            "{\"é\":1}",
            "{\"b\":\n 2}",
            "{\"c\":3}",
            "{\"d\":4}",
            "{\"e\":5}",
            "{\"f\":6}",
            "[DONE]",
        ];
        for piece in [1, 2, 7, 1000] {
            assert_eq!(read(stream, piece).unwrap(), documents, "{piece}");
        }
    }

    #[test]
    fn an_error_of_a_stream_is_one_in_each_form() {
        for (stream, body) in [
            ("error: {\"code\": 1}\n\n", "{\"code\": 1}"),
            ("event: error\ndata: gone\n\n", "gone"),
            ("data: [ERROR] gone\n\n", "[ERROR] gone"),
        ] {
            let error = read(stream, 3).unwrap_err();
            assert!(
                matches!(&error, Broken::Reported(found) if found.trim() == body),
                "{error:?}"
            );
        }
        assert!(matches!(
            read("data: {\"a\":\n\n", 9),
            Err(Broken::Garbled(_))
        ));
    }
}
