//! The journal's folders. A journal whose folder's name a power loss takes away is gone with everything in it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Creates a folder and those above it that are missing, each durable in the one that holds it.
///
/// # Errors
/// If one cannot be created, or something that is no folder stands there.
pub(crate) fn create_folders(folder: &Path) -> io::Result<()> {
    create_with(folder, |parent| File::open(parent)?.sync_all())
}

fn create_with(folder: &Path, sync: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.is_dir()).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            created => created?,
        }
        sync(match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use std::cell::RefCell;
    use std::io::ErrorKind;

    use super::create_with;

    #[test]
    fn every_new_name_is_synced_once_its_folder_is_there() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("a/b"));
        let synced = RefCell::new(Vec::new());
        let create = || {
            create_with(&b, |parent| {
                synced.borrow_mut().push((parent.to_owned(), b.is_dir()));
                Ok(())
            })
        };
        create().unwrap();
        create().unwrap();
        assert_eq!(synced.take(), [(root.path().to_owned(), false), (a, true)]);
        std::fs::write(root.path().join("file"), "").unwrap();
        let error = create_with(&root.path().join("file/b"), |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }
}
