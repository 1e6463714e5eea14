//! Whether a folder is on a network file system: WAL needs shared memory and locks that those do not give.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

/// `f_type` of statfs(2) for file systems that other hosts share.
const NETWORK: [(u64, &str); 14] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"),
    (0x0BD0_0BD0, "Lustre"),
    (0x00C3_6400, "Ceph"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x786F_4256, "a VirtualBox share"),
];

/// Refuses a journal on a network file system. One whose kind cannot be told is accepted.
pub(crate) fn on_local_disk(path: &Path) -> Result<(), Refusal> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(stat) = rustix::fs::statfs(folder) else { return Ok(()) };
    match name(stat.f_type as u64) {
        None => Ok(()),
        Some(name) => Err(Refusal::new(Code::JournalNetworkFileSystem, format!("the journal would be on {name}"))
            .at(folder.display().to_string())
            .fix("Keep the journal on a local disk.")),
    }
}

fn name(f_type: u64) -> Option<&'static str> {
    NETWORK.iter().find(|(magic, _)| *magic == f_type).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn network_file_systems_are_known_by_number() {
        let check = |f_type, expect: Option<&str>| assert_eq!(name(f_type), expect, "{f_type:#x}");
        check(0x6969, Some("NFS"));
        check(0xFF53_4D42, Some("CIFS"));
        check(0xEF53, None); // ext4
        check(0x5846_5342, None); // XFS
        check(0x9123_683E, None); // Btrfs
        check(0x0102_1994, None); // tmpfs
        check(0x794C_7630, None); // overlay
    }

    #[test]
    fn a_local_folder_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        on_local_disk(&folder.path().join("journal.db")).unwrap();
        on_local_disk(Path::new("journal.db")).unwrap();
    }
}
