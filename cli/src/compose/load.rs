//! Reading a manifest file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::manifest::{
    MAX_MANIFEST_BYTES, Manifest, Notice, SinkType, SourceType, StoreType, Support, parse_with_notices,
};
use dpone_engine::refusal::Refusal;

/// What this build has adapters for.
const SUPPORT: Support<'_> = Support {
    sources: &[SourceType::Sqlite],
    sinks: &[SinkType::Parquet, SinkType::Sqlite, SinkType::Postgres],
    stores: &[StoreType::Local],
};

/// A manifest that was read and checked.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) manifest: Manifest,
    pub(crate) notices: Vec<Notice>,
    /// The journal: as the command line says, else as the manifest says.
    pub(crate) journal: PathBuf,
    /// How the manifest was named on the command line.
    pub(crate) name: String,
}

/// Reads and checks a manifest file.
pub(crate) fn load(path: &Path, journal: Option<&Path>) -> Result<Loaded, Vec<Refusal>> {
    let name = path.display().to_string();
    let text = read(path).map_err(|refusal| vec![refusal.at(name.clone())])?;
    let parsed = parse_with_notices(&text, &name)?;
    let unsupported = parsed.manifest.unsupported(&SUPPORT);
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    let journal = journal.map_or_else(|| PathBuf::from(&parsed.manifest.runtime.journal), Path::to_path_buf);
    Ok(Loaded { manifest: parsed.manifest, notices: parsed.notices, journal, name })
}

fn read(path: &Path) -> Result<String, Refusal> {
    let refuse = |why: String| {
        Refusal::new(Code::ManifestNotFound, format!("the manifest cannot be read: {why}"))
            .fix("Name a readable YAML file; `dpone schema manifest` prints what goes in it.")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| refuse(plain(&e)))?;
    // One byte more than is allowed, so that the parser sees that it is too much.
    file.take(MAX_MANIFEST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|e| refuse(plain(&e)))?;
    String::from_utf8(bytes)
        .map_err(|_| Refusal::new(Code::ManifestSyntax, "the manifest is not UTF-8 text").fix("Save it as UTF-8."))
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}
