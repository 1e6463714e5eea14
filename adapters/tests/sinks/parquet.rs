//! The `parquet` sink beyond its port's conformance.

use std::fs;
use std::path::Path;

use arrow::array::AsArray as _;
use arrow::datatypes::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// The newest manifest, as a reader finds it.
pub(crate) fn newest(root: &Path) -> Option<Value> {
    let names = fs::read_dir(root.join("_dpone")).ok()?.map(|e| e.unwrap().file_name().into_string().unwrap());
    let newest = names.filter(|n| n.starts_with("manifest-")).max()?;
    Some(serde_json::from_slice(&fs::read(root.join("_dpone").join(newest)).unwrap()).unwrap())
}

/// The ids of every row that a reader of the newest manifest sees, sorted.
pub(crate) fn rows(root: &Path) -> Vec<i64> {
    let Some(manifest) = newest(root) else { return Vec::new() };
    let mut ids = Vec::new();
    for file in manifest["files"].as_array().unwrap() {
        let bytes = fs::read(root.join(file["path"].as_str().unwrap())).unwrap();
        assert_eq!(bytes.len() as u64, file["bytes"].as_u64().unwrap());
        assert_eq!(
            dpone_adapters::digest::hex(&dpone_adapters::digest::sha256(&bytes)),
            file["sha256"].as_str().unwrap()
        );
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap().build().unwrap();
        for batch in reader {
            ids.extend(batch.unwrap().column_by_name("id").unwrap().as_primitive::<Int64Type>().values());
        }
    }
    ids.sort_unstable();
    ids
}
