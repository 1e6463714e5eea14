//! The manifest's text as a tree with places: what was written, before anything is judged.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Location, Spanned};

/// How YAML reads a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// true or false.
    Bool,
    /// A whole number.
    Integer,
    /// A number with a fraction or an exponent.
    Float,
    /// Anything else, and everything in quotes.
    Text,
}

/// What stands at a place.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing, `null` or `~`.
    Null,
    /// A scalar, with its text exactly as it was written (without quotes).
    Scalar(Scalar, String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text; a key can occur twice.
    Map(Vec<(Key, Node)>),
}

/// A place in the text. Lines and columns start at 1; columns count characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The bytes of the text that belong to it.
    pub(super) bytes: Range<usize>,
}

/// A key and where it stands.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) place: Place,
}

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    pub(super) place: Place,
}

impl Node {
    /// The value under a path of keys, the first where one occurs twice.
    pub(super) fn find<'a>(&'a self, keys: impl IntoIterator<Item = &'a str>) -> Option<&'a Node> {
        keys.into_iter().try_fold(self, |node, key| node.get(key).map(|(_, value)| value))
    }

    /// The entry of that key in a mapping.
    pub(super) fn get(&self, key: &str) -> Option<(&Key, &Node)> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(k, v)| (k, v)),
            _ => None,
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(_, text) => Some(text),
            _ => None,
        }
    }
}

/// Why the text is no tree.
#[derive(Debug)]
pub(super) struct SyntaxError {
    /// What is wrong; quotes at most one character of the text.
    pub(super) message: String,
    pub(super) place: Option<Place>,
}

/// Reads exactly one document. Aliases and depth are bounded.
pub(super) fn read(text: &str) -> Result<Node, SyntaxError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 24,
            max_nodes: 200_000,
            max_events: 500_000,
            max_anchors: 100,
            max_aliases: 1_000,
            max_merge_keys: 100,
            max_documents: 2,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 100_000,
            max_replay_stack_depth: 8,
            max_alias_expansions_per_anchor: 1_000,
        },
        // The checker reports every duplicate, each with its path.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        // Only `true` and `false` are booleans: `off` and `no` stay the words that they are.
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let raw: Spanned<Raw> = serde_saphyr::from_str_with_options(text, options).map_err(|error| explain(&error))?;
    Ok(node(raw, text))
}

fn explain(error: &serde_saphyr::Error) -> SyntaxError {
    use serde_saphyr::Error as E;
    let mut inner = error.without_snippet();
    while let E::AliasError { error, .. } = inner {
        inner = error;
    }
    let message = match inner {
        E::MultipleDocuments { .. } => "the file holds more than one YAML document",
        E::Budget { .. } => "the file is nested too deeply, is too long, or has too many anchors and aliases",
        E::AliasReplayCounterOverflow { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasExpansionLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. } => "the file's aliases expand to too much",
        E::UnknownAnchor { .. } => "an alias names an anchor that does not exist",
        E::RecursiveReferencesRequireWeakTypes { .. } => "an anchor contains an alias of itself",
        E::MergeValueNotMapOrSeqOfMaps { .. } => "a merge key (`<<`) needs a mapping",
        E::NonFiniteFloat { .. } => "a number is not finite",
        E::Eof { .. } => "the file ends in the middle of a value, or is empty",
        // The scanner's own sentences; none of them holds more of the text than one character.
        E::ExternalMessage { msg, .. } => msg,
        _ => "the text here cannot be read",
    };
    SyntaxError { message: message.to_owned(), place: error.location().map(place) }
}

fn place(location: Location) -> Place {
    let span = location.span();
    let offset = span.byte_offset().and_then(|o| usize::try_from(o).ok()).unwrap_or_default();
    let len = span.byte_len().and_then(|l| usize::try_from(l).ok()).unwrap_or_default();
    Place {
        line: usize::try_from(location.line()).unwrap_or_default(),
        column: usize::try_from(location.column()).unwrap_or_default(),
        bytes: offset..offset.saturating_add(len),
    }
}

/// A tree as the YAML library hands it over.
enum Raw {
    Null,
    /// Its text is taken from the place, so that no spelling is lost.
    Plain(Scalar),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

fn node(raw: Spanned<Raw>, text: &str) -> Node {
    let content = match raw.value {
        Raw::Null => Content::Null,
        Raw::Plain(kind) => Content::Scalar(kind, written(raw.defined, text)),
        Raw::Text(value) => Content::Scalar(Scalar::Text, value),
        Raw::List(items) => Content::List(items.into_iter().map(|item| node(item, text)).collect()),
        Raw::Map(entries) => Content::Map(entries.into_iter().map(|(k, v)| (key(k, text), node(v, text))).collect()),
    };
    Node { content, place: place(raw.referenced) }
}

fn key(raw: Spanned<Raw>, text: &str) -> Key {
    let name = match raw.value {
        Raw::Text(value) => value,
        // A key `null`, `off` or `7` is the word that was written.
        Raw::Null | Raw::Plain(_) => written(raw.defined, text),
        Raw::List(_) | Raw::Map(_) => "(a key that is not a word)".to_owned(),
    };
    Key { text: name, place: place(raw.referenced) }
}

/// The text of a plain scalar exactly as it stands.
fn written(location: Location, text: &str) -> String {
    text.get(place(location).bytes).unwrap_or_default().trim().to_owned()
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Plain(Scalar::Bool))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Plain(Scalar::Integer))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Plain(Scalar::Integer))
    }

    fn visit_i128<E: de::Error>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Plain(Scalar::Integer))
    }

    fn visit_u128<E: de::Error>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Plain(Scalar::Integer))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Plain(Scalar::Float))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(node: &Node) -> String {
        match &node.content {
            Content::Null => "null".into(),
            Content::Scalar(kind, text) => format!("{kind:?}:{text}"),
            Content::List(items) => {
                format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" "))
            }
            Content::Map(entries) => {
                let entries: Vec<_> = entries.iter().map(|(k, v)| format!("{}={}", k.text, show(v))).collect();
                format!("{{{}}}", entries.join(" "))
            }
        }
    }

    #[test]
    fn words_are_kept_as_they_were_written() {
        let mut wrong = Vec::new();
        for (text, expected) in [
            ("mode: off", "{mode=Text:off}"),
            ("mode: no\nother: 'yes'", "{mode=Text:no other=Text:yes}"),
            ("a: true\nb: 'true'\nc: True", "{a=Bool:true b=Text:true c=Bool:True}"),
            ("a: 007\nb: 0x1F\nc: 1.50\nd: 1e3", "{a=Float:007 b=Integer:0x1F c=Float:1.50 d=Float:1e3}"),
            ("a: 340282366920938463463374607431768211457", "{a=Float:340282366920938463463374607431768211457}"),
            ("a: 2024-01-01\nb: 2024-01-01T00:00:00.1", "{a=Text:2024-01-01 b=Text:2024-01-01T00:00:00.1}"),
            ("a: 64MiB\nb: 1_000", "{a=Text:64MiB b=Integer:1_000}"),
            ("null: true\noff: 1\n7: x", "{null=Bool:true off=Integer:1 7=Text:x}"),
            ("a:\nb: ~\nc: ''\nd: null", "{a=null b=null c=Text: d=null}"),
            ("a: 1\na: 2", "{a=Integer:1 a=Integer:2}"),
            ("x: &b {p: 1}\ny: *b\nz: {<<: *b, q: 2}", "{x={p=Integer:1} y={p=Integer:1} z={q=Integer:2 p=Integer:1}}"),
            ("a: &v 010\nb: *v", "{a=Float:010 b=Float:010}"),
            ("q: |\n  select 1\n  from t\n", "{q=Text:select 1\nfrom t\n}"),
            ("[a, 'é', {b: [1, 2]}]", "[Text:a Text:é {b=[Integer:1 Integer:2]}]"),
        ] {
            let got = read(text).map_or_else(|e| e.message.to_owned(), |n| show(&n));
            if got != expected {
                wrong.push(format!("{text:?}: {got}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn what_is_no_single_document_is_refused_with_its_place() {
        let mut wrong = Vec::new();
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
        let deep = format!("{}1{}", "[".repeat(2000), "]".repeat(2000));
        for (text, message, line) in [
            ("a: 1\n---\nb: 2\n", "more than one", Some(3)),
            ("a: [1\n", "unclosed bracket", Some(1)),
            ("a: *nope\n", "anchor that does not exist", Some(1)),
            ("a: 1\n b: 2\n", "not allowed", Some(2)),
            ("a: \"x\n", "unclosed quote", Some(1)),
            ("a: !!python/object x\n", "cannot be read", Some(1)),
            (bomb, "expand to too much", Some(5)),
            (&deep, "recursion limit", Some(1)),
        ] {
            let Err(error) = read(text) else {
                wrong.push(format!("{text:.40}: accepted"));
                continue;
            };
            let at = error.place.map(|p| p.line);
            if !error.message.contains(message) || at != line {
                wrong.push(format!("{text:.40}: {} at {at:?}", error.message));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
