//! [`PageReader`]: reads the content of pages.

use std::collections::HashMap;

use lopdf::content::Content;
use lopdf::{Dictionary, Document, Encoding, Object, ObjectId, Stream};

use super::MAX_STREAM_BYTES;
use super::layout::Layout;
use crate::stop::Stop;

/// The maximum size of all contents and character maps of a document after decompression.
const MAX_CONTENT_BYTES: usize = 32 * 1024 * 1024;

/// The cost of a short content, so that the number of contents is limited too.
const MIN_COST: usize = 256;

/// The maximum number of forms within another.
const MAX_DEPTH: usize = 8;

/// The number of operations after which the reader asks whether to stop.
const OPERATIONS_PER_CHECK: usize = 256;

/// The length of the parts in which strings are decoded. A character may stand for a long text.
const PART_BYTES: usize = 1024;

/// Reads the content of pages, within a limit for the document.
pub(super) struct PageReader<'a> {
    document: &'a Document,
    /// The encodings of fonts, by the address of their dictionaries in the document. `None` is an unknown one.
    encodings: HashMap<*const Dictionary, Option<Encoding<'a>>>,
    /// The number of bytes that may still be read.
    budget: usize,
    has_unknown_fonts: bool,
    stop: Stop<'a>,
    is_stopped: bool,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(document: &'a Document, stop: Stop<'a>) -> Self {
        let (encodings, budget) = (HashMap::new(), MAX_CONTENT_BYTES);
        Self {
            document,
            encodings,
            budget,
            has_unknown_fonts: false,
            stop,
            is_stopped: false,
        }
    }

    /// Asks whether to stop, until the answer is true.
    pub(super) fn is_over(&mut self) -> bool {
        self.is_stopped = self.is_stopped || self.stop.is_over();
        self.is_stopped
    }

    /// Returns true if the reader was stopped, so that text may be missing.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns true if no more may be read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// Returns true if there was text in a font without known characters.
    pub(super) fn has_unknown_fonts(&self) -> bool {
        self.has_unknown_fonts
    }

    /// Reads the text of a page.
    pub(super) fn read(&mut self, page: ObjectId, layout: &mut Layout) -> lopdf::Result<()> {
        let (own, inherited) = self.document.get_page_resources(page)?;
        let inherited = inherited
            .into_iter()
            .filter_map(|id| self.document.get_dictionary(id).ok());
        let resources: Vec<_> = own.into_iter().chain(inherited).collect();
        let document = self.document;
        let content = self.decompress(|limit| document.get_page_content_with_limit(page, limit))?;
        self.run(&content, &resources, layout, 0)
    }

    fn run(
        &mut self,
        content: &[u8],
        resources: &[&'a Dictionary],
        layout: &mut Layout,
        depth: usize,
    ) -> lopdf::Result<()> {
        let mut font = None;
        for (index, operation) in Content::decode(content)?.operations.into_iter().enumerate() {
            let is_over =
                self.is_stopped || (index.is_multiple_of(OPERATIONS_PER_CHECK) && self.is_over());
            if is_over || layout.is_full() {
                break;
            }
            let operands = operation.operands.as_slice();
            match operation.operator.as_str() {
                "q" => layout.save(),
                "Q" => layout.restore(),
                "cm" => numbers(operands)
                    .into_iter()
                    .for_each(|matrix| layout.transform(matrix)),
                "BT" => layout.begin(),
                "Tm" => numbers(operands)
                    .into_iter()
                    .for_each(|matrix| layout.set_line(matrix)),
                "TL" => numbers(operands)
                    .into_iter()
                    .for_each(|[leading]| layout.set_leading(leading)),
                "Td" => numbers(operands)
                    .into_iter()
                    .for_each(|[x, y]| layout.move_line(x, y)),
                "TD" => {
                    if let Some([x, y]) = numbers(operands) {
                        layout.set_leading(-y);
                        layout.move_line(x, y);
                    }
                }
                "T*" => layout.next_line(),
                "Tf" => {
                    if let [Object::Name(name), size] = operands {
                        font = self
                            .resource(resources, b"Font", name)
                            .and_then(|font| font.as_dict().ok());
                        layout.set_size(size.as_float().unwrap_or(1.0));
                    }
                }
                "Tj" | "TJ" => self.show(operands, font, layout),
                "'" | "\"" => {
                    layout.next_line();
                    self.show(
                        operands.last().map_or(&[], std::slice::from_ref),
                        font,
                        layout,
                    );
                }
                "Do" => {
                    if let [Object::Name(name)] = operands
                        && let Some(Object::Stream(form)) =
                            self.resource(resources, b"XObject", name)
                        && depth < MAX_DEPTH
                    {
                        self.form(form, resources, layout, depth + 1)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads a form, which is a part of a page. Other objects have no text.
    fn form(
        &mut self,
        form: &'a Stream,
        resources: &[&'a Dictionary],
        layout: &mut Layout,
        depth: usize,
    ) -> lopdf::Result<()> {
        if !form
            .dict
            .get(b"Subtype")
            .and_then(Object::as_name)
            .is_ok_and(|kind| kind == b"Form")
        {
            return Ok(());
        }
        let own = self
            .document
            .get_dict_in_dict(&form.dict, b"Resources")
            .ok();
        let content = self.decompress(|limit| form.decompressed_content_with_limit(limit))?;
        layout.save();
        if let Some(matrix) = form
            .dict
            .get(b"Matrix")
            .and_then(Object::as_array)
            .ok()
            .and_then(|own| numbers(own))
        {
            layout.transform(matrix);
        }
        let result = self.run(
            &content,
            own.as_ref().map_or(resources, std::slice::from_ref),
            layout,
            depth,
        );
        layout.restore();
        result
    }

    /// Appends the strings among the operands, and those of their lists.
    fn show(&mut self, operands: &[Object], font: Option<&'a Dictionary>, layout: &mut Layout) {
        for operand in operands.iter().flat_map(|operand| match operand {
            Object::Array(list) => list.as_slice(),
            operand => std::slice::from_ref(operand),
        }) {
            match operand {
                Object::String(bytes, _) => self.show_string(bytes, font, layout),
                operand => operand
                    .as_float()
                    .into_iter()
                    .for_each(|distance| layout.adjust(distance)),
            }
        }
    }

    fn show_string(&mut self, bytes: &[u8], font: Option<&'a Dictionary>, layout: &mut Layout) {
        for part in bytes.chunks(PART_BYTES) {
            let text = font
                .and_then(|font| self.encoding(font))
                .and_then(|encoding| encoding.bytes_to_string(part).ok());
            match text {
                Some(text) if !layout.is_full() => layout.show(&text),
                Some(_) => return,
                None => self.has_unknown_fonts = true,
            }
        }
    }

    /// Returns the encoding of a font. Returns `None` if it is unknown or too large.
    fn encoding(&mut self, font: &'a Dictionary) -> Option<&Encoding<'a>> {
        let key = std::ptr::from_ref(font);
        if !self.encodings.contains_key(&key) {
            let document = self.document;
            for name in [&b"ToUnicode"[..], b"Encoding"] {
                if let Ok(map) = font.get_deref(name, document).and_then(Object::as_stream) {
                    // The encoding decompresses it too, but does not say how long it is.
                    let _ = self.decompress(|limit| map.decompressed_content_with_limit(limit));
                }
            }
            let limit = self.budget.min(MAX_STREAM_BYTES);
            self.encodings
                .insert(key, font.get_font_encoding_with_limit(document, limit).ok());
        }
        self.encodings.get(&key)?.as_ref()
    }

    /// Decompresses a stream within the limits, and takes its length from the budget.
    fn decompress(
        &mut self,
        stream: impl FnOnce(usize) -> lopdf::Result<Vec<u8>>,
    ) -> lopdf::Result<Vec<u8>> {
        let limit = self.budget.min(MAX_STREAM_BYTES);
        let content = stream(limit);
        let length = content.as_ref().map_or(limit, Vec::len).max(MIN_COST);
        self.budget = self.budget.saturating_sub(length);
        content
    }

    /// Returns a resource by its kind and name.
    fn resource(
        &self,
        resources: &[&'a Dictionary],
        kind: &[u8],
        name: &[u8],
    ) -> Option<&'a Object> {
        resources.iter().find_map(|resources| {
            let named = self.document.get_dict_in_dict(resources, kind).ok()?;
            named.get_deref(name, self.document).ok()
        })
    }
}

/// Returns the operands as numbers. Returns `None` if there are others or another number of them.
fn numbers<const N: usize>(operands: &[Object]) -> Option<[f32; N]> {
    let operands: &[Object; N] = operands.try_into().ok()?;
    let mut numbers = [0.0; N];
    for (number, operand) in numbers.iter_mut().zip(operands) {
        *number = operand.as_float().ok()?;
    }
    Some(numbers)
}
