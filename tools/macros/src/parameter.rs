//! [`Parameter`]: the role of one parameter of the function.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Ident, LitStr, Pat, PatType, Type, parenthesized};

use crate::doc;
use crate::errors::Errors;

/// The role of one parameter of the function.
pub(crate) enum Parameter {
    /// The context of the call.
    Context {
        /// True if the context is taken by value.
        owned: bool,
    },
    /// One argument.
    Argument(Box<Argument>),
    /// All arguments, as the author's `#[args]` struct.
    Arguments(Box<Type>),
    /// A parameter with an error that was already reported.
    Invalid,
}

/// A plain parameter.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The doc comment and the attributes for serde and schemars.
    pub(crate) attributes: Vec<Attribute>,
    /// The name of the property in the schema.
    pub(crate) property: String,
    /// True if the parameter has `#[serde(flatten)]`, so that its properties are known only to the compiler.
    pub(crate) is_flattened: bool,
    /// True if an attribute states the value that stands for an absent argument, or replaces the schema.
    pub(crate) states_default: bool,
}

impl Parameter {
    /// Parses one parameter and removes the attributes that the compiler would reject on a parameter.
    pub(crate) fn read(input: &mut FnArg, errors: &mut Errors) -> Self {
        let parameter = match input {
            FnArg::Receiver(receiver) => {
                errors.on(
                    receiver,
                    "a tool cannot take `self`; write a free function and get state from the context: `cx.need::<T>()`",
                );
                return Self::Invalid;
            }
            FnArg::Typed(parameter) => parameter,
        };
        let (moved, kept) = std::mem::take(&mut parameter.attrs)
            .into_iter()
            .partition(is_ours);
        parameter.attrs = kept;
        if let Some(attribute) = parameter
            .attrs
            .iter()
            .find(|attribute| attribute.path().is_ident("cfg"))
        {
            errors.on(
                attribute,
                "a parameter of a tool cannot have `#[cfg]`; put `#[cfg]` on the function, or remove the parameter",
            );
            return Self::Invalid;
        }
        Self::from_typed(parameter, moved, errors)
    }

    fn from_typed(parameter: &PatType, attributes: Vec<Attribute>, errors: &mut Errors) -> Self {
        let args = attributes
            .iter()
            .find(|attribute| attribute.path().is_ident("args"));
        let elsewhere = attributes
            .iter()
            .find(|attribute| is_for(attribute, &["serde", "schemars"]));
        if let Some(context) = context(&parameter.ty) {
            if let Some(attribute) = args.or(elsewhere) {
                errors.on(
                    attribute,
                    "the context is not an argument; remove this attribute",
                );
            }
            return match context {
                Ok(owned) => Self::Context { owned },
                Err(message) => {
                    errors.on(&parameter.ty, message);
                    Self::Invalid
                }
            };
        }
        if !is_owned(&parameter.ty, errors) {
            return Self::Invalid;
        }
        if let Some(args) = args {
            if args.meta.require_path_only().is_err() {
                errors.on(args, "`#[args]` takes no value; write only `#[args]`");
            }
            if let Some(attribute) = elsewhere {
                errors.on(
                    attribute,
                    "this attribute has no effect beside `#[args]`; write it on the struct or its fields",
                );
            }
            return Self::Arguments(parameter.ty.clone());
        }
        let Some(ident) = name(parameter, errors) else {
            return Self::Invalid;
        };
        if doc::is_blank(&attributes) {
            errors.on(
                &ident,
                format_args!("the parameter `{ident}` has no doc comment; write one above it with `///`, because it describes the argument to the model (mark a struct that holds all arguments with `#[args]` instead)"),
            );
        }
        let serde = SerdeAttributes::parse(&attributes);
        let property = serde.name.unwrap_or_else(|| ident.unraw().to_string());
        let ty = Type::clone(&parameter.ty);
        Self::Argument(Box::new(Argument {
            ident,
            ty,
            attributes,
            property,
            is_flattened: serde.is_flattened,
            states_default: serde.states_default,
        }))
    }
}

/// Returns true if the attribute is read here or moves to the field of the hidden struct.
fn is_ours(attribute: &Attribute) -> bool {
    is_for(attribute, &["doc", "serde", "schemars", "args"])
}

fn is_for(attribute: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attribute.path().is_ident(name))
}

/// Returns the name of a plain parameter. Reports an error and returns `None` if it is another pattern.
fn name(parameter: &PatType, errors: &mut Errors) -> Option<Ident> {
    if let Pat::Ident(pattern) = &*parameter.pat
        && pattern.by_ref.is_none()
        && pattern.subpat.is_none()
    {
        return Some(pattern.ident.clone());
    }
    errors.on(
        &parameter.pat,
        "an argument needs a name for its schema; write `name: Type` and destructure it in the function, or take a struct as `#[args]`",
    );
    None
}

/// Returns true for a context by value, false for one by reference, or an error message. Returns `None` for other types.
fn context(ty: &Type) -> Option<Result<bool, &'static str>> {
    match plain(ty) {
        // A macro sees names and no types, so an alias of the context is taken for an argument.
        Type::Path(path) if path.path.segments.last()?.ident == "ToolContext" => Some(Ok(true)),
        Type::Reference(reference) => {
            // Returns early for a reference to another type.
            let _ = context(&reference.elem)?;
            Some(if reference.mutability.is_some() {
                Err("the context cannot be borrowed mutably; take it as `&ToolContext`")
            } else if reference.lifetime.is_some()
                || matches!(plain(&reference.elem), Type::Reference(_))
            {
                Err("the context lives only as long as the call; take it as `&ToolContext`")
            } else {
                Ok(false)
            })
        }
        _ => None,
    }
}

/// Returns true if the type can be deserialized from JSON, as far as its syntax shows. Reports an error otherwise.
fn is_owned(ty: &Type, errors: &mut Errors) -> bool {
    let message = match plain(ty) {
        Type::Reference(reference) => {
            let elem = plain(&reference.elem);
            let write = match elem {
                Type::Slice(slice) => format!("Vec<{}>", show_tokens(&slice.elem)),
                Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
                Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Path") => "String".to_owned(),
                Type::TraitObject(_) => "a concrete type".to_owned(),
                elem => show_tokens(elem),
            };
            let write = if write.contains(' ') { write } else { format!("`{write}`") };
            format!("an argument is deserialized from JSON and cannot be a reference; write {write} (only the context is a reference: `&ToolContext`)")
        }
        Type::ImplTrait(_) => "an argument needs one type for its schema, not `impl Trait`; write a concrete type".to_owned(),
        ty => match borrowed_inside(ty.to_token_stream()) {
            Some(Inside::Impl) => "an argument needs one type for its schema, not `impl Trait`; write a concrete type".to_owned(),
            Some(Inside::Borrow) => {
                "an argument is deserialized from JSON and cannot borrow; write types that own their data, such as `String` and `Vec<T>`".to_owned()
            }
            None => return true,
        },
    };
    errors.on(ty, message);
    false
}

/// Returns a type without parentheses and without the invisible groups of `macro_rules!`.
fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => plain(&group.elem),
        Type::Paren(paren) => plain(&paren.elem),
        ty => ty,
    }
}

enum Inside {
    Impl,
    Borrow,
}

/// Searches tokens instead of the syntax tree, because syn's visitor is an extra feature. In types, `impl`, `&` and lifetimes are
/// unambiguous.
fn borrowed_inside(tokens: TokenStream) -> Option<Inside> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == "impl" => Some(Inside::Impl),
        TokenTree::Punct(punct) if matches!(punct.as_char(), '&' | '\'') => Some(Inside::Borrow),
        TokenTree::Group(group) => borrowed_inside(group.stream()),
        _ => None,
    })
}

fn show_tokens(tokens: &impl ToTokens) -> String {
    tokens
        .to_token_stream()
        .to_string()
        .replace(" :: ", "::")
        .replace(" < ", "<")
        .replace(" >", ">")
}

/// The attributes for serde and schemars on which templates depend.
#[derive(Default)]
struct SerdeAttributes {
    name: Option<String>,
    is_flattened: bool,
    states_default: bool,
}

impl SerdeAttributes {
    fn parse(attributes: &[Attribute]) -> Self {
        let mut parsed = Self::default();
        for attribute in attributes
            .iter()
            .filter(|attribute| is_for(attribute, &["serde", "schemars"]))
        {
            // Errors are ignored, because serde or schemars reports them.
            let _ = attribute.parse_nested_meta(|meta| {
                let has_value =
                    meta.input.peek(syn::Token![=]) || meta.input.peek(syn::token::Paren);
                // These can state or replace what the schema says of an absent argument.
                let states_schema = ["default", "extend", "with", "schema_with"]
                    .iter()
                    .any(|name| meta.path.is_ident(name));
                parsed.states_default |=
                    (states_schema && has_value) || meta.path.is_ident("required");
                if meta.path.is_ident("flatten") {
                    parsed.is_flattened = true;
                } else if meta.path.is_ident("rename") {
                    if meta.input.peek(syn::Token![=]) {
                        parsed.name = Some(meta.value()?.parse::<LitStr>()?.value());
                    } else {
                        meta.parse_nested_meta(|side| {
                            let name: LitStr = side.value()?.parse()?;
                            // Arguments are read, so that the name for writing has no meaning.
                            if side.path.is_ident("deserialize") {
                                parsed.name = Some(name.value());
                            }
                            Ok(())
                        })?;
                    }
                } else if meta.input.peek(syn::token::Paren) {
                    let list;
                    parenthesized!(list in meta.input);
                    // The value of an unknown attribute has to be consumed, or else syn reports it.
                    list.parse::<TokenStream>()?;
                } else if meta.input.peek(syn::Token![=]) {
                    meta.value()?.parse::<syn::Expr>()?;
                }
                Ok(())
            });
        }
        parsed
    }
}
