//! Doc comments.

use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, parse_quote};

/// Returns the pieces of a doc comment, to be joined with line breaks. Consecutive literal lines are one piece; an expression
/// such as `#[doc = include_str!("read.md")]` is a piece of its own, left to the compiler.
pub(crate) fn pieces(attributes: &[Attribute]) -> Vec<Expr> {
    let mut pieces = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for value in attributes.iter().filter_map(value) {
        match literal(value) {
            Some(line) => lines.push(line),
            None => {
                flush(&mut lines, &mut pieces);
                pieces.push(value.clone());
            }
        }
    }
    flush(&mut lines, &mut pieces);
    pieces
}

/// Returns true if the doc comment is missing or has only white space.
pub(crate) fn is_blank(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter_map(value)
        .all(|value| literal(value).is_some_and(|line| line.trim().is_empty()))
}

fn value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

/// Returns a literal line without the space after `///`. Returns `None` for other expressions.
fn literal(value: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(line),
        ..
    }) = value
    else {
        return None;
    };
    let line = line.value();
    // Only one, since more are the indentation of code and lists.
    Some(line.strip_prefix(' ').map(str::to_owned).unwrap_or(line))
}

fn flush(lines: &mut Vec<String>, pieces: &mut Vec<Expr>) {
    if !lines.is_empty() {
        let text =
            LitStr::new(&lines.join("\n"), proc_macro2::Span::call_site()).into_token_stream();
        pieces.push(parse_quote!(#text));
        lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn attributes(tokens: proc_macro2::TokenStream) -> Vec<Attribute> {
        let item: syn::ItemFn = parse_quote! { #tokens fn f() {} };
        item.attrs
    }

    #[test]
    fn lines_are_joined_and_keep_their_indentation() {
        let pieces = pieces(&attributes(quote! {
            #[doc = " First."]
            #[doc = ""]
            #[doc = "  - item"]
        }));
        let expected: Expr = parse_quote!("First.\n\n - item");
        assert_eq!(pieces, [expected]);
    }

    #[test]
    fn an_included_text_is_left_to_the_compiler() {
        let attributes = attributes(quote! { #[doc = " First."] #[doc = include_str!("rest.md")] });
        assert_eq!(pieces(&attributes).len(), 2);
        assert!(!is_blank(&attributes));
    }

    #[test]
    fn a_comment_without_a_word_is_blank() {
        assert!(is_blank(&attributes(
            quote! { #[doc = " "] #[inline] #[doc(hidden)] }
        )));
    }
}
