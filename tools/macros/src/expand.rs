//! Code generation.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute as RustAttribute, Ident, Item, ItemFn, LitStr, Path};

use crate::attribute::Attribute;
use crate::errors::Errors;
use crate::function::Function;
use crate::span::at;
use crate::value::Example;
use crate::{closure, doc, effect, service_field, template};

/// Expands `#[tool(attribute)] item` to the function, the `_TOOL` constant and its submission.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let attribute = Attribute::read(attribute, &mut errors);
    let parsed: ItemFn = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            match syn::parse2::<Item>(item.clone()) {
                Ok(_) => errors.at(
                    Span::call_site(),
                    "this is not a function; write `#[tool]` on a free `fn` or `async fn`",
                ),
                Err(_) => errors.push(error),
            }
            let report = errors.report();
            // With the item, so that its uses cause no further errors.
            return quote! { #item #report };
        }
    };
    let function = Function::read(parsed, &mut errors);
    effect::check(&attribute, &function, &mut errors);
    if let (Some(blocking), true) = (attribute.blocking, function.is_async()) {
        errors.at(
            blocking,
            "an `async fn` cannot be `blocking`, because it shares its thread with other calls; write a plain `fn`, or remove `blocking`",
        );
    }
    let name = name(&attribute, &function, &mut errors);
    if let Some(was) = attribute.was.iter().find(|was| was.value() == name.value()) {
        errors.at(
            was.span(),
            "this is the present name; list former names only, or remove `was`",
        );
    }

    let report = errors.report();
    let original = &function.item;
    let generated = match (&report, function.item.sig.receiver().is_some()) {
        (None, _) => submission(&attribute, &function, &name),
        (Some(_), false) => placeholder(&attribute, &function),
        // Such a function is in an `impl` block, where a constant can be an error of its own.
        (Some(_), true) => TokenStream::new(),
    };
    quote! { #original #generated #report }
}

fn name(attribute: &Attribute, function: &Function, errors: &mut Errors) -> LitStr {
    let ident = &function.item.sig.ident;
    attribute.name.clone().unwrap_or_else(|| {
        let name = LitStr::new(&function.name(), ident.span());
        if let Some(message) = crate::name::error(&name.value()) {
            errors.on(
                ident,
                format_args!("{message}; write `#[tool(name = \"…\")]`"),
            );
        }
        name
    })
}

/// Returns a constant for a tool with errors, so that its uses compile and cause no further errors.
fn placeholder(attribute: &Attribute, function: &Function) -> TokenStream {
    let tools = attribute.tools_path();
    let ItemFn { vis, .. } = &function.item;
    let constant = function.constant();
    let conditions = conditions(function);
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(dead_code)]
        #vis const #constant: #tools::Submission = #tools::__private::BROKEN;
    }
}

fn submission(attribute: &Attribute, function: &Function, name: &LitStr) -> TokenStream {
    let tools = attribute.tools_path();
    let needs = &attribute.needs;
    let service_fields = service_field::quote_service_fields(attribute);
    let was = &attribute.was;
    let ItemFn { vis, .. } = &function.item;
    let constant = function.constant();
    let conditions = conditions(function);
    let summary = format!(
        "The submission of the tool `{}`, implemented by the function `{}`. Pass it to `Catalog::submit`.",
        name.value(),
        function.name()
    );
    let arguments = arguments(function);
    let presence = presence(attribute, function);
    let definition = definition(attribute, function, name);
    let handler = closure::handler(attribute, function);
    let closure = |path: &Option<Path>, write: fn(&Path, &Function) -> TokenStream| {
        option(path.as_ref().map(|path| write(path, function)))
    };
    let targets = closure(&attribute.targets, closure::targets);
    let check = closure(&attribute.check, closure::check);
    let concerns = closure(&attribute.concerns, closure::concerns);
    let preview = closure(&attribute.preview, closure::preview);
    let keeps_call = option(attribute.keeps_call.as_ref().map(|[tool, arguments]| {
        quote! { __toolcrib::KeptCall { tool: #tool, arguments: #arguments } }
    }));
    // The block hides the generated items. The alias lets the attributes of the derives refer to `tools` even if `crate = …` is a
    // path relative to this module.
    quote! {
        #(#conditions)*
        #[doc = #summary]
        #vis const #constant: #tools::Submission = {
            use #tools::__private as __toolcrib;
            #arguments
            #presence
            __toolcrib::Submission {
                name: #name,
                was: &[#(#was),*],
                source: __toolcrib::Source {
                    crate_name: ::std::borrow::Cow::Borrowed(::core::env!("CARGO_PKG_NAME")),
                    version: ::std::borrow::Cow::Borrowed(::core::env!("CARGO_PKG_VERSION")),
                    module: ::std::borrow::Cow::Borrowed(::core::module_path!()),
                    file: ::std::borrow::Cow::Borrowed(::core::file!()),
                    line: ::core::line!(),
                },
                definition: || #definition,
                handler: &__toolcrib::Function {
                    call: #handler,
                    targets: #targets,
                    check: #check,
                    concerns: #concerns,
                    preview: #preview,
                    keeps_call: #keeps_call,
                    needs: &[#(__toolcrib::Need::new::<#needs>()),*],
                    service_fields: #service_fields,
                },
            }
        };

        #(#conditions)*
        const _: () = {
            use #tools::__private as __toolcrib;
            __toolcrib::inventory::submit! { #constant }
        };
    }
}

/// Returns the `#[cfg]` attributes of the function.
fn conditions(function: &Function) -> Vec<&RustAttribute> {
    function
        .item
        .attrs
        .iter()
        // Without them, a tool that is left out would be submitted.
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect()
}

/// Returns the hidden struct of the plain parameters, or no tokens if the author uses an `#[args]` struct.
fn arguments(function: &Function) -> TokenStream {
    if function.arguments_type().is_some() {
        return TokenStream::new();
    }
    let fields = function.arguments().map(|argument| {
        let attributes = &argument.attributes;
        let ident = &argument.ident;
        let ty = &argument.ty;
        quote! { #(#attributes)* #ident: #ty }
    });
    quote! {
        #[derive(__toolcrib::serde::Deserialize, __toolcrib::schemars::JsonSchema)]
        #[serde(crate = "__toolcrib::serde", deny_unknown_fields, expecting = "an object with the arguments of the tool")]
        #[schemars(crate = "__toolcrib::schemars")]
        struct __ToolcribArguments { #(#fields),* }
    }
}

/// Returns the checks that no target depends on an optional argument whose absence has no stated meaning. The type decides, not its
/// spelling, so an alias of `Option` is found. The fields of an `#[args]` struct are checked at registration.
fn presence(attribute: &Attribute, function: &Function) -> TokenStream {
    let mut fields = Vec::new();
    for text in attribute.templates().map(LitStr::value) {
        for field in template::fields(&text).unwrap_or_default() {
            fields.push((field, text.clone()));
        }
    }
    let arguments = function.arguments();
    let checked = arguments.filter(|argument| !argument.states_default);
    let checks = checked.filter_map(|argument| {
        let (field, text) = fields
            .iter()
            .find(|(field, _)| *field == argument.property)?;
        let message = format!(
            "the argument `{field}` is optional, and {text:?} needs it; remove `Option`, or state the value that stands for an \
             absent argument: `#[serde(default = \"…\")]` with the name of a function"
        );
        let ty = &argument.ty;
        let assertion = quote_spanned! {at(ty.span())=>
            ::core::assert!(!<__toolcrib::Presence<#ty>>::IS_OPTIONAL, "{}", #message)
        };
        Some(quote! {
            const _: () = {
                use __toolcrib::Required as _;
                #assertion;
            };
        })
    });
    checks.collect()
}

/// Returns the expression that builds the definition. Unset fields are left to `Default`, which keeps the generated code small.
fn definition(attribute: &Attribute, function: &Function, name: &LitStr) -> TokenStream {
    let description = doc::pieces(&function.item.attrs);
    let parameters = match function.arguments_type() {
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
    let bytes = attribute.max_output_bytes.as_ref();
    let timeout = attribute.timeout_ms.as_ref();
    option("title", attribute.title.as_ref().map(|title| title as _));
    option("timeout_ms", timeout.map(|limit| limit as _));
    option("max_output_bytes", bytes.map(|limit| limit as _));
    for (field, texts) in [
        ("reads", &attribute.reads),
        ("writes", &attribute.writes),
        ("destroys", &attribute.destroys),
        ("tags", &attribute.tags),
    ] {
        if !texts.is_empty() {
            let field = Ident::new(field, Span::call_site());
            set.extend(quote! { #field: &[#(#texts),*], });
        }
    }
    for (field, flag) in [
        ("pure", attribute.pure),
        ("open_world", attribute.open_world),
        ("idempotent", attribute.idempotent),
        ("delegates", attribute.delegates),
        ("audit", attribute.audit),
    ] {
        if flag.is_some() {
            let field = Ident::new(field, Span::call_site());
            set.extend(quote! { #field: true, });
        }
    }
    if !attribute.examples.is_empty() {
        let examples = attribute.examples.iter().map(example);
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
    let result = result.as_ref();
    let result = option(result.map(|result| quote! { __toolcrib::serde_json::json!(#result) }));
    quote! { (__toolcrib::serde_json::json!(#arguments), #result) }
}

/// Returns the code of an `Option` with this code as its content.
fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}
