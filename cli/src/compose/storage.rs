//! The folders of a run, made and proven before any source row is read.

use std::fs;
use std::path::Path;

use dpone_adapters::durable;
use dpone_engine::codes::Code;
use dpone_engine::manifest::Storage;
use dpone_engine::refusal::Refusal;

/// Makes the folders that the manifest lets be made, and proves that they can be written and have room.
pub(crate) fn prepare(storage: &Storage) -> Result<(), Refusal> {
    let folders = [
        ("work_dir", storage.work_dir.as_str()),
        ("evidence_dir", storage.evidence_dir.as_str()),
        ("transfer_store.local_root_dir", storage.transfer_store.local_root_dir.as_deref().unwrap_or_default()),
    ];
    for (key, folder) in folders.into_iter().filter(|(_, folder)| !folder.is_empty()) {
        let place = format!("runtime.storage.{key}");
        let folder = Path::new(folder);
        writable(folder, storage).map_err(|e| {
            Refusal::new(Code::StorageNotWritable, format!("{} cannot be used: {e}", folder.display()))
                .at(place.clone())
                .fix("Make the folder exist and writable for this user, or name another one.")
        })?;
        room(folder, storage).map_err(|refusal| refusal.at(place))?;
    }
    Ok(())
}

fn writable(folder: &Path, storage: &Storage) -> std::io::Result<()> {
    if storage.create_dirs {
        durable::create_dirs(folder)?;
    }
    if storage.require_writable {
        // One name for all runners: what a killed one leaves behind, the next removes.
        let sentinel = folder.join(".dpone-writable");
        fs::write(&sentinel, b"dpone")?;
        match fs::remove_file(&sentinel) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}

fn room(folder: &Path, storage: &Storage) -> Result<(), Refusal> {
    let Ok(stat) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let total = stat.f_blocks.saturating_mul(stat.f_frsize);
    let headroom = total / 100 * u64::from(storage.disk_headroom_pct);
    let needed = storage.min_free_bytes.max(headroom);
    if free >= needed {
        return Ok(());
    }
    let text = format!("{} has {free} bytes free and {needed} are demanded", folder.display());
    Err(Refusal::new(Code::StorageFreeSpaceTooSmall, text).fix("Free space, or demand less in runtime.storage."))
}
