//! The one file of a version that has no rows, so that whoever reads the files finds the columns.

use std::fs;
use std::io;

use dpone_engine::codes::Code;
use dpone_engine::ports::PublishOrder;
use dpone_engine::run::Why;

use super::ParquetSink;
use super::failure::why;
use super::pointer::DataFile;
use crate::columnar::{ChunkLayout, ChunkWriter, EncodeError};
use crate::digest::hex;
use crate::durable;

const NAME: &str = "part-empty.parquet";

impl ParquetSink {
    /// Writes it into staging. Every try writes the same bytes under the same names.
    pub(super) fn empty_file(&self, order: &PublishOrder) -> Result<DataFile, Why> {
        let failed = |e: io::Error| why(Code::PublicationFailed, "the file of no rows", &e);
        let encoded = |e: EncodeError| Why::fatal(Code::InternalError, e.to_string());
        let Some(staging) = order.staged.staging.first() else {
            return Err(Why::fatal(Code::InternalError, "a publication has no staging"));
        };
        let layout = ChunkLayout::new(&self.schema).map_err(encoded)?;
        let sealed = ChunkWriter::new(&layout, false, u64::MAX).and_then(ChunkWriter::seal).map_err(encoded)?;
        let folder = self.root.join(staging);
        let part = folder.join(format!("{NAME}.part"));
        durable::remove_file(&part).map_err(failed)?;
        durable::write_new(&part, sealed.body.segments()).map_err(failed)?;
        fs::rename(&part, folder.join(NAME)).and_then(|()| durable::sync_dir(&folder)).map_err(failed)?;
        let facts = sealed.facts;
        Ok(DataFile { path: format!("{staging}/{NAME}"), rows: 0, bytes: facts.bytes, sha256: hex(&facts.sha256) })
    }
}
