//! Reading a manifest file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::manifest::{
    Connection, ConnectionType, MAX_MANIFEST_BYTES, Manifest, Notice, SinkType, SourceType, StoreType, Support,
    located, parse_with_notices,
};
use dpone_engine::refusal::Refusal;

/// What this build has adapters for.
const SUPPORT: Support<'_> = Support {
    sources: &[SourceType::Sqlite, SourceType::Postgres, SourceType::Mssql, SourceType::Odbc],
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
    /// Its text.
    text: String,
}

impl Loaded {
    /// Says where in the manifest's file the settings stand that were refused after it had been read.
    pub(crate) fn located(&self, refusals: Vec<Refusal>) -> Vec<Refusal> {
        let refusals = refusals.into_iter().map(|refusal| by_connection(&self.manifest, refusal)).collect();
        located(&self.text, &self.name, refusals)
    }
}

/// Names the connection of a server that cannot be used: what the server says does not tell which settings were taken.
fn by_connection(manifest: &Manifest, refusal: Refusal) -> Refusal {
    let (side, connection) = match (refusal.code, refusal.place.as_deref()) {
        (Code::SourceNotFound, Some("source")) => ("source", &manifest.source.connection),
        (Code::TargetNotReachable, Some("sink")) => ("sink", &manifest.sink.connection),
        _ => return refusal,
    };
    let (key, settings) = match connection {
        Connection::Reference { connection_id, connection_type: ConnectionType::Env } => {
            ("connection_id", format!("DPONE_CONN_{}_… in the environment", connection_id.to_ascii_uppercase()))
        }
        Connection::Settings(_) => ("connection", format!("`{side}.connection` and the password in the environment")),
        _ => return refusal,
    };
    let fix = refusal.fix.as_deref().map(|fix| format!("{fix} ")).unwrap_or_default();
    Refusal { place: Some(format!("{side}.{key}")), fix: Some(format!("{fix}Its settings are {settings}.")), ..refusal }
}

/// Reads and checks a manifest file.
pub(crate) fn load(path: &Path, journal: Option<&Path>) -> Result<Loaded, Vec<Refusal>> {
    let name = path.display().to_string();
    let text = read(path).map_err(|refusal| vec![refusal.at(name.clone())])?;
    let parsed = parse_with_notices(&text, &name)?;
    let unsupported = parsed.manifest.unsupported(&SUPPORT);
    if !unsupported.is_empty() {
        return Err(located(&text, &name, unsupported));
    }
    let homes = homes(&parsed.manifest, &name);
    if !homes.is_empty() {
        return Err(homes);
    }
    let journal = journal.map_or_else(|| PathBuf::from(&parsed.manifest.runtime.journal), Path::to_path_buf);
    Ok(Loaded { manifest: parsed.manifest, notices: parsed.notices, journal, name, text })
}

/// Paths that begin with `~`, which only a shell understands: here it would be a folder of that name.
fn homes(manifest: &Manifest, file: &str) -> Vec<Refusal> {
    let of = |connection: &Connection| match connection {
        Connection::Path(text) | Connection::Uri(text) => Some(text.clone()),
        _ => None,
    };
    let storage = &manifest.runtime.storage;
    let paths = [
        ("source.path", of(&manifest.source.connection)),
        ("sink.path or sink.uri", of(&manifest.sink.connection)),
        ("runtime.journal", Some(manifest.runtime.journal.clone())),
        ("runtime.storage.work_dir", Some(storage.work_dir.clone())),
        ("runtime.storage.evidence_dir", Some(storage.evidence_dir.clone())),
        ("runtime.storage.transfer_store.local_root_dir", storage.transfer_store.local_root_dir.clone()),
    ];
    let home = |path: &str| path == "~" || path.starts_with("~/");
    paths
        .into_iter()
        .filter(|(_, path)| path.as_deref().is_some_and(home))
        .map(|(key, _)| {
            Refusal::new(Code::ManifestInvalidValue, format!("`{key}` begins with `~`, which is not expanded here"))
                .at(format!("{key} ({file})"))
                .fix("Write the path in full; a folder that is really named so is `./~`.")
        })
        .collect()
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
