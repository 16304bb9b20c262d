//! [`Element`]: the elements that the conversion knows.

/// An element by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Element {
    A,
    Abbr,
    Address,
    Annotation,
    AnnotationXml,
    Article,
    Aside,
    Audio,
    B,
    Base,
    Blockquote,
    Body,
    Br,
    Button,
    Canvas,
    Caption,
    Center,
    Cite,
    Code,
    Col,
    Colgroup,
    Datalist,
    Dd,
    Del,
    Details,
    Dfn,
    Dialog,
    Dir,
    Div,
    Dl,
    Dt,
    Em,
    Embed,
    Fieldset,
    Figcaption,
    Figure,
    Footer,
    Form,
    Frame,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    Head,
    Header,
    Hgroup,
    Hr,
    Html,
    I,
    Iframe,
    Img,
    Input,
    Ins,
    Kbd,
    Legend,
    Li,
    Link,
    Listing,
    Main,
    Math,
    Menu,
    Meta,
    Nav,
    Noembed,
    Noframes,
    Noscript,
    Object,
    Ol,
    Optgroup,
    Option,
    P,
    Plaintext,
    Pre,
    Q,
    S,
    Samp,
    Script,
    Search,
    Section,
    Select,
    Semantics,
    Source,
    Strike,
    Strong,
    Style,
    Sub,
    Summary,
    Sup,
    Svg,
    Table,
    Tbody,
    Td,
    Template,
    Textarea,
    Tfoot,
    Th,
    Thead,
    Title,
    Tr,
    Tt,
    Ul,
    U,
    Var,
    Video,
    Xmp,
    /// Any other element.
    Other,
}

impl Element {
    /// The number of elements.
    pub(crate) const COUNT: usize = Self::Other as usize + 1;

    /// Returns the element with a name in lower case.
    pub(crate) fn from_name(name: &[u8]) -> Self {
        match name {
            b"a" => Self::A,
            b"abbr" => Self::Abbr,
            b"address" => Self::Address,
            b"annotation" => Self::Annotation,
            b"annotation-xml" => Self::AnnotationXml,
            b"article" => Self::Article,
            b"aside" => Self::Aside,
            b"audio" => Self::Audio,
            b"b" => Self::B,
            b"base" => Self::Base,
            b"blockquote" => Self::Blockquote,
            b"body" => Self::Body,
            b"br" => Self::Br,
            b"button" => Self::Button,
            b"canvas" => Self::Canvas,
            b"caption" => Self::Caption,
            b"center" => Self::Center,
            b"cite" => Self::Cite,
            b"code" => Self::Code,
            b"col" => Self::Col,
            b"colgroup" => Self::Colgroup,
            b"datalist" => Self::Datalist,
            b"dd" => Self::Dd,
            b"del" => Self::Del,
            b"details" => Self::Details,
            b"dfn" => Self::Dfn,
            b"dialog" => Self::Dialog,
            b"dir" => Self::Dir,
            b"div" => Self::Div,
            b"dl" => Self::Dl,
            b"dt" => Self::Dt,
            b"em" => Self::Em,
            b"embed" => Self::Embed,
            b"fieldset" => Self::Fieldset,
            b"figcaption" => Self::Figcaption,
            b"figure" => Self::Figure,
            b"footer" => Self::Footer,
            b"form" => Self::Form,
            b"frame" => Self::Frame,
            b"h1" => Self::H1,
            b"h2" => Self::H2,
            b"h3" => Self::H3,
            b"h4" => Self::H4,
            b"h5" => Self::H5,
            b"h6" => Self::H6,
            b"head" => Self::Head,
            b"header" => Self::Header,
            b"hgroup" => Self::Hgroup,
            b"hr" => Self::Hr,
            b"html" => Self::Html,
            b"i" => Self::I,
            b"iframe" => Self::Iframe,
            b"img" => Self::Img,
            b"input" => Self::Input,
            b"ins" => Self::Ins,
            b"kbd" => Self::Kbd,
            b"legend" => Self::Legend,
            b"li" => Self::Li,
            b"link" => Self::Link,
            b"listing" => Self::Listing,
            b"main" => Self::Main,
            b"math" => Self::Math,
            b"menu" => Self::Menu,
            b"meta" => Self::Meta,
            b"nav" => Self::Nav,
            b"noembed" => Self::Noembed,
            b"noframes" => Self::Noframes,
            b"noscript" => Self::Noscript,
            b"object" => Self::Object,
            b"ol" => Self::Ol,
            b"optgroup" => Self::Optgroup,
            b"option" => Self::Option,
            b"p" => Self::P,
            b"plaintext" => Self::Plaintext,
            b"pre" => Self::Pre,
            b"q" => Self::Q,
            b"s" => Self::S,
            b"samp" => Self::Samp,
            b"script" => Self::Script,
            b"search" => Self::Search,
            b"section" => Self::Section,
            b"select" => Self::Select,
            b"semantics" => Self::Semantics,
            b"source" => Self::Source,
            b"strike" => Self::Strike,
            b"strong" => Self::Strong,
            b"style" => Self::Style,
            b"sub" => Self::Sub,
            b"summary" => Self::Summary,
            b"sup" => Self::Sup,
            b"svg" => Self::Svg,
            b"table" => Self::Table,
            b"tbody" => Self::Tbody,
            b"td" => Self::Td,
            b"template" => Self::Template,
            b"textarea" => Self::Textarea,
            b"tfoot" => Self::Tfoot,
            b"th" => Self::Th,
            b"thead" => Self::Thead,
            b"title" => Self::Title,
            b"tr" => Self::Tr,
            b"tt" => Self::Tt,
            b"ul" => Self::Ul,
            b"u" => Self::U,
            b"var" => Self::Var,
            b"video" => Self::Video,
            b"xmp" => Self::Xmp,
            _ => Self::Other,
        }
    }

    /// Returns the level of a heading.
    pub(crate) fn heading_level(self) -> Option<u8> {
        let level = (self as u8).checked_sub(Self::H1 as u8)? + 1;
        (level <= 6).then_some(level)
    }

    /// Returns true if the element has no content and no end tag.
    pub(crate) fn is_void(self) -> bool {
        use Element::*;
        matches!(
            self,
            Base | Br | Col | Embed | Frame | Hr | Img | Input | Link | Meta | Source
        )
    }

    /// Returns true if text before and after the element stands in other lines.
    pub(crate) fn is_block(self) -> bool {
        use Element::*;
        self.heading_level().is_some()
            || self.is_table_part()
            || matches!(
                self,
                Address
                    | Article
                    | Aside
                    | Blockquote
                    | Body
                    | Center
                    | Dd
                    | Details
                    | Dialog
                    | Dir
                    | Div
                    | Dl
                    | Dt
                    | Fieldset
                    | Figcaption
                    | Figure
                    | Footer
                    | Form
                    | Header
                    | Hgroup
                    | Hr
                    | Html
                    | Legend
                    | Li
                    | Listing
                    | Main
                    | Menu
                    | Nav
                    | Ol
                    | P
                    | Plaintext
                    | Pre
                    | Search
                    | Section
                    | Summary
                    | Ul
                    | Xmp
            )
    }

    /// Returns true for a table and the elements that only tables have.
    pub(crate) fn is_table_part(self) -> bool {
        use Element::*;
        matches!(
            self,
            Table | Caption | Colgroup | Thead | Tbody | Tfoot | Tr | Td | Th
        )
    }

    /// Returns true for a list of items.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::Ul | Self::Ol | Self::Menu | Self::Dir)
    }

    /// Returns true if the text between its tags is shown as it is.
    pub(crate) fn is_preformatted(self) -> bool {
        matches!(
            self,
            Self::Pre | Self::Listing | Self::Xmp | Self::Plaintext
        )
    }

    /// Returns true if the content is never part of the text.
    pub(crate) fn is_dropped(self) -> bool {
        use Element::*;
        matches!(
            self,
            Audio
                | Button
                | Canvas
                | Datalist
                | Iframe
                | Noembed
                | Noframes
                | Noscript
                | Object
                | Optgroup
                | Option
                | Script
                | Select
                | Style
                | Svg
                | Template
                | Textarea
                | Title
                | Video
        )
    }
}
