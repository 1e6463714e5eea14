//! The pointer manifest: one version of a dataset.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use dpone_engine::ports::Claimant;
use dpone_engine::schema::Schema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::object_store::valid_key;

/// The format's name, first in every pointer manifest.
const FORMAT: &str = "dpone.parquet_dataset.v1";

/// The largest document that is read back.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// One file of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DataFile {
    /// Relative to the dataset's folder.
    pub(super) path: String,
    /// Rows by its footer.
    pub(super) rows: u64,
    /// Size.
    pub(super) bytes: u64,
    /// SHA-256 in hex.
    pub(super) sha256: String,
}

/// One column, as readers of the manifest see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileColumn {
    pub(super) name: String,
    /// The logical type's name.
    #[serde(rename = "type")]
    pub(super) ty: String,
    pub(super) nullable: bool,
}

/// One version of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    pub(super) format: String,
    /// From 1, without gaps.
    pub(super) version: u64,
    /// The publication that made it.
    pub(super) publication: String,
    /// The run that made it.
    pub(super) run: String,
    /// The journal that the run is in: ids of runs are unique in one journal only.
    pub(super) journal: String,
    /// The fingerprint of that run's plan.
    pub(super) fingerprint: String,
    /// `full_refresh` or `append`.
    pub(super) strategy: String,
    /// The identity of the version before, empty for the first.
    pub(super) base: String,
    pub(super) schema: Vec<FileColumn>,
    /// Rows of all files.
    pub(super) rows: u64,
    /// Rows that this version's run added.
    pub(super) rows_published: u64,
    pub(super) files: Vec<DataFile>,
    pub(super) created_by: String,
}

impl Pointer {
    /// What of its files is not as it lists them; `None` if all are.
    pub(super) fn damage(&self, root: &Path) -> Option<String> {
        let whole = |file: &DataFile| {
            std::fs::metadata(root.join(&file.path)).is_ok_and(|meta| meta.is_file() && meta.len() == file.bytes)
        };
        let damaged: Vec<&DataFile> = self.files.iter().filter(|file| !whole(file)).collect();
        let first = damaged.first()?;
        let (count, of) = (damaged.len(), self.files.len());
        Some(format!(
            "{count} of the {of} files that the dataset lists are gone or have another size, {:?} first",
            first.path
        ))
    }

    /// A version without files, for its maker to fill in.
    pub(super) fn new(version: u64, publication: &str, claimant: &Claimant, base: &str, schema: &Schema) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version,
            publication: publication.to_owned(),
            run: claimant.run.clone(),
            journal: claimant.journal.clone(),
            fingerprint: String::new(),
            strategy: String::new(),
            base: base.to_owned(),
            schema: columns(schema),
            rows: 0,
            rows_published: 0,
            files: Vec::new(),
            created_by: concat!("dpone ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// What identifies this version among all.
    pub(super) fn identity(&self) -> String {
        format!("{}/{}", self.version, self.publication)
    }

    /// Whether it says of itself what a manifest of that version must.
    fn is_sound(&self, version: u64) -> bool {
        self.format == FORMAT && self.version == version && self.files.iter().all(|f| valid_key(&f.path))
    }
}

/// The columns of a schema, as a manifest shows them.
pub(super) fn columns(schema: &Schema) -> Vec<FileColumn> {
    let column = |c: &dpone_engine::schema::Column| FileColumn {
        name: c.name.clone(),
        ty: c.ty.to_string(),
        nullable: c.nullable,
    };
    schema.columns.iter().map(column).collect()
}

/// The version of an identity; 0 for the empty identity of a dataset that does not exist yet.
pub(super) fn version_of(identity: &str) -> Option<u64> {
    if identity.is_empty() {
        return Some(0);
    }
    identity.split_once('/').and_then(|(version, _)| version.parse().ok()).filter(|v| *v > 0)
}

/// The bookkeeping folder of a dataset.
pub(super) fn books(root: &Path) -> PathBuf {
    root.join("_dpone")
}

/// The manifest of a version.
pub(super) fn pointer_path(root: &Path, version: u64) -> PathBuf {
    books(root).join(format!("manifest-{version:020}.json"))
}

/// The manifest of that version; `None` if there is none.
///
/// # Errors
/// `InvalidData` if what stands there is not one.
pub(super) fn read_pointer(root: &Path, version: u64) -> io::Result<Option<Pointer>> {
    let Some(found) = read_json::<Pointer>(&pointer_path(root, version))? else { return Ok(None) };
    match found.is_sound(version) {
        true => Ok(Some(found)),
        false => Err(io::Error::new(ErrorKind::InvalidData, "not a pointer manifest of that version")),
    }
}

/// The manifest with the greatest version: the dataset's present content.
///
/// The only place that lists a folder: preflight and guards look for the newest version, and a publication never does.
///
/// # Errors
/// If the folder cannot be read or the newest manifest is none.
pub(super) fn newest_pointer(root: &Path) -> io::Result<Option<Pointer>> {
    let entries = match fs::read_dir(books(root)) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut newest = 0;
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("manifest-")?.strip_suffix(".json"));
        let digits = number.filter(|n| n.len() == 20 && n.bytes().all(|b| b.is_ascii_digit()));
        newest = newest.max(digits.and_then(|n| n.parse().ok()).unwrap_or(0));
    }
    if newest == 0 { Ok(None) } else { read_pointer(root, newest) }
}

/// A JSON document, bounded; `None` if it is not there.
///
/// # Errors
/// `InvalidData` if it is not of that form, or too large.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let file = match fs::File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(ErrorKind::InvalidData, "larger than a document of dpone's"));
    }
    // The parser's message could quote the document.
    serde_json::from_slice(&text).map(Some).map_err(|_| io::Error::new(ErrorKind::InvalidData, "not readable"))
}
