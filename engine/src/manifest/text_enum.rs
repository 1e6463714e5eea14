//! One macro for the manifest's closed sets of words, so that the word, the JSON Schema and `Display` agree.

/// Declares an enum whose variants are words of the manifest.
macro_rules! text_enum {
    ($(#[$meta:meta])* $vis:vis $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// The word as the manifest spells it.
            $vis const fn as_str(self) -> &'static str { match self { $(Self::$variant => $text,)* } }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.as_str()) }
        }
    };
}
pub(super) use text_enum;
