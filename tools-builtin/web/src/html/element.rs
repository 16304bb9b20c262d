//! [`Element`]: the elements that the conversion knows.

macro_rules! elements {
    ($($variant:ident = $name:literal),*; $($(#[$doc:meta])* $is_kind:ident { $($of_kind:ident,)* })*) => {
        /// An element by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Element {
            $($variant,)*
            /// Any other element.
            Other,
        }

        impl Element {
            /// Returns the element with a name in lower case.
            pub(crate) fn from_name(name: &[u8]) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Other,
                }
            }

            $($(#[$doc])*
            pub(crate) fn $is_kind(self) -> bool {
                matches!(self, $(Self::$of_kind)|*)
            })*
        }
    };
}

elements! {
    A = b"a", Abbr = b"abbr", Address = b"address", Annotation = b"annotation",
    AnnotationXml = b"annotation-xml", Article = b"article", Aside = b"aside", Audio = b"audio",
    B = b"b", Base = b"base", Blockquote = b"blockquote", Body = b"body", Br = b"br",
    Button = b"button", Canvas = b"canvas", Caption = b"caption", Center = b"center",
    Cite = b"cite", Code = b"code", Col = b"col", Colgroup = b"colgroup",
    Datalist = b"datalist", Dd = b"dd", Del = b"del", Details = b"details", Dfn = b"dfn",
    Dialog = b"dialog", Dir = b"dir", Div = b"div", Dl = b"dl", Dt = b"dt", Em = b"em",
    Embed = b"embed", Fieldset = b"fieldset", Figcaption = b"figcaption", Figure = b"figure",
    Footer = b"footer", Form = b"form", Frame = b"frame", H1 = b"h1", H2 = b"h2", H3 = b"h3",
    H4 = b"h4", H5 = b"h5", H6 = b"h6", Head = b"head", Header = b"header", Hgroup = b"hgroup",
    Hr = b"hr", Html = b"html", I = b"i", Iframe = b"iframe", Img = b"img", Input = b"input",
    Ins = b"ins", Kbd = b"kbd", Legend = b"legend", Li = b"li", Link = b"link",
    Listing = b"listing", Main = b"main", Math = b"math", Menu = b"menu", Meta = b"meta",
    Nav = b"nav", Noembed = b"noembed", Noframes = b"noframes", Noscript = b"noscript",
    Object = b"object", Ol = b"ol", Optgroup = b"optgroup", Option = b"option", P = b"p",
    Plaintext = b"plaintext", Pre = b"pre", Q = b"q", S = b"s", Samp = b"samp",
    Script = b"script", Search = b"search", Section = b"section", Select = b"select",
    Semantics = b"semantics", Source = b"source", Strike = b"strike", Strong = b"strong",
    Style = b"style", Sub = b"sub", Summary = b"summary", Sup = b"sup", Svg = b"svg",
    Table = b"table", Tbody = b"tbody", Td = b"td", Template = b"template",
    Textarea = b"textarea", Tfoot = b"tfoot", Th = b"th", Thead = b"thead", Title = b"title",
    Tr = b"tr", Tt = b"tt", Ul = b"ul", U = b"u", Var = b"var", Video = b"video", Xmp = b"xmp";

    /// Returns true if the element has no content and no end tag.
    is_void {
        Base, Br, Col, Embed, Frame, Hr, Img, Input, Link, Meta, Source,
    }

    /// Returns true if the element begins a paragraph, and is neither a heading nor a part of a table.
    is_text_block {
        Address, Article, Aside, Blockquote, Body, Center, Dd, Details, Dialog, Dir, Div, Dl,
        Dt, Fieldset, Figcaption, Figure, Footer, Form, Header, Hgroup, Hr, Html, Legend, Li,
        Listing, Main, Menu, Nav, Ol, P, Plaintext, Pre, Search, Section, Summary, Ul, Xmp,
    }

    /// Returns true for a table.
    is_table { Table, }

    /// Returns true for a table and the elements that only tables have.
    is_table_part { Table, Caption, Colgroup, Thead, Tbody, Tfoot, Tr, Td, Th, }

    /// Returns true for a list of items.
    is_list { Ul, Ol, Menu, Dir, }

    /// Returns true if the text between its tags is shown as it is.
    is_preformatted { Pre, Listing, Xmp, Plaintext, }

    /// Returns true if the content is never part of the text.
    is_dropped {
        Audio, Button, Canvas, Datalist, Iframe, Noembed, Noframes, Noscript, Object, Optgroup,
        Option, Script, Select, Style, Svg, Template, Textarea, Title, Video,
    }
}

impl Element {
    /// The number of elements.
    pub(crate) const COUNT: usize = Self::Other as usize + 1;

    /// Returns the level of a heading.
    pub(crate) fn heading_level(self) -> Option<u8> {
        let level = (self as u8).checked_sub(Self::H1 as u8)? + 1;
        (level <= 6).then_some(level)
    }

    /// Returns true if text before and after the element stands in other lines.
    pub(crate) fn is_block(self) -> bool {
        self.heading_level().is_some() || self.is_table_part() || self.is_text_block()
    }
}
