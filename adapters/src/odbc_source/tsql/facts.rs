//! What the catalog says of a relation, before the manifest has its say.

use dpone_engine::plan::facts::RelationKind;

use super::quote::ident;

/// A column's type as the catalog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogType {
    /// The system type's name, alias types resolved: `nvarchar`, `datetime2`, `geography`.
    pub(super) base: String,
    /// The type as the column declares it, with its base type if it is an alias.
    pub(super) declared: String,
    /// Bytes at most; -1 for `max` types.
    pub(super) length: i32,
    /// Digits of a decimal.
    pub(super) precision: u8,
    /// Fractional digits of a decimal, a time or a timestamp.
    pub(super) scale: u8,
    /// The collation of a text.
    pub(super) collation: Option<String>,
}

impl CatalogType {
    /// A type whose parts the catalog gives; `alias` is the column's own type name.
    pub(super) fn new(
        base: &str,
        alias: &str,
        length: i32,
        precision: u8,
        scale: u8,
        collation: Option<String>,
    ) -> Self {
        let mut ty =
            Self { base: base.to_ascii_lowercase(), declared: String::new(), length, precision, scale, collation };
        let spelled = ty.spelled();
        let own = alias.is_empty() || alias.eq_ignore_ascii_case(base);
        ty.declared = if own { spelled } else { format!("{alias} ({spelled})") };
        ty
    }

    /// The system type as a statement spells it.
    pub(super) fn spelled(&self) -> String {
        let base = &self.base;
        match base.as_str() {
            "decimal" | "numeric" => format!("{base}({},{})", self.precision, self.scale),
            "time" | "datetime2" | "datetimeoffset" => format!("{base}({})", self.scale),
            "char" | "varchar" | "binary" | "varbinary" | "nchar" | "nvarchar" if self.length < 0 => {
                format!("{base}(max)")
            }
            "char" | "varchar" | "binary" | "varbinary" => format!("{base}({})", self.length),
            "nchar" | "nvarchar" => format!("{base}({})", self.length / 2),
            _ => base.clone(),
        }
    }
}

/// One column of the relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogColumn {
    pub(super) name: String,
    pub(super) ty: CatalogType,
    pub(super) not_null: bool,
    /// Whether `SELECT *` leaves it out.
    pub(super) hidden: bool,
    /// Whether who may not unmask it sees something else.
    pub(super) masked: bool,
    /// Whether the server holds only its ciphertext.
    pub(super) encrypted: bool,
    /// How it is named in a statement.
    pub(super) expression: String,
    /// How an interval of its values is found.
    pub(super) sought: Sought,
}

/// How an interval of a column's values is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sought {
    /// By reading everything.
    #[default]
    Nowhere,
    /// In an index beside the rows, which the server may leave for a scan.
    Aside,
    /// In the order of the rows themselves, or in partitions.
    InPlace,
}

/// A table or view of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogTable {
    pub(super) id: i64,
    /// The database, if it is named.
    pub(super) database: Option<String>,
    pub(super) schema: String,
    pub(super) name: String,
}

impl CatalogTable {
    /// Its name in a statement, qualified.
    pub(super) fn qualified(&self) -> String {
        let database = self.database.as_ref().map(|database| format!("{}.", ident(database))).unwrap_or_default();
        format!("{database}{}.{}", ident(&self.schema), ident(&self.name))
    }
}

/// A view of the catalog's, in a database if one is named.
pub(super) fn sys(database: Option<&str>, view: &str) -> String {
    match database {
        Some(database) => format!("{}.sys.{view}", ident(database)),
        None => format!("sys.{view}"),
    }
}

/// The relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Catalog {
    pub(super) kind: RelationKind,
    pub(super) columns: Vec<CatalogColumn>,
    /// What precedes a statement that reads it.
    pub(super) prefix: String,
    /// What follows `FROM`.
    pub(super) from: String,
    /// Rows, by the catalog's own count.
    pub(super) rows: Option<u64>,
    /// The texts of the views that are read.
    pub(super) views: Vec<String>,
    pub(super) warnings: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelled_as_they_are_declared() {
        for (base, alias, length, precision, scale, expect) in [
            ("decimal", "decimal", 9, 18, 4, "decimal(18,4)"),
            ("nvarchar", "nvarchar", 40, 0, 0, "nvarchar(20)"),
            ("varchar", "varchar", -1, 0, 0, "varchar(max)"),
            ("datetime2", "datetime2", 8, 27, 7, "datetime2(7)"),
            ("nvarchar", "sysname", 256, 0, 0, "sysname (nvarchar(128))"),
            ("geography", "geography", -1, 0, 0, "geography"),
            ("INT", "", 4, 10, 0, "int"),
        ] {
            assert_eq!(CatalogType::new(base, alias, length, precision, scale, None).declared, expect);
        }
    }
}
