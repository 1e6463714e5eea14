//! Evidence documents as files: `<evidence_dir>/<name>.json`.

use std::path::PathBuf;

use crate::digest::{hex, sha256};
use crate::durable::{self, Failure};
use crate::object_store::valid_key;
use dpone_engine::codes::Code;
use dpone_engine::ports::EvidenceStore;
use dpone_engine::run::{Outcome, Receipt, Why};

/// A folder of evidence documents.
#[derive(Clone, Debug)]
pub struct EvidenceFiles {
    root: PathBuf,
}

impl EvidenceFiles {
    /// The documents in that folder, which is created with the first of them.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl EvidenceStore for EvidenceFiles {
    async fn write(&self, name: &str, document: &str) -> Outcome {
        if !valid_key(name) {
            return Outcome::NotDone(Why::fatal(Code::EvidenceWriteFailed, "the document's name is not a plain path"));
        }
        let path = self.root.join(format!("{name}.json"));
        let text = document.to_owned();
        let sha256 = hex(&sha256(document.as_bytes()));
        let shown = path.display().to_string();
        let write = move || {
            durable::create_dirs(durable::parent(&path)).and_then(|()| durable::replace(&path, text.as_bytes()))
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => Outcome::Done(Receipt::Written { sha256, path: shown }),
            Ok(Err(e)) => {
                let transient = durable::classify(&e) == Failure::Transient;
                Outcome::NotDone(Why { code: Code::EvidenceWriteFailed, detail: format!("{shown}: {e}"), transient })
            }
            Err(_) => Outcome::Unknown(Why::fatal(Code::EvidenceWriteFailed, "the writer ended early")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[tokio::test]
    async fn a_document_replaces_the_earlier_one_of_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let store = EvidenceFiles::new(dir.path().join("deep/evidence"));
        for text in ["{}", "{\"a\":1}"] {
            let Outcome::Done(Receipt::Written { sha256, path }) = store.write("run-1/a1-evidence", text).await else {
                panic!("not written")
            };
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(sha256, hex(&crate::digest::sha256(text.as_bytes())));
            assert!(path.ends_with("deep/evidence/run-1/a1-evidence.json"));
        }
        assert_eq!(std::fs::read_dir(dir.path().join("deep/evidence/run-1")).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_not_done() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        for (root, name) in [("file", "run/evidence"), ("ok", "../evidence"), ("ok", "/evidence"), ("ok", "")] {
            let outcome = EvidenceFiles::new(dir.path().join(root)).write(name, "{}").await;
            assert!(matches!(&outcome, Outcome::NotDone(w) if w.code == Code::EvidenceWriteFailed), "{outcome:?}");
        }
    }
}
