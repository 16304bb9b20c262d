//! Spans of generated code.

use proc_macro2::Span;

/// Returns a span that reports errors in the author's code but that lints treat as macro code.
pub(crate) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
