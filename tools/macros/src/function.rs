//! [`Function`]: the function that becomes a tool.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{FnArg, GenericParam, Ident, ItemFn, ReturnType, Safety, Signature};

use crate::doc;
use crate::errors::Errors;
use crate::parameter::{Argument, Parameter};

/// The function that becomes a tool.
pub(crate) struct Function {
    /// The function to return, without the attributes that the macro reads from its parameters.
    pub(crate) item: ItemFn,
    /// The roles of the parameters, in order.
    pub(crate) parameters: Vec<Parameter>,
}

impl Function {
    /// Parses a function and reports the reasons why it cannot be a tool.
    pub(crate) fn read(mut item: ItemFn, errors: &mut Errors) -> Self {
        check_qualifiers(&item.sig, errors);
        check_generics(&item.sig, errors);
        if doc::is_blank(&item.attrs) {
            errors.on(
                &item.sig.ident,
                format_args!(
                    "`{}` has no doc comment; write one above it with `///`, because a model chooses the tool by this description",
                    item.sig.ident
                ),
            );
        }
        let parameters: Vec<_> = item
            .sig
            .inputs
            .iter_mut()
            .map(|input| Parameter::read(input, errors))
            .collect();
        check_combination(&parameters, item.sig.inputs.iter(), errors);
        check_output(&item.sig.output, errors);
        Self { item, parameters }
    }

    /// Returns the name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.item.sig.ident.unraw().to_string()
    }

    /// Returns the name of the generated constant.
    pub(crate) fn constant(&self) -> Ident {
        let ident = &self.item.sig.ident;
        format_ident!(
            "{}_TOOL",
            ident.unraw().to_string().to_uppercase(),
            span = ident.span()
        )
    }

    /// Returns the type of the `#[args]` parameter, if there is one.
    pub(crate) fn arguments_type(&self) -> Option<&syn::Type> {
        self.parameters
            .iter()
            .find_map(|parameter| match parameter {
                Parameter::Arguments(ty) => Some(&**ty),
                _ => None,
            })
    }

    pub(crate) fn is_async(&self) -> bool {
        self.item.sig.asyncness.is_some()
    }

    /// Returns the plain parameters.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(&**argument),
                _ => None,
            })
    }

    /// Returns the names of all arguments. Returns `None` if they depend on a struct or a flattened field.
    pub(crate) fn properties(&self) -> Option<Vec<&str>> {
        let known = self.parameters.iter().all(|parameter| match parameter {
            Parameter::Context { .. } => true,
            Parameter::Argument(argument) => !argument.is_flattened,
            Parameter::Arguments(_) | Parameter::Invalid => false,
        });
        known.then(|| {
            self.arguments()
                .map(|argument| &*argument.property)
                .collect()
        })
    }
}

fn check_qualifiers(signature: &Signature, errors: &mut Errors) {
    if let Some(token) = &signature.constness {
        errors.on(
            token,
            "a tool cannot be `const`; remove it, or call a `const fn` from the tool",
        );
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.on(
            token,
            "a tool cannot be `unsafe`, because a model chooses its arguments; check the arguments in a safe function",
        );
    }
    if let Some(abi) = &signature.abi {
        errors.on(abi, "a tool cannot be `extern`; remove it");
    }
    if let Some(variadic) = &signature.variadic {
        errors.on(
            variadic,
            "a tool cannot be variadic; write `Vec<T>` for several arguments of one type",
        );
    }
}

fn check_generics(signature: &Signature, errors: &mut Errors) {
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => errors
                .on(lifetime, "a tool cannot have lifetime parameters; remove them (`&ToolContext` needs no lifetime)"),
            other => errors.on(other, "a tool cannot be generic, because it has one schema; write a concrete type"),
        }
    }
    if let Some(clause) = &signature.generics.where_clause {
        errors.on(
            clause,
            "a tool cannot be generic; remove the `where` clause",
        );
    }
}

/// Reports parameters that cannot be combined.
fn check_combination<'a>(
    parameters: &[Parameter],
    inputs: impl Iterator<Item = &'a FnArg> + Clone,
    errors: &mut Errors,
) {
    let matching = |wanted: fn(&Parameter) -> bool| {
        parameters
            .iter()
            .zip(inputs.clone())
            .filter(move |(parameter, _)| wanted(parameter))
            .map(|(_, input)| input)
    };
    for input in matching(|parameter| matches!(parameter, Parameter::Context { .. })).skip(1) {
        errors.on(input, "a tool takes one context; remove this parameter");
    }
    let mut structs = matching(|parameter| matches!(parameter, Parameter::Arguments(_)));
    if structs.next().is_some() {
        for input in structs {
            errors.on(
                input,
                "a tool takes one `#[args]` struct; move these fields to the first one",
            );
        }
        for input in matching(|parameter| matches!(parameter, Parameter::Argument(_))) {
            errors.on(
                input,
                "the `#[args]` struct holds all arguments; make this parameter a field of it",
            );
        }
    }
}

/// Reports a result that borrows, because the result outlives the call.
fn check_output(output: &ReturnType, errors: &mut Errors) {
    if let ReturnType::Type(_, ty) = output
        && borrows(ty.to_token_stream())
    {
        errors.on(ty, "a result cannot borrow, because it outlives the call; return owned data such as `String`, or `&'static str`");
    }
}

/// Returns true if the tokens contain a reference without `'static`.
fn borrows(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let borrows = match (token, tokens.peek()) {
            // A lifetime is two tokens, and the next turn judges its name.
            (TokenTree::Punct(punct), Some(TokenTree::Punct(next))) if punct.as_char() == '&' => {
                next.as_char() != '\''
            }
            (TokenTree::Punct(punct), _) if punct.as_char() == '&' => true,
            (TokenTree::Punct(punct), Some(TokenTree::Ident(name))) if punct.as_char() == '\'' => {
                name != "static"
            }
            (TokenTree::Group(group), _) => borrows(group.stream()),
            _ => false,
        };
        if borrows {
            return true;
        }
    }
    false
}
