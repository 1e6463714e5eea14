//! Object keys: plain relative paths of the run.

/// The longest key and the longest part of one that a file system takes with room for a suffix.
const MAX_KEY: usize = 1024;
const MAX_PART: usize = 200;

/// Whether a key is a plain relative path: no empty part, no `.` or `..`, no backslash or control character.
pub fn valid_key(key: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part.len() <= MAX_PART
            && part != "."
            && part != ".."
            && !part.chars().any(|c| c.is_control() || c == '\\')
    };
    key.len() <= MAX_KEY && key.split('/').all(plain)
}

/// The name under which an object is written before it is whole. A name of the same try: whoever removes the object
/// removes it too.
pub(super) fn part(key: &str) -> String {
    format!("{key}.part")
}

/// The folders above an object, from the nearest up, without the first one of the key.
pub(super) fn run_folders(key: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(key.rsplit_once('/').map(|(folder, _)| folder), |folder| {
        folder.rsplit_once('/').map(|(above, _)| above)
    })
    .filter(|folder| folder.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain_relative_paths() {
        for key in ["a", "a/b/c.parquet", "orders/01J/a1-0/r0.t1/c0.parquet", "...", "ä/ß"] {
            assert!(valid_key(key), "{key}");
        }
        let long = "x".repeat(MAX_PART + 1);
        for key in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a/.", "a\\b", "a\nb", "a\0", &long] {
            assert!(!valid_key(key), "{key:?}");
        }
        assert!(!valid_key(&["abc"; 400].join("/")));
    }

    #[test]
    fn the_manifests_folder_is_not_the_runs() {
        let folders = |key| run_folders(key).collect::<Vec<_>>();
        assert_eq!(folders("m/run/a1/r0/c0"), ["m/run/a1/r0", "m/run/a1", "m/run"]);
        assert!(folders("m/c0").is_empty() && folders("c0").is_empty());
    }
}
