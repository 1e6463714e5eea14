//! Fields that are not values of their column's type: which column, which row of the range, how many.

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;

/// Why a field is not a value of its column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// NULL where the schema has none.
    Null,
    /// Not the number of bytes that its form has, or not a value of its form: what was planned is not what was sent.
    Form,
    /// A text that is not UTF-8.
    Encoding,
    /// A numeric that is NaN or infinite.
    NotFinite,
    /// A numeric with more digits after the point than the column's scale.
    Scale,
    /// A numeric with more digits before the point than the column has.
    Precision,
    /// An infinite date or timestamp, or one outside of the years 0001 to 9999.
    Range,
    /// A time of 24:00:00, which is no time of a day.
    Midnight,
    /// More digits of a second than the column has.
    Digits,
}

/// How many columns a message names.
const NAMED: usize = 8;

/// The faults of a unit, per column.
#[derive(Debug)]
pub(crate) struct Faults {
    columns: Vec<Option<(Fault, u64, u64)>>,
    first: Option<Fault>,
    /// Whether the rest of the unit was looked at too.
    complete: bool,
}

impl Faults {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: vec![None; columns], first: None, complete: true }
    }

    /// A fault in the row of that position in the range, from 1.
    pub(crate) fn add(&mut self, column: usize, fault: Fault, row: u64) {
        self.first.get_or_insert(fault);
        if let Some(entry) = self.columns.get_mut(column) {
            entry.get_or_insert((fault, row, 0)).2 += 1;
        }
    }

    /// The rest of the unit was not looked at.
    pub(crate) fn incomplete(&mut self) {
        self.complete = false;
    }

    /// The unit's failure: no value, only places and kinds.
    pub(crate) fn why(&self, schema: &Schema) -> Why {
        let code = self.first.map_or(Code::SourceValueTypeMismatch, code);
        let found: Vec<_> = schema.columns.iter().zip(&self.columns).filter_map(|(c, f)| Some((c, (*f)?))).collect();
        let mut parts: Vec<String> = found
            .iter()
            .take(NAMED)
            .map(|(column, (fault, row, count))| {
                let fields = if *count == 1 { "value is" } else { "values are" };
                let least = if self.complete { "" } else { "at least " };
                let (ty, name) = (&column.ty, &column.name);
                let words = words(*fault);
                format!(
                    "column \"{name}\": {least}{count} {fields} not {ty}, the first in row {row} of the range ({words})"
                )
            })
            .collect();
        if found.len() > NAMED {
            parts.push(format!("and {} more columns", found.len() - NAMED));
        }
        Why::fatal(code, parts.join("; "))
    }
}

fn code(fault: Fault) -> Code {
    match fault {
        Fault::Null | Fault::Form | Fault::Midnight | Fault::Digits => Code::SourceValueTypeMismatch,
        Fault::Encoding => Code::InvalidTextEncoding,
        Fault::NotFinite => Code::DecimalNotFinite,
        Fault::Scale => Code::DecimalScaleOverflow,
        Fault::Precision => Code::DecimalOverflow,
        Fault::Range => Code::DateOutOfRange,
    }
}

fn words(fault: Fault) -> &'static str {
    match fault {
        Fault::Null => "NULL in a column that does not allow it",
        Fault::Form => "sent in another form than was planned",
        Fault::Encoding => "a text that is not UTF-8",
        Fault::NotFinite => "NaN or infinite",
        Fault::Scale => "more digits after the point",
        Fault::Precision => "more digits before the point",
        Fault::Range => "infinite, or outside of the years 0001 to 9999",
        Fault::Midnight => "24:00:00",
        Fault::Digits => "more digits of a second",
    }
}
