//! What a finished file says of itself.

use std::fs::File;
use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::cells;

/// A file's reader, once its columns are found to be the planned ones.
///
/// The Arrow schema that a writer may have embedded is ignored: what counts is what any Parquet reader sees.
///
/// # Errors
/// `load_failed` if it is not a readable Parquet file of that schema.
pub(super) fn open(path: &Path, schema: &Schema) -> Result<ParquetRecordBatchReaderBuilder<File>, Why> {
    let unreadable = |what: String| Why::fatal(Code::LoadFailed, format!("a data file cannot be read: {what}"));
    let file = File::open(path).map_err(|e| unreadable(e.to_string()))?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|_| unreadable("its footer is damaged".to_owned()))?;
    let found = builder.schema();
    if found.fields().len() != schema.columns.len() {
        return Err(unreadable(format!("it has {} columns of {}", found.fields().len(), schema.columns.len())));
    }
    for (field, column) in found.fields().iter().zip(&schema.columns) {
        if *field.name() != column.name || !cells::is_exact(field.data_type(), &column.ty) {
            return Err(unreadable(format!("column {:?} is not the planned {}", column.name, column.ty)));
        }
    }
    Ok(builder)
}

/// The rows of a file.
///
/// # Errors
/// As [`open`].
pub(super) fn rows(path: &Path, schema: &Schema) -> Result<u64, Why> {
    let builder = open(path, schema)?;
    let rows = builder.metadata().file_metadata().num_rows();
    u64::try_from(rows).map_err(|_| Why::fatal(Code::LoadFailed, "a data file's footer is damaged"))
}
