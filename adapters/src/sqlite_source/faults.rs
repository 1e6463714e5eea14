//! Cells that are not values of their column's type: which column, which row, how many.

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;

use super::convert::Fault;

/// How many columns a message names.
const NAMED: usize = 8;

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowPlace {
    /// By its row number.
    Rowid(i64),
    /// By its position in the range, from 1.
    Position(u64),
}

impl std::fmt::Display for RowPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rowid(rowid) => write!(f, "rowid {rowid}"),
            Self::Position(position) => write!(f, "row {position} of the range"),
        }
    }
}

/// The faults of a unit, per column.
#[derive(Debug)]
pub(super) struct Faults {
    columns: Vec<Option<(Fault, RowPlace, u64)>>,
    first: Option<Fault>,
    /// Whether the rest of the unit was looked at too.
    complete: bool,
}

impl Faults {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns: vec![None; columns], first: None, complete: true }
    }

    pub(super) fn add(&mut self, column: usize, fault: Fault, place: RowPlace) {
        self.first.get_or_insert(fault);
        if let Some(entry) = self.columns.get_mut(column) {
            entry.get_or_insert((fault, place, 0)).2 += 1;
        }
    }

    /// The rest of the unit was not looked at.
    pub(super) fn incomplete(&mut self) {
        self.complete = false;
    }

    /// The unit's failure: no value, only places and kinds.
    pub(super) fn why(&self, schema: &Schema) -> Why {
        let code = match self.first {
            Some(Fault::Encoding) => Code::InvalidTextEncoding,
            _ => Code::SourceValueTypeMismatch,
        };
        let found: Vec<_> = schema.columns.iter().zip(&self.columns).filter_map(|(c, f)| Some((c, (*f)?))).collect();
        let mut parts: Vec<String> = found
            .iter()
            .take(NAMED)
            .map(|(column, (fault, place, count))| {
                let cells = if *count == 1 { "cell is" } else { "cells are" };
                let least = if self.complete { "" } else { "at least " };
                let (type_name, name) = (&column.ty, &column.name);
                format!(
                    "column \"{name}\": {least}{count} {cells} not {type_name}, the first at {place} ({})",
                    words(*fault)
                )
            })
            .collect();
        if found.len() > NAMED {
            parts.push(format!("and {} more columns", found.len() - NAMED));
        }
        Why::fatal(code, parts.join("; "))
    }
}

fn words(fault: Fault) -> &'static str {
    match fault {
        Fault::Class(found) | Fault::Value(found) => found,
        Fault::Null => "NULL in a column that does not allow it",
        Fault::Encoding => "a text that is not UTF-8",
        Fault::Order => "a value stored in a form that does not sort as the range column must",
    }
}
