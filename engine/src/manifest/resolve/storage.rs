//! Journal, folders and transfer store.

use super::super::document::{Document, TransferStoreDocument};
use super::super::problems::Problems;
use super::super::runtime::{
    DEFAULT_JOURNAL, Encryption, EncryptionMode, Multipart, ObjectCleanup, Runtime, Storage, StoreType, TransferStore,
};
use super::super::size::ByteSize;
use crate::codes::Code;

const AT: &str = "runtime.storage";
const STORE: &str = "runtime.storage.transfer_store";
/// Default of `multipart.part_size`: 64 MiB.
const PART_SIZE: u64 = 64 << 20;

pub(super) fn resolve(document: &Document, problems: &mut Problems<'_>) -> Runtime {
    let given = &document.runtime.storage;
    let work_dir = legacy(
        ("runtime.storage.work_dir", &given.work_dir),
        ("source.options.partition_tmp_dir", &document.source.options.partition_tmp_dir),
        ".dpone/work",
        problems,
    );
    let evidence_dir = legacy(
        ("runtime.storage.evidence_dir", &given.evidence_dir),
        ("observability.artifacts.path", &document.observability.artifacts.path),
        ".dpone/runs",
        problems,
    );
    let or = |value: &Option<String>, default: &str| value.clone().unwrap_or_else(|| default.to_owned());
    let path_template = or(&given.path_template, "{pipeline}/{run_id}/{stage}");
    template(&path_template, problems);
    Runtime {
        journal: or(&document.runtime.journal, DEFAULT_JOURNAL),
        storage: Storage {
            profile: given.profile,
            work_dir,
            evidence_dir,
            checkpoint_dir: or(&given.checkpoint_dir, ".dpone/state"),
            debug_dir: or(&given.debug_dir, ".dpone/debug"),
            path_template,
            create_dirs: given.create_dirs.unwrap_or(true),
            require_writable: given.require_writable.unwrap_or(true),
            min_free_bytes: given.min_free_bytes.map_or(0, |ByteSize(bytes)| bytes),
            disk_headroom_pct: document
                .source
                .options
                .native_transfer
                .execution
                .resource_policy
                .disk_headroom_pct
                .unwrap_or(0),
            transfer_store: store(given.transfer_store.as_ref(), problems),
            cleanup: given.cleanup.clone(),
        },
    }
}

/// A setting with a legacy place: either alone counts, both must agree.
fn legacy(
    new: (&str, &Option<String>),
    old: (&str, &Option<String>),
    default: &str,
    problems: &mut Problems<'_>,
) -> String {
    match (new.1, old.1) {
        (Some(a), Some(b)) if a != b => {
            let message = format!("`{}` and `{}` state the same setting with different values", new.0, old.0);
            problems.add(old.0, Code::OptionConflict, message, format!("Keep `{}` and remove the other.", new.0));
            a.clone()
        }
        (Some(value), _) | (None, Some(value)) => value.clone(),
        (None, None) => default.to_owned(),
    }
}

/// The template must keep runs apart and stay below `work_dir`.
fn template(text: &str, problems: &mut Problems<'_>) {
    let mut rest = text.to_owned();
    for name in ["{pipeline}", "{run_id}", "{stage}"] {
        rest = rest.replace(name, "x");
    }
    let why = if !text.contains("{run_id}") {
        Some("does not hold `{run_id}`, so two runs would share a folder")
    } else if rest.contains(['{', '}']) {
        Some("holds a name in braces that does not exist")
    } else if text.starts_with(['/', '\\']) || rest.split(['/', '\\']).any(|part| part == ".." || part.is_empty()) {
        Some("leaves `work_dir`")
    } else {
        None
    };
    if let Some(why) = why {
        problems.add(
            &format!("{AT}.path_template"),
            Code::ManifestInvalidValue,
            format!("`path_template` {why}"),
            "Build it from `{pipeline}`, `{run_id}` and `{stage}`, such as `{pipeline}/{run_id}/{stage}`.",
        );
    }
}

fn store(given: Option<&TransferStoreDocument>, problems: &mut Problems<'_>) -> TransferStore {
    let kind = given.map_or(StoreType::Local, |store| store.kind);
    let local = kind == StoreType::Local;
    let mut store = TransferStore {
        kind,
        uri: "local://objects".to_owned(),
        connection_id: None,
        connection_type: Default::default(),
        endpoint_url: None,
        local_root_dir: local.then(|| ".dpone/objects".to_owned()),
        cleanup: ObjectCleanup::default(),
        encryption: Encryption::default(),
        multipart: Multipart { enabled: true, part_size: PART_SIZE },
    };
    let Some(given) = given else { return store };
    match &given.uri {
        Some(uri) => store.uri = prefix(uri, problems),
        None if local => {}
        None => problems.add(
            &format!("{STORE}.uri"),
            Code::ManifestInvalidValue,
            format!("a `{kind}` store needs its `uri`"),
            "Add `uri`, such as `s3://bucket/prefix`.",
        ),
    }
    // What only another kind of store would use must not look as if it were in force.
    let foreign: &[(&str, bool)] = if local {
        &[("connection_id", given.connection_id.is_some()), ("endpoint_url", given.endpoint_url.is_some())]
    } else {
        &[("local_root_dir", given.local_root_dir.is_some())]
    };
    for (name, _) in foreign.iter().filter(|(_, there)| *there) {
        problems.add(
            &format!("{STORE}.{name}"),
            Code::OptionConflict,
            format!("a `{kind}` store has no `{name}`"),
            format!("Remove `{name}`, or choose another `type`."),
        );
    }
    if local && given.encryption.mode == EncryptionMode::Kms {
        problems.add(
            &format!("{STORE}.encryption.mode"),
            Code::OptionConflict,
            "a `local` store has no key service",
            "Use `provider_default`, or choose another `type`.",
        );
    }
    store.connection_id.clone_from(&given.connection_id);
    store.connection_type = given.connection_type.unwrap_or_default();
    store.endpoint_url.clone_from(&given.endpoint_url);
    if given.local_root_dir.is_some() {
        store.local_root_dir.clone_from(&given.local_root_dir);
    }
    store.cleanup = given.cleanup.clone();
    store.encryption = given.encryption.clone();
    store.multipart = Multipart {
        enabled: given.multipart.enabled.unwrap_or(true),
        part_size: given.multipart.part_size.map_or(PART_SIZE, |ByteSize(bytes)| bytes),
    };
    store
}

/// An object prefix: a scheme and a bucket, no empty or climbing parts.
fn prefix(uri: &str, problems: &mut Problems<'_>) -> String {
    let trimmed = uri.trim_end_matches('/');
    let sound = trimmed.split_once("://").is_some_and(|(scheme, rest)| {
        let path = rest.strip_prefix('/').unwrap_or(rest);
        !scheme.is_empty()
            && !path.is_empty()
            && path.split('/').all(|part| !part.is_empty() && part != ".." && part != ".")
    });
    if !sound {
        problems.add(
            &format!("{STORE}.uri"),
            Code::ManifestInvalidValue,
            "`uri` is not an object prefix",
            "Write it as `s3://bucket/prefix`.",
        );
    }
    trimmed.to_owned()
}
