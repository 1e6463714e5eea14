//! One unit into staging.
//!
//! A load works in a folder of its own, `_dpone/loads/<load>`, under names that no reader looks at. When every file
//! is complete, synced and counted by its footer, the load's receipt is written; then the files move into staging
//! under their final names. A load without a receipt, or with files that have not moved, did not happen: its retry
//! has another name, and its leftovers are found by its own name alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::ports::{Feed, LoadOrder};
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Why};
use serde::{Deserialize, Serialize};

use super::claim::lock;
use super::failure::why;
use super::pointer::{DataFile, books, read_json};
use super::{ParquetSink, blocking, footer};
use crate::body::Body;
use crate::digest::hex;
use crate::durable;
use crate::object_store::valid_key;

/// What a load did: the files that it brought into staging.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LoadReceipt {
    pub(super) staging: String,
    pub(super) rows: u64,
    /// Paths are relative to the dataset's folder.
    pub(super) files: Vec<DataFile>,
}

impl LoadReceipt {
    /// Whether every file is a file of its staging folder, and they hold the rows that it says.
    pub(super) fn is_sound(&self) -> bool {
        let inside = |f: &DataFile| {
            let name = f.path.strip_prefix(&self.staging).and_then(|rest| rest.strip_prefix('/'));
            name.is_some_and(|name| valid_key(name) && !name.contains('/'))
        };
        valid_key(&self.staging)
            && self.files.iter().all(inside)
            && self.files.iter().try_fold(0u64, |sum, f| sum.checked_add(f.rows)) == Some(self.rows)
    }
}

/// A load's own folder.
pub(super) fn load_folder(root: &Path, load: &str) -> PathBuf {
    books(root).join("loads").join(load)
}

/// A load's receipt, if it was written.
pub(super) fn read_receipt(root: &Path, load: &str) -> io::Result<Option<LoadReceipt>> {
    read_json(&load_folder(root, load).join("receipt.json"))
}

impl ParquetSink {
    pub(super) async fn load_unit(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        match self.try_load(order, feed).await {
            Ok(outcome) => outcome,
            Err(why) => Outcome::NotDone(why),
        }
    }

    /// `Err` is an end before anything could count as loaded.
    async fn try_load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Result<Outcome, Why> {
        let begun = {
            let (sink, order) = (self.clone(), order.clone());
            move || sink.begin_load(&order)
        };
        blocking(begun).await.unwrap_or_else(|| Err(cut_short()))?;
        let mut receipt = LoadReceipt { staging: order.staging.clone(), rows: 0, files: Vec::new() };
        while let Some(next) = feed.next().await {
            let (facts, body) = next?;
            let name = file_name(order, receipt.files.len());
            let (sink, load, staging) = (self.clone(), order.load.clone(), order.staging.clone());
            let written = move || sink.write_file(&load, &staging, &name, &facts, &body);
            let file = blocking(written).await.unwrap_or_else(|| Err(cut_short()))?;
            receipt.rows += file.rows;
            receipt.files.push(file);
        }
        if receipt.rows != order.rows {
            let detail = format!("range {}: {} rows were sent and {} arrived", order.unit, order.rows, receipt.rows);
            return Err(Why::fatal(Code::LoadCountMismatch, detail));
        }
        let (sink, order) = (self.clone(), order.clone());
        Ok(blocking(move || sink.finish_load(&order, &receipt)).await.unwrap_or_else(|| {
            Outcome::Unknown(Why::fatal(Code::LoadOutcomeUnknown, "the load's last step ended early"))
        }))
    }

    fn begin_load(&self, order: &LoadOrder) -> Result<(), Why> {
        let lock = lock(&self.root)?;
        lock.held(&order.claimant)?;
        if !self.root.join(&order.staging).is_dir() {
            return Err(Why::fatal(Code::LoadFailed, "the staging folder is gone"));
        }
        let folder = load_folder(&self.root, &order.load);
        let failed = |e: io::Error| why(Code::LoadFailed, "the load's folder", &e);
        durable::create_dirs(durable::parent(&folder)).map_err(failed)?;
        match fs::create_dir(&folder) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                Err(Why::fatal(Code::StagingNameConflict, format!("the name of load {} is taken", order.load)))
            }
            other => other.and_then(|()| durable::sync_dir(durable::parent(&folder))).map_err(failed),
        }
    }

    /// Writes one object as a file of the load's folder, and reads back what it holds.
    fn write_file(
        &self,
        load: &str,
        staging: &str,
        name: &str,
        facts: &ChunkFacts,
        body: &Body,
    ) -> Result<DataFile, Why> {
        let part = load_folder(&self.root, load).join(format!("{name}.part"));
        // An object in a file of the same file system is that file: nothing is copied, and nothing needs room.
        let linked = body.file().is_some_and(|file| durable::link_new(file, &part, facts.bytes));
        let written = if linked { Ok(()) } else { durable::write_new(&part, body.segments()) };
        written.map_err(|e| {
            let mut why = why(Code::LoadFailed, "a data file", &e);
            if why.code == Code::TargetDiskFull {
                let free = durable::free_bytes(&self.root).map_or_else(|| "?".to_owned(), |b| b.to_string());
                why.detail = format!("{}: {} bytes are needed and {free} are free", why.detail, facts.bytes);
            }
            why
        })?;
        let rows = footer::rows(&part, &self.schema)?;
        if rows != facts.rows {
            let detail = format!("a file of {} rows holds {rows} by its footer", facts.rows);
            return Err(Why::fatal(Code::LoadCountMismatch, detail));
        }
        Ok(DataFile { path: format!("{staging}/{name}"), rows, bytes: facts.bytes, sha256: hex(&facts.sha256) })
    }

    /// Writes the receipt, then gives the files their final names. An error after the receipt leaves it to a probe.
    fn finish_load(&self, order: &LoadOrder, receipt: &LoadReceipt) -> Outcome {
        let lock = match lock(&self.root).and_then(|l| l.held(&order.claimant).map(|()| l)) {
            Ok(lock) => lock,
            Err(why) => return Outcome::NotDone(why),
        };
        let folder = load_folder(&self.root, &order.load);
        let text = serde_json::to_vec(receipt).map_err(io::Error::from);
        let moved = text.and_then(|t| durable::replace(&folder.join("receipt.json"), &t)).and_then(|()| {
            for file in &receipt.files {
                let name = Path::new(&file.path).file_name().unwrap_or_default();
                let mut part = name.to_os_string();
                part.push(".part");
                fs::rename(folder.join(part), self.root.join(&file.path))?;
            }
            durable::sync_dir(&self.root.join(&order.staging))
        });
        drop(lock);
        match moved {
            Ok(()) => Outcome::Done(Receipt::Loaded { rows: receipt.rows }),
            Err(e) => Outcome::Unknown(why(Code::LoadOutcomeUnknown, "the load's files", &e)),
        }
    }
}

/// The name of a load's file: unit and chunk for people, the load's nonce so that tries never share a name.
fn file_name(order: &LoadOrder, chunk: usize) -> String {
    let nonce = order.load.rsplit('_').next().unwrap_or(&order.load);
    format!("part-r{:05}-c{chunk:05}-{nonce}.parquet", order.unit)
}

fn cut_short() -> Why {
    Why::fatal(Code::LoadFailed, "the load was cut short")
}
