//! [`Function`]: the function that becomes a tool.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{FnArg, GenericParam, Ident, ItemFn, ReturnType, Safety, Signature};

use crate::doc;
use crate::fault::Faults;
use crate::parameter::{Argument, Parameter};

/// The function that becomes a tool.
pub(crate) struct Function {
    /// The function as it is given back: without what was written on its parameters for us.
    pub(crate) item: ItemFn,
    /// What each parameter is for, in their order.
    pub(crate) parameters: Vec<Parameter>,
}

impl Function {
    /// Reads a function and reports everything that keeps it from being a tool.
    pub(crate) fn read(mut item: ItemFn, faults: &mut Faults) -> Self {
        qualifiers(&item.sig, faults);
        generics(&item.sig, faults);
        if doc::is_blank(&item.attrs) {
            faults.on(
                &item.sig.ident,
                format_args!(
                    "`{}` has no doc comment; write one above it with `///`: it is the description by which a model chooses the tool",
                    item.sig.ident
                ),
            );
        }
        let parameters: Vec<_> = item.sig.inputs.iter_mut().map(|input| Parameter::read(input, faults)).collect();
        together(&parameters, item.sig.inputs.iter(), faults);
        output(&item.sig.output, faults);
        Self { item, parameters }
    }

    /// The name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.item.sig.ident.unraw().to_string()
    }

    /// The constant that stands beside the function.
    pub(crate) fn constant(&self) -> Ident {
        let ident = &self.item.sig.ident;
        format_ident!("{}_TOOL", ident.unraw().to_string().to_uppercase(), span = ident.span())
    }

    pub(crate) fn is_async(&self) -> bool {
        self.item.sig.asyncness.is_some()
    }

    /// Whether it stands in an `impl` or a `trait`, where nothing can be put beside it.
    pub(crate) fn is_method(&self) -> bool {
        self.item.sig.receiver().is_some()
    }

    /// The plain parameters.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(&**argument),
            _ => None,
        })
    }

    /// The names of all arguments, where the parameters tell them.
    pub(crate) fn properties(&self) -> Option<Vec<&str>> {
        let known = self.parameters.iter().all(|parameter| match parameter {
            Parameter::Context { .. } => true,
            Parameter::Argument(argument) => !argument.is_flattened,
            Parameter::Arguments(_) | Parameter::Faulty => false,
        });
        known.then(|| self.arguments().map(|argument| &*argument.property).collect())
    }
}

fn qualifiers(signature: &Signature, faults: &mut Faults) {
    if let Some(token) = &signature.constness {
        faults.on(
            token,
            "a tool is called while the program runs; take `const` away, or call a `const fn` from the tool",
        );
    }
    if let Safety::Unsafe(token) = &signature.safety {
        faults.on(token, "a tool is called with whatever a model writes, so it has to be safe; check the arguments in a safe function");
    }
    if let Some(abi) = &signature.abi {
        faults.on(abi, "a tool is an ordinary Rust function; take `extern` away");
    }
    if let Some(variadic) = &signature.variadic {
        faults.on(variadic, "a tool has a fixed list of arguments; write `Vec<T>` for several of a kind");
    }
}

fn generics(signature: &Signature, faults: &mut Faults) {
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => faults.on(
                lifetime,
                "a tool owns its arguments and needs no lifetimes; take this away (`&ToolContext` is written without one)",
            ),
            other => faults.on(other, "a tool has one schema and cannot be generic; write the type itself"),
        }
    }
    if let Some(clause) = &signature.generics.where_clause {
        faults.on(clause, "a tool cannot be generic; take the `where` clause away");
    }
}

/// What can only be seen by looking at all parameters.
fn together<'a>(parameters: &[Parameter], inputs: impl Iterator<Item = &'a FnArg> + Clone, faults: &mut Faults) {
    let those = |wanted: fn(&Parameter) -> bool| {
        parameters.iter().zip(inputs.clone()).filter(move |(parameter, _)| wanted(parameter)).map(|(_, input)| input)
    };
    for input in those(|parameter| matches!(parameter, Parameter::Context { .. })).skip(1) {
        faults.on(input, "a call has one context; take the second one away");
    }
    let mut structs = those(|parameter| matches!(parameter, Parameter::Arguments(_)));
    if structs.next().is_some() {
        for input in structs {
            faults.on(input, "only one struct can hold the arguments; put these fields into the first one");
        }
        for input in those(|parameter| matches!(parameter, Parameter::Argument(_))) {
            faults.on(input, "the arguments are those of the `#[args]` struct; make this a field of it");
        }
    }
}

/// What is returned outlives the call.
fn output(output: &ReturnType, faults: &mut Faults) {
    if let ReturnType::Type(_, ty) = output
        && borrows(ty.to_token_stream())
    {
        faults.on(ty, "a result outlives the call; return data that is owned, such as `String`, or `&'static str`");
    }
}

/// Whether there is a reference without `'static`.
fn borrows(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let borrows = match (token, tokens.peek()) {
            (TokenTree::Punct(punct), Some(TokenTree::Punct(next))) if punct.as_char() == '&' => next.as_char() != '\'',
            (TokenTree::Punct(punct), _) if punct.as_char() == '&' => true,
            (TokenTree::Punct(punct), Some(TokenTree::Ident(name))) if punct.as_char() == '\'' => name != "static",
            (TokenTree::Group(group), _) => borrows(group.stream()),
            _ => false,
        };
        if borrows {
            return true;
        }
    }
    false
}
