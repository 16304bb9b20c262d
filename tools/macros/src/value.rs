//! Parsers of the values of attributes.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitInt, LitStr, Path, Result, Token, Type, token};

/// One `example(arguments => result)`.
pub(crate) struct Example {
    /// The arguments, in the syntax of `serde_json::json!`.
    pub(crate) arguments: TokenStream,
    /// The result, in the syntax of `serde_json::json!`.
    pub(crate) result: Option<TokenStream>,
}

/// Returns an error if a flag has a value.
pub(crate) fn flag(key: &Ident, input: ParseStream<'_>) -> Result<Span> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(key.span());
    }
    let message = format!("`{key}` takes no value; write only `{key}`");
    Err(Error::new(input.span(), message))
}

/// Parses `= "text"`. A blank text is an error.
pub(crate) fn text(key: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    let text: LitStr = parse_eq(key, input, &format!("write `{key} = \"…\"`"))?;
    if text.value().trim().is_empty() {
        let message = format!("`{key}` is blank; write a text, or remove `{key}`");
        return Err(Error::new(text.span(), message));
    }
    Ok(text)
}

/// Parses `= "text"` or `= ["text", "text"]`.
pub(crate) fn texts(key: &Ident, input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    let hint = format!("write `{key} = \"…\"` or `{key} = [\"…\", \"…\"]`");
    let equals = equals(key, input, &hint)?;
    let texts: Vec<LitStr> = if input.peek(token::Bracket) {
        let list;
        syn::bracketed!(list in input);
        Punctuated::<LitStr, Token![,]>::parse_terminated(&list)
            .map_err(|error| Error::new(error.span(), &hint))?
            .into_iter()
            .collect()
    } else {
        vec![parse(input, &hint)?]
    };
    if texts.is_empty() {
        return Err(Error::new(equals.span, format!("`{key}` is empty; {hint}")));
    }
    match texts.iter().find(|text| text.value().trim().is_empty()) {
        Some(blank) => Err(Error::new(
            blank.span(),
            format!("this text is blank; {hint}"),
        )),
        None => Ok(texts),
    }
}

/// Parses `= "30s"`. Returns milliseconds.
pub(crate) fn duration(key: &Ident, input: ParseStream<'_>) -> Result<u64> {
    let hint = format!("write a duration, such as `{key} = \"30s\"`");
    let text: LitStr = parse_eq(key, input, &hint)?;
    crate::quantity::milliseconds(&text.value()).map_err(|message| Error::new(text.span(), message))
}

/// Parses `= "64KiB"` or `= 65536`. Returns bytes.
pub(crate) fn size(key: &Ident, input: ParseStream<'_>) -> Result<u64> {
    let hint = format!("write a size, such as `{key} = \"64KiB\"` or `{key} = 65536`");
    equals(key, input, &hint)?;
    if input.peek(LitInt) {
        let number: LitInt = input.parse()?;
        return match number.base10_parse::<u64>() {
            Ok(bytes) if bytes > 0 => Ok(bytes),
            _ => Err(Error::new(
                number.span(),
                format!("this is not a number of bytes above 0; {hint}"),
            )),
        };
    }
    let text: LitStr = parse(input, &hint)?;
    crate::quantity::bytes(&text.value()).map_err(|message| Error::new(text.span(), message))
}

/// Parses `= Type` or `(TypeA, TypeB)`.
pub(crate) fn types(key: &Ident, input: ParseStream<'_>) -> Result<Vec<Type>> {
    let hint = format!("write `{key} = Type` or `{key}(TypeA, TypeB)`");
    let types: Vec<Type> = if input.peek(token::Paren) {
        let list;
        syn::parenthesized!(list in input);
        Punctuated::<Type, Token![,]>::parse_terminated(&list)?
            .into_iter()
            .collect()
    } else {
        vec![parse_eq(key, input, &hint)?]
    };
    if types.is_empty() {
        return Err(Error::new(key.span(), format!("`{key}` is empty; {hint}")));
    }
    Ok(types)
}

/// Parses `= ::cribs` or `= "::cribs"`.
pub(crate) fn path(key: &Ident, input: ParseStream<'_>, hint: &str) -> Result<Path> {
    equals(key, input, hint)?;
    // A text is accepted as well, as serde writes paths so.
    let ahead = input.fork();
    if let Ok(text) = ahead.parse::<LitStr>() {
        input.advance_to(&ahead);
        return text
            .parse_with(Path::parse_mod_style)
            .map_err(|_| Error::new(text.span(), hint));
    }
    Path::parse_mod_style(input).map_err(|error| Error::new(error.span(), hint))
}

/// Parses `({"a": 1} => 2)`.
pub(crate) fn example(key: &Ident, input: ParseStream<'_>) -> Result<Example> {
    const HINT: &str = "write `example({\"argument\": value} => result)`, with or without `=> result`, in the syntax of `json!`";
    if !input.peek(token::Paren) {
        return Err(Error::new(key.span(), HINT));
    }
    let inside;
    syn::parenthesized!(inside in input);
    let start = inside.span();
    let arguments = match inside.parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            TokenTree::Group(group).into()
        }
        _ => {
            // Consumes the rest, so that syn reports no second error.
            inside.parse::<TokenStream>()?;
            let message = format!("the arguments of an example must be an object; {HINT}");
            return Err(Error::new(start, message));
        }
    };
    if inside.is_empty() {
        return Ok(Example {
            arguments,
            result: None,
        });
    }
    let after = inside.span();
    let result: TokenStream = if inside.parse::<Option<Token![=>]>>()?.is_some() {
        inside.parse()?
    } else {
        TokenStream::new()
    };
    if result.is_empty() {
        inside.parse::<TokenStream>()?;
        return Err(Error::new(after, HINT));
    }
    Ok(Example {
        arguments,
        result: Some(result),
    })
}

/// Skips all tokens up to the next comma.
pub(crate) fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // Cannot fail, because the input is not empty.
        let _ = input.parse::<TokenTree>();
    }
}

/// Parses all of `tokens` with a function that reports its errors itself.
pub(crate) fn all(tokens: TokenStream, mut read: impl FnMut(ParseStream<'_>)) {
    let parser = |input: ParseStream<'_>| {
        read(input);
        Ok(())
    };
    // Errors were reported by `read`. This result would only repeat that tokens are left.
    let _ = parser.parse2(tokens);
}

/// Parses `= value`.
pub(crate) fn parse_eq<T: Parse>(key: &Ident, input: ParseStream<'_>, hint: &str) -> Result<T> {
    equals(key, input, hint)?;
    parse(input, hint)
}

fn parse<T: Parse>(input: ParseStream<'_>, hint: &str) -> Result<T> {
    input
        .parse()
        .map_err(|error| Error::new(error.span(), hint))
}

fn equals(key: &Ident, input: ParseStream<'_>, hint: &str) -> Result<Token![=]> {
    input
        .parse()
        .map_err(|_| Error::new(key.span(), format!("`{key}` needs a value; {hint}")))
}
