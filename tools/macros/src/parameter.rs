//! [`Parameter`]: what one parameter of the function is for.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Ident, LitStr, Pat, PatType, Type, parenthesized};

use crate::doc;
use crate::fault::Faults;

/// What one parameter of the function is for.
pub(crate) enum Parameter {
    /// The context of the call.
    Context {
        /// Whether it is taken by value.
        owned: bool,
    },
    /// One argument.
    Argument(Box<Argument>),
    /// All arguments, as a struct of the tool's author.
    Arguments(Box<Type>),
    /// Something that was complained about already.
    Faulty,
}

/// A plain parameter.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Its docs, and what it says to serde and schemars.
    pub(crate) attributes: Vec<Attribute>,
    /// What it is called in the schema.
    pub(crate) property: String,
    /// Whether other properties, which only the compiler knows, stand in its place.
    pub(crate) is_flattened: bool,
}

impl Parameter {
    /// Reads one parameter, and takes away from it what the compiler would not accept on a parameter.
    pub(crate) fn read(input: &mut FnArg, faults: &mut Faults) -> Self {
        let parameter = match input {
            FnArg::Receiver(receiver) => {
                faults.on(
                    receiver,
                    "a tool has no `self`; make it a free function and take state from the context: `cx.need::<T>()`",
                );
                return Self::Faulty;
            }
            FnArg::Typed(parameter) => parameter,
        };
        let (moved, kept) = std::mem::take(&mut parameter.attrs).into_iter().partition(is_ours);
        parameter.attrs = kept;
        if let Some(attribute) = parameter.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
            faults.on(
                attribute,
                "a tool has the same arguments in every build; put `#[cfg]` on the function, or take the parameter out",
            );
            return Self::Faulty;
        }
        Self::of(parameter, moved, faults)
    }

    fn of(parameter: &PatType, attributes: Vec<Attribute>, faults: &mut Faults) -> Self {
        let args = attributes.iter().find(|attribute| attribute.path().is_ident("args"));
        let elsewhere = attributes.iter().find(|attribute| is_for(attribute, &["serde", "schemars"]));
        if let Some(context) = context(&parameter.ty) {
            if let Some(attribute) = args.or(elsewhere) {
                faults.on(attribute, "the context is not among the arguments; take this attribute away");
            }
            return match context {
                Ok(owned) => Self::Context { owned },
                Err(message) => {
                    faults.on(&parameter.ty, message);
                    Self::Faulty
                }
            };
        }
        if !is_owned(&parameter.ty, faults) {
            return Self::Faulty;
        }
        if let Some(args) = args {
            if args.meta.require_path_only().is_err() {
                faults.on(args, "write `#[args]` alone");
            }
            if let Some(attribute) = elsewhere {
                faults.on(attribute, "this has no effect beside `#[args]`; write it on the struct or its fields");
            }
            return Self::Arguments(parameter.ty.clone());
        }
        let Some(ident) = name(parameter, faults) else { return Self::Faulty };
        if doc::is_blank(&attributes) {
            faults.on(
                &ident,
                format_args!("the parameter `{ident}` has no doc comment; write one above it with `///`: it tells the model what to pass (a struct that holds all arguments is marked `#[args]` instead)"),
            );
        }
        let Said { name, is_flattened } = Said::by(&attributes);
        let property = name.unwrap_or_else(|| ident.unraw().to_string());
        Self::Argument(Box::new(Argument { ident, ty: Type::clone(&parameter.ty), attributes, property, is_flattened }))
    }
}

/// Whether an attribute is read here or moves to the field of the hidden struct.
fn is_ours(attribute: &Attribute) -> bool {
    is_for(attribute, &["doc", "serde", "schemars", "args"])
}

fn is_for(attribute: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attribute.path().is_ident(name))
}

/// The name of a plain parameter.
fn name(parameter: &PatType, faults: &mut Faults) -> Option<Ident> {
    if let Pat::Ident(pattern) = &*parameter.pat
        && pattern.by_ref.is_none()
        && pattern.subpat.is_none()
    {
        return Some(pattern.ident.clone());
    }
    faults.on(
        &parameter.pat,
        "an argument needs a name for its schema; write `name: Type` and take it apart in the function, or take a struct as `#[args]`",
    );
    None
}

/// Whether the type is a context: taken by value or not, or what is wrong with the way it is taken.
fn context(ty: &Type) -> Option<Result<bool, &'static str>> {
    match plain(ty) {
        Type::Path(path) if path.path.segments.last()?.ident == "ToolContext" => Some(Ok(true)),
        Type::Reference(reference) => {
            // A reference to anything else is no context.
            let _ = context(&reference.elem)?;
            Some(if reference.mutability.is_some() {
                Err("the context is shared; take it as `&ToolContext`")
            } else if reference.lifetime.is_some() || matches!(plain(&reference.elem), Type::Reference(_)) {
                Err("the context lives as long as the call; take it as `&ToolContext`")
            } else {
                Ok(false)
            })
        }
        _ => None,
    }
}

/// Whether JSON can be read into the type, as far as the syntax tells.
fn is_owned(ty: &Type, faults: &mut Faults) -> bool {
    let fault = match plain(ty) {
        Type::Reference(reference) => {
            let elem = plain(&reference.elem);
            let write = match elem {
                Type::Slice(slice) => format!("Vec<{}>", shown(&slice.elem)),
                Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
                Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Path") => "String".to_owned(),
                Type::TraitObject(_) => "a type of its own".to_owned(),
                elem => shown(elem),
            };
            let write = if write.contains(' ') { write } else { format!("`{write}`") };
            format!("an argument is read from JSON and cannot be borrowed; write {write} (only the context is a reference: `&ToolContext`)")
        }
        Type::ImplTrait(_) => "an argument needs one type for its schema, not `impl Trait`; write the type itself".to_owned(),
        ty => match borrowed_inside(ty.to_token_stream()) {
            Some(Inside::Impl) => "an argument needs one type for its schema, not `impl Trait`; write the type itself".to_owned(),
            Some(Inside::Borrow) => {
                "an argument is read from JSON and cannot borrow; write types that own their data, such as `String` and `Vec<T>`".to_owned()
            }
            None => return true,
        },
    };
    faults.on(ty, fault);
    false
}

/// A type out of the parentheses and the invisible groups that `macro_rules!` puts around it.
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

/// Looks at tokens, because in types `impl`, `&` and lifetimes mean nothing else, and a visitor would be a feature of syn.
fn borrowed_inside(tokens: TokenStream) -> Option<Inside> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == "impl" => Some(Inside::Impl),
        TokenTree::Punct(punct) if matches!(punct.as_char(), '&' | '\'') => Some(Inside::Borrow),
        TokenTree::Group(group) => borrowed_inside(group.stream()),
        _ => None,
    })
}

fn shown(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(" :: ", "::").replace(" < ", "<").replace(" >", ">")
}

/// What a parameter says to serde and schemars, as far as templates depend on it.
#[derive(Default)]
struct Said {
    name: Option<String>,
    is_flattened: bool,
}

impl Said {
    fn by(attributes: &[Attribute]) -> Self {
        let mut said = Self::default();
        for attribute in attributes.iter().filter(|attribute| is_for(attribute, &["serde", "schemars"])) {
            // What cannot be read here is complained about by the one that it is for.
            let _ = attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("flatten") {
                    said.is_flattened = true;
                } else if meta.path.is_ident("rename") {
                    if meta.input.peek(syn::Token![=]) {
                        said.name = Some(meta.value()?.parse::<LitStr>()?.value());
                    } else {
                        meta.parse_nested_meta(|side| {
                            let name: LitStr = side.value()?.parse()?;
                            if side.path.is_ident("deserialize") {
                                said.name = Some(name.value());
                            }
                            Ok(())
                        })?;
                    }
                } else if meta.input.peek(syn::token::Paren) {
                    let list;
                    parenthesized!(list in meta.input);
                    list.parse::<TokenStream>()?;
                } else if meta.input.peek(syn::Token![=]) {
                    meta.value()?.parse::<syn::Expr>()?;
                }
                Ok(())
            });
        }
        said
    }
}
