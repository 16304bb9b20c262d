//! The closures of a submission: the handler, the targets, the check, the concerns and the preview.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, ReturnType};

use crate::attribute::Attribute;
use crate::function::Function;
use crate::parameter::Parameter;
use crate::span::at;

/// Returns the closure that runs the tool.
pub(crate) fn handler(attribute: &Attribute, function: &Function) -> TokenStream {
    // Hygiene: local names of the macro do not collide with the author's.
    let here = Span::mixed_site();
    let ident = &function.item.sig.ident;
    let read = read(function);
    let called = quote_call(function, &quote! { #ident }, ident.span());
    let output = match &function.item.sig.output {
        ReturnType::Type(_, ty) => at(ty.span()),
        ReturnType::Default => here,
    };
    // Places the error about an unsupported result type at that type.
    let finished =
        quote_spanned! {output=> (&&&&&__toolcrib::Returned(&__output)).kind().finish(__output) };
    let body = quote_spanned! {here=>
        use __toolcrib::ReturnKind as _;
        #read
        let __output = #called;
        #finished
    };
    if function.is_async() {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::HandlerFuture::new(async move { #body }) }
    // A function with effects usually waits for them, and would hold up the other calls of its thread.
    } else if attribute.pure.is_none() || attribute.blocking.is_some() {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::run_blocking(__cx, move |__cx| { #body }) }
    } else {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::run_short(__cx, __arguments, |__cx, __arguments| { #body }) }
    }
}

/// Returns the closure that checks the arguments against the services, or `None`.
pub(crate) fn check(path: &Path, function: &Function) -> TokenStream {
    let ty = arguments_type(function);
    let here = at(path.span());
    let passed = passed_with_context(function, here);
    quote_spanned! {here=>
        |__cx, __arguments| {
            let __cx = ::core::clone::Clone::clone(__cx);
            let __arguments = __toolcrib::arguments::<#ty>(::core::option::Option::None, __arguments)?;
            #path(#(#passed),*)
        }
    }
}

/// Returns the closure that returns reasons to ask about a call, or `None`. Arguments that cannot be read fail in the handler.
pub(crate) fn concerns(path: &Path, function: &Function) -> TokenStream {
    let ty = arguments_type(function);
    let here = at(path.span());
    let passed = passed_with_context(function, here);
    quote_spanned! {here=>
        |__cx, __arguments| {
            let __cx = ::core::clone::Clone::clone(__cx);
            match __toolcrib::arguments::<#ty>(::core::option::Option::None, __arguments) {
                ::core::result::Result::Ok(__arguments) => #path(#(#passed),*),
                ::core::result::Result::Err(_) => ::std::vec::Vec::new(),
            }
        }
    }
}

/// Returns the closure that makes the preview, or `None`.
pub(crate) fn preview(path: &Path, function: &Function) -> TokenStream {
    let here = Span::mixed_site();
    let read = read(function);
    let called = quote_call(function, &quote! { #path }, path.span());
    let finished = quote_spanned! {at(path.span())=> __toolcrib::preview(__output) };
    let body = quote_spanned! {here=>
        #read
        let __output = #called;
        #finished
    };
    if function.is_async() {
        quote_spanned! {here=> |__cx, __arguments| ::std::boxed::Box::pin(async move { #body }) }
    } else {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::preview_blocking(__cx, move |__cx| { #body }) }
    }
}

/// Returns the closure that computes the targets, or `None`.
pub(crate) fn targets(path: &Path, function: &Function) -> TokenStream {
    let ty = arguments_type(function);
    let here = at(path.span());
    let passed = quote_arguments(function, here).into_iter().flatten();
    quote_spanned! {here=>
        |__arguments| {
            let __arguments = __toolcrib::arguments_for_targets::<#ty>(&__arguments)?;
            #path(#(#passed),*)
        }
    }
}

/// Returns the type of all arguments.
fn arguments_type(function: &Function) -> TokenStream {
    function
        .arguments_type()
        .map_or_else(|| quote! { __ToolcribArguments }, |ty| quote! { #ty })
}

/// Returns the statements that deserialize the arguments.
fn read(function: &Function) -> TokenStream {
    let here = Span::mixed_site();
    let ty = arguments_type(function);
    let place = function.arguments_type().map_or(here, |ty| at(ty.span()));
    let read = quote_spanned! {place=> __toolcrib::arguments::<#ty> };
    let has_arguments = function
        .parameters
        .iter()
        .any(|parameter| !matches!(parameter, Parameter::Context { .. }));
    let pattern = if has_arguments {
        quote_spanned! {here=> __arguments }
    } else {
        // An unused name would be a warning in the author's crate.
        quote_spanned! {here=> _ }
    };
    quote_spanned! {here=>
        let __entry = __toolcrib::entry(&__cx);
        let #pattern = #read(__entry, __arguments)?;
    }
}

/// Returns the call of a function with the tool's parameters. Errors about the call are placed at `place`.
fn quote_call(function: &Function, path: &TokenStream, place: Span) -> TokenStream {
    let here = at(place);
    let passed = passed_with_context(function, here);
    let wait = function.is_async().then(|| quote_spanned! {here=> .await });
    quote_spanned! {here=> #path(#(#passed),*) #wait }
}

/// Returns the expression for each parameter.
fn passed_with_context(function: &Function, here: Span) -> impl Iterator<Item = TokenStream> + '_ {
    function
        .parameters
        .iter()
        .zip(quote_arguments(function, here))
        .map(move |(parameter, passed)| match parameter {
            Parameter::Context { owned: true } => {
                quote_spanned! {here=> ::core::clone::Clone::clone(&__cx) }
            }
            _ => passed.unwrap_or_else(|| quote_spanned! {here=> &__cx }),
        })
}

/// Returns the expression for each parameter, or `None` for the context.
fn quote_arguments(function: &Function, here: Span) -> Vec<Option<TokenStream>> {
    let expressions = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Context { .. } => None,
        Parameter::Argument(argument) => {
            let ident = &argument.ident;
            Some(quote_spanned! {here=> __arguments.#ident })
        }
        Parameter::Arguments(_) | Parameter::Invalid => Some(quote_spanned! {here=> __arguments }),
    });
    expressions.collect()
}
