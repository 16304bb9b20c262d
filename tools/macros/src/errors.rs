//! [`Errors`]: the compile errors of one tool, reported together.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// The compile errors found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Adds an error that underlines `tokens`.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Adds an error at a span.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(Error::new(span, message));
    }

    /// Adds an error.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the errors as `compile_error!` tokens. Returns `None` if there are no errors.
    pub(crate) fn report(self) -> Option<TokenStream> {
        self.0.map(Error::into_compile_error)
    }
}
