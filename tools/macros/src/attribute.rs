//! [`Attribute`]: the parsed contents of `#[tool(…)]`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitStr, Path, Token, Type, parse_quote};

use crate::errors::Errors;
use crate::near::suggestion;
use crate::value::{self, Example};

/// The names of all attributes, in the order of the documentation.
const KEYS: &str = "pure, reads, writes, destroys, open_world, idempotent, name, was, title, timeout, \
    max_output, targets, delegates, keeps_call, tags, needs, check, concerns, preview, example, audit, \
    blocking, crate";

/// The attributes that may be repeated.
const REPEATABLE: &[&str] = &["reads", "writes", "destroys", "example"];

/// The attributes without one of which the effects are unknown.
const EFFECTS: &[&str] = &["pure", "reads", "writes", "destroys", "open_world"];

const OF_PARAMETERS: &str = "write the name of a function with the parameters of the tool";
const OF_ARGUMENTS: &str =
    "write the name of a function with the parameters of the tool, without the context";
const OF_CRATE: &str = "write the path of the crate, such as `crate = ::cribs`";

/// The parsed contents of `#[tool(…)]`. A flag is stored as its span.
#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) name: Option<LitStr>,
    /// The former names.
    pub(crate) was: Vec<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) pure: Option<Span>,
    pub(crate) reads: Vec<LitStr>,
    pub(crate) writes: Vec<LitStr>,
    pub(crate) destroys: Vec<LitStr>,
    pub(crate) open_world: Option<Span>,
    pub(crate) idempotent: Option<Span>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) max_output_bytes: Option<u64>,
    pub(crate) delegates: Option<Span>,
    /// The arguments that are the name and the arguments of another tool.
    pub(crate) keeps_call: Option<[LitStr; 2]>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) needs: Vec<Type>,
    /// The function that computes the targets.
    pub(crate) targets: Option<Path>,
    /// The function that checks the arguments against the services.
    pub(crate) check: Option<Path>,
    /// The function that returns reasons to ask about a call.
    pub(crate) concerns: Option<Path>,
    /// The function that makes the preview.
    pub(crate) preview: Option<Path>,
    pub(crate) examples: Vec<Example>,
    pub(crate) audit: Option<Span>,
    pub(crate) blocking: Option<Span>,
    /// The path of the crate `tools`. `None` means `::tools`.
    tools_path: Option<Path>,
    /// True if an effect could not be parsed. Suppresses a second error about missing effects.
    pub(crate) has_broken_effects: bool,
}

impl Attribute {
    /// Parses the attributes. Reports errors and continues with the next attribute.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut attribute = Self::default();
        let mut seen = Vec::new();
        value::all(tokens, |input| {
            while !input.is_empty() {
                if let Err(error) = attribute.read_one(input, &mut seen) {
                    errors.push(error);
                    value::skip(input);
                } else if !input.is_empty() && !input.peek(Token![,]) {
                    errors.at(input.span(), "expected a comma before the next attribute");
                    value::skip(input);
                }
                // The next token is a comma or the end.
                let _ = input.parse::<Token![,]>();
            }
        });
        attribute
    }

    /// Returns the path of the crate `tools`.
    pub(crate) fn tools_path(&self) -> Path {
        self.tools_path
            .clone()
            .unwrap_or_else(|| parse_quote!(::tools))
    }

    /// Returns the templates of all effects.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &LitStr> {
        let read = self.reads.iter();
        read.chain(&self.writes).chain(&self.destroys)
    }

    fn read_one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> syn::Result<()> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            let message = format!("expected the name of an attribute; write one of: {KEYS}");
            Error::new(error.span(), message)
        })?;
        let word = key.to_string();
        if seen.contains(&word) && !REPEATABLE.contains(&&*word) {
            let message = format!("`{word}` is repeated; keep one of them");
            return Err(Error::new(key.span(), message));
        }
        let read = self.read_value(&key, &word, input);
        self.has_broken_effects |= read.is_err() && EFFECTS.contains(&&*word);
        seen.push(word);
        read
    }

    fn read_value(&mut self, key: &Ident, word: &str, input: ParseStream<'_>) -> syn::Result<()> {
        match word {
            "pure" => self.pure = Some(value::flag(key, input)?),
            "open_world" => self.open_world = Some(value::flag(key, input)?),
            "idempotent" => self.idempotent = Some(value::flag(key, input)?),
            "delegates" => self.delegates = Some(value::flag(key, input)?),
            "audit" => self.audit = Some(value::flag(key, input)?),
            "blocking" => self.blocking = Some(value::flag(key, input)?),
            "reads" => self.reads.extend(value::texts(key, input)?),
            "writes" => self.writes.extend(value::texts(key, input)?),
            "destroys" => self.destroys.extend(value::texts(key, input)?),
            "keeps_call" => {
                let texts = value::texts(key, input)?;
                let hint = "write two arguments of this tool, such as `keeps_call = [\"tool\", \"arguments\"]`";
                self.keeps_call = Some(texts.try_into().map_err(|_| Error::new(key.span(), hint))?);
            }
            "tags" => self.tags = value::texts(key, input)?,
            "name" => self.name = Some(name(key, input)?),
            "was" => self.was = former_names(key, input)?,
            "title" => self.title = Some(value::text(key, input)?),
            "timeout" => self.timeout_ms = Some(value::duration(key, input)?),
            "max_output" => self.max_output_bytes = Some(value::size(key, input)?),
            "needs" => self.needs = value::types(key, input)?,
            "targets" => self.targets = Some(value::path(key, input, OF_ARGUMENTS)?),
            "check" => self.check = Some(value::path(key, input, OF_PARAMETERS)?),
            "concerns" => self.concerns = Some(value::path(key, input, OF_PARAMETERS)?),
            "preview" => self.preview = Some(value::path(key, input, OF_PARAMETERS)?),
            "example" => self.examples.push(value::example(key, input)?),
            "crate" => self.tools_path = Some(value::path(key, input, OF_CRATE)?),
            "args" => {
                return Err(Error::new(
                    key.span(),
                    "`args` is not an attribute of `#[tool]`; write `#[args]` before the parameter that holds all arguments",
                ));
            }
            other => {
                let near = suggestion(other, KEYS.split(", "));
                // A misspelt effect is one error. A second error about missing effects would mislead.
                self.has_broken_effects |= EFFECTS
                    .iter()
                    .any(|effect| near.contains(&format!("`{effect}`")));
                let message = format!("unknown attribute `{other}`{near}; write one of: {KEYS}");
                return Err(Error::new(key.span(), message));
            }
        }
        Ok(())
    }
}

fn name(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name: LitStr = value::parse_eq(key, input, "write `name = \"group.action\"`")?;
    match crate::name::error(&name.value()) {
        Some(message) => Err(Error::new(name.span(), message)),
        None => Ok(name),
    }
}

fn former_names(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    let names = value::texts(key, input)?;
    for (position, name) in names.iter().enumerate() {
        if let Some(message) = crate::name::error(&name.value()) {
            return Err(Error::new(name.span(), message));
        }
        if names[..position]
            .iter()
            .any(|earlier| earlier.value() == name.value())
        {
            let message = format!("{:?} is repeated; keep one of them", name.value());
            return Err(Error::new(name.span(), message));
        }
    }
    Ok(names)
}
