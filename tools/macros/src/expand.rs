//! Writes the code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute as RustAttribute, Ident, Item, ItemFn, LitStr, ReturnType};

use crate::attribute::Attribute;
use crate::fault::Faults;
use crate::function::Function;
use crate::parameter::Parameter;
use crate::value::Example;
use crate::{doc, effect};

/// What `#[tool(attribute)] item` becomes: the function, and beside it the constant and its submission.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut faults = Faults::default();
    let attribute = Attribute::read(attribute, &mut faults);
    let parsed: ItemFn = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            match syn::parse2::<Item>(item.clone()) {
                Ok(_) => {
                    faults.at(Span::call_site(), "this is not a function; `#[tool]` goes on a free `fn` or `async fn`")
                }
                Err(_) => faults.push(error),
            }
            let report = faults.report();
            return quote! { #item #report };
        }
    };
    let function = Function::read(parsed, &mut faults);
    effect::check(&attribute, &function, &mut faults);
    check_running(&attribute, &function, &mut faults);
    let name = name(&attribute, &function, &mut faults);

    let report = faults.report();
    let original = &function.item;
    let beside = match (&report, function.is_method()) {
        (None, _) => submission(&attribute, &function, &name),
        (Some(_), false) => placeholder(&attribute, &function),
        (Some(_), true) => TokenStream::new(),
    };
    quote! { #original #beside #report }
}

fn check_running(attribute: &Attribute, function: &Function, faults: &mut Faults) {
    if let (Some(blocking), true) = (attribute.blocking, function.is_async()) {
        faults.at(
            blocking,
            "an `async fn` is polled with others on one thread and must not block; write a plain `fn`, or take `blocking` away",
        );
    }
}

fn name(attribute: &Attribute, function: &Function, faults: &mut Faults) -> LitStr {
    let ident = &function.item.sig.ident;
    attribute.name.clone().unwrap_or_else(|| {
        let name = LitStr::new(&function.name(), ident.span());
        if let Some(fault) = crate::name::fault(&name.value()) {
            faults.on(ident, format_args!("{fault}; write `#[tool(name = \"…\")]`"));
        }
        name
    })
}

/// The constant of a tool that has errors, so that uses of it bring no more of them.
fn placeholder(attribute: &Attribute, function: &Function) -> TokenStream {
    let home = attribute.home();
    let ItemFn { vis, .. } = &function.item;
    let constant = function.constant();
    let conditions = conditions(function);
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(dead_code)]
        #vis const #constant: #home::Submission = #home::__private::BROKEN;
    }
}

fn submission(attribute: &Attribute, function: &Function, name: &LitStr) -> TokenStream {
    let (home, needs) = (attribute.home(), &attribute.needs);
    let ItemFn { vis, .. } = &function.item;
    let constant = function.constant();
    let conditions = conditions(function);
    let summary = format!(
        "The tool `{}`, for a catalog to submit; its code is the function `{}`.",
        name.value(),
        function.name()
    );
    let arguments = arguments(function);
    let definition = definition(attribute, function, name);
    let handler = handler(attribute, function);
    // One block, so that nothing but the constant is seen from outside, and one alias, so that the attributes of the
    // derives can name what they need also where `crate` is a path that only makes sense here.
    quote! {
        #(#conditions)*
        #[doc = #summary]
        #vis const #constant: #home::Submission = {
            use #home::__private as __toolcrib;
            #arguments
            __toolcrib::Submission {
                name: #name,
                source: __toolcrib::Source {
                    crate_name: ::std::borrow::Cow::Borrowed(::core::env!("CARGO_PKG_NAME")),
                    version: ::std::borrow::Cow::Borrowed(::core::env!("CARGO_PKG_VERSION")),
                    file: ::std::borrow::Cow::Borrowed(::core::file!()),
                    line: ::core::line!(),
                },
                definition: || #definition,
                handler: &__toolcrib::Function {
                    call: #handler,
                    needs: &[#(__toolcrib::Need::new::<#needs>()),*],
                },
            }
        };

        #(#conditions)*
        const _: () = {
            use #home::__private as __toolcrib;
            __toolcrib::inventory::submit! { #constant }
        };
    }
}

/// What decides whether the function exists at all.
fn conditions(function: &Function) -> Vec<&RustAttribute> {
    function.item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect()
}

/// The hidden struct of the plain parameters; nothing where the author brings a struct.
fn arguments(function: &Function) -> TokenStream {
    if arguments_type(function).is_some() {
        return TokenStream::new();
    }
    let fields = function.arguments().map(|argument| {
        let crate::parameter::Argument { ident, ty, attributes, .. } = argument;
        quote! { #(#attributes)* #ident: #ty }
    });
    quote! {
        #[derive(__toolcrib::serde::Deserialize, __toolcrib::schemars::JsonSchema)]
        #[serde(crate = "__toolcrib::serde", deny_unknown_fields, expecting = "an object with the arguments of the tool")]
        #[schemars(crate = "__toolcrib::schemars")]
        struct __ToolcribArguments { #(#fields),* }
    }
}

fn arguments_type(function: &Function) -> Option<&syn::Type> {
    function.parameters.iter().find_map(|parameter| match parameter {
        Parameter::Arguments(ty) => Some(&**ty),
        _ => None,
    })
}

/// The expression that builds the definition. What is not said is left to the defaults, which keeps the code of the many
/// small tools small.
fn definition(attribute: &Attribute, function: &Function, name: &LitStr) -> TokenStream {
    let Attribute { title, reads, writes, destroys, timeout_ms, max_output_bytes, tags, examples, .. } = attribute;
    let description = doc::pieces(&function.item.attrs);
    let parameters = match arguments_type(function) {
        Some(ty) => quote_spanned! {at(ty.span())=> __toolcrib::parameters_of::<#ty>() },
        None => quote! { __toolcrib::parameters_of::<__ToolcribArguments>() },
    };
    let mut set = TokenStream::new();
    let mut option = |field: &str, value: Option<&dyn ToTokens>| {
        if let Some(value) = value {
            let field = Ident::new(field, Span::call_site());
            set.extend(quote! { #field: ::core::option::Option::Some(#value), });
        }
    };
    option("title", title.as_ref().map(|title| title as _));
    option("timeout_ms", timeout_ms.as_ref().map(|limit| limit as _));
    option("max_output_bytes", max_output_bytes.as_ref().map(|limit| limit as _));
    for (field, texts) in [("reads", reads), ("writes", writes), ("destroys", destroys), ("tags", tags)] {
        if !texts.is_empty() {
            let field = Ident::new(field, Span::call_site());
            set.extend(quote! { #field: &[#(#texts),*], });
        }
    }
    for (field, flag) in [
        ("pure", attribute.pure),
        ("open_world", attribute.open_world),
        ("idempotent", attribute.idempotent),
        ("audit", attribute.audit),
    ] {
        if flag.is_some() {
            let field = Ident::new(field, Span::call_site());
            set.extend(quote! { #field: true, });
        }
    }
    if !examples.is_empty() {
        let examples = examples.iter().map(example);
        set.extend(quote! { examples: ::std::vec![#(#examples),*], });
    }
    quote! {
        __toolcrib::Definition {
            name: #name,
            description: &[#(#description),*],
            parameters: #parameters,
            #set
            ..::core::default::Default::default()
        }.build()
    }
}

fn example(example: &Example) -> TokenStream {
    let Example { arguments, result } = example;
    let result = match result {
        Some(result) => quote! { ::core::option::Option::Some(__toolcrib::serde_json::json!(#result)) },
        None => quote! { ::core::option::Option::None },
    };
    quote! { (__toolcrib::serde_json::json!(#arguments), #result) }
}

/// The function pointer that runs the tool.
fn handler(attribute: &Attribute, function: &Function) -> TokenStream {
    // Local names are those of the macro alone.
    let here = Span::mixed_site();
    let ident = &function.item.sig.ident;
    let passed = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Context { owned: false } => quote_spanned! {here=> &__cx },
        Parameter::Context { owned: true } => quote_spanned! {here=> ::core::clone::Clone::clone(&__cx) },
        Parameter::Argument(argument) => {
            let ident = &argument.ident;
            quote_spanned! {here=> __arguments.#ident }
        }
        Parameter::Arguments(_) | Parameter::Faulty => quote_spanned! {here=> __arguments },
    });
    let read = match arguments_type(function) {
        Some(ty) => quote_spanned! {at(ty.span())=> __toolcrib::arguments::<#ty> },
        None => quote_spanned! {here=> __toolcrib::arguments::<__ToolcribArguments> },
    };
    let has_arguments = function.parameters.iter().any(|parameter| !matches!(parameter, Parameter::Context { .. }));
    let pattern = if has_arguments {
        quote_spanned! {here=> __arguments }
    } else {
        quote_spanned! {here=> _ }
    };
    let wait = function.is_async().then(|| quote_spanned! {here=> .await });
    let output = match &function.item.sig.output {
        ReturnType::Type(_, ty) => at(ty.span()),
        ReturnType::Default => here,
    };
    let called = quote_spanned! {at(ident.span())=> #ident(#(#passed),*) #wait };
    // The complaint about a result that is none has to stand at the type of the result.
    let finished = quote_spanned! {output=> (&&&&&__toolcrib::Returned(&__output)).kind().finish(__output) };
    let body = quote_spanned! {here=>
        use __toolcrib::ReturnKind as _;
        let __entry = __toolcrib::entry(&__cx);
        let #pattern = #read(__entry, __arguments)?;
        let __output = #called;
        #finished
    };
    if function.is_async() {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::HandlerFuture::new(async move { #body }) }
    } else if attribute.pure.is_none() || attribute.blocking.is_some() {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::run_blocking(__cx, move |__cx| { #body }) }
    } else {
        quote_spanned! {here=> |__cx, __arguments| __toolcrib::HandlerFuture::ready((move || { #body })()) }
    }
}

/// A place in the author's code for errors, which lints nevertheless take for code of a macro.
fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
