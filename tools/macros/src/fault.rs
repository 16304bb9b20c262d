//! [`Faults`]: everything that is wrong with one tool, reported together.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// The compile errors found so far.
#[derive(Default)]
pub(crate) struct Faults(Option<Error>);

impl Faults {
    /// Adds an error that underlines `tokens`.
    pub(crate) fn on(&mut self, tokens: &dyn Tokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens.stream(), message));
    }

    /// Adds an error at one place.
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

    /// The errors as code that does not compile; `None` where there are none.
    pub(crate) fn report(self) -> Option<TokenStream> {
        self.0.map(Error::into_compile_error)
    }
}

/// What can be underlined. `ToTokens` has generic methods, so it cannot be taken as an object.
pub(crate) trait Tokens {
    fn stream(&self) -> TokenStream;
}

impl<T: ToTokens> Tokens for T {
    fn stream(&self) -> TokenStream {
        self.to_token_stream()
    }
}
