//! The comparison of what was read with what is held.

use std::fmt;

use super::UnitProfile;
use crate::manifest::Fidelity;
use crate::schema::Schema;

/// One way in which two profiles differ. It holds counts and never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The column's position, for what is found per column.
    pub column: Option<usize>,
    /// What differs.
    pub difference: Difference,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The number of rows.
    Rows {
        /// Rows read.
        source: u64,
        /// Rows held.
        sink: u64,
    },
    /// The number of columns.
    Columns {
        /// Columns read.
        source: usize,
        /// Columns held.
        sink: usize,
    },
    /// The number of NULLs in a column.
    Nulls {
        /// NULLs read.
        source: u64,
        /// NULLs held.
        sink: u64,
    },
    /// The least value of a column.
    Minimum,
    /// The greatest value of a column.
    Maximum,
    /// The checksum over whole rows.
    Checksum,
}

/// Everything in which `sink` differs from `source`, up to `level`; empty if nothing does.
pub fn compare(source: &UnitProfile, sink: &UnitProfile, level: Fidelity) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let mut check = |differs: bool, column: Option<usize>, difference: Difference| {
        if differs {
            found.push(Mismatch { column, difference });
        }
    };
    if level >= Fidelity::Counts {
        let difference = Difference::Rows { source: source.rows, sink: sink.rows };
        check(source.rows != sink.rows, None, difference);
    }
    if level >= Fidelity::Columns {
        let (columns, held) = (source.columns.len(), sink.columns.len());
        check(columns != held, None, Difference::Columns { source: columns, sink: held });
        for (column, (a, b)) in source.columns.iter().zip(&sink.columns).enumerate() {
            let nulls = Difference::Nulls { source: a.nulls, sink: b.nulls };
            check(a.nulls != b.nulls, Some(column), nulls);
            check(a.min != b.min, Some(column), Difference::Minimum);
            check(a.max != b.max, Some(column), Difference::Maximum);
        }
    }
    if level >= Fidelity::Rows {
        check(source.checksum != sink.checksum, None, Difference::Checksum);
    }
    found
}

impl Mismatch {
    /// One sentence, with the column's name.
    pub fn describe(&self, schema: &Schema) -> String {
        let name = |column: usize| schema.columns.get(column).map(|c| format!("\"{}\"", c.name));
        self.sentence(self.column.and_then(name))
    }

    fn sentence(&self, column: Option<String>) -> String {
        let column = column.or_else(|| self.column.map(|c| (c + 1).to_string())).unwrap_or_default();
        match self.difference {
            Difference::Rows { source, sink } => format!("{source} rows were read and {sink} are held"),
            Difference::Columns { source, sink } => format!("{source} columns were read and {sink} are held"),
            Difference::Nulls { source, sink } => {
                format!("{source} NULLs of column {column} were read and {sink} are held")
            }
            Difference::Minimum => format!("the minimum of column {column} differs"),
            Difference::Maximum => format!("the maximum of column {column} differs"),
            Difference::Checksum => "the checksum over whole rows differs".to_owned(),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(None))
    }
}
