//! Where a dataset is: from the manifest's address to a folder.

use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::durable;

/// The folder that an address names: `file:///absolute`, or a plain path that is absolute or starts at the current
/// folder. Nothing is created.
///
/// # Errors
/// `route_unsupported` for another scheme, `manifest_invalid_value` for a `file:` address that is no absolute path.
pub fn dataset_root(uri: &str) -> Result<PathBuf, Refusal> {
    let invalid = |what: &str| {
        Refusal::new(Code::ManifestInvalidValue, format!("the dataset's address {what}"))
            .at("sink.uri")
            .fix("write `file:///absolute/path` or a plain path")
    };
    let path = match uri.split_once(':') {
        Some(("file", rest)) => {
            let path = rest.strip_prefix("//").filter(|p| p.starts_with('/'));
            decode(path.ok_or_else(|| invalid("is a `file:` address without an absolute path"))?)
                .ok_or_else(|| invalid("has an invalid percent escape"))?
        }
        Some((scheme, rest)) if rest.starts_with("//") => {
            let message = format!("the parquet sink does not write to {scheme}:// in this build");
            return Err(Refusal::new(Code::RouteUnsupported, message).at("sink.uri").fix("use a local path"));
        }
        _ => uri.to_owned(),
    };
    if path.is_empty() || path.contains('\0') {
        return Err(invalid("is not a path"));
    }
    let absolute = std::path::absolute(&path).map_err(|_| invalid("is not a path"))?;
    Ok(durable::resolved(&absolute))
}

/// The address as rivals must agree on it.
pub(super) fn target_name(root: &Path) -> String {
    format!("file://{}", root.display())
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn addresses_name_folders() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        for (uri, path) in [
            ("file:///no/such/x", PathBuf::from("/no/such/x")),
            ("file:///no/such/a%20b", PathBuf::from("/no/such/a b")),
            ("/no/such/x/", PathBuf::from("/no/such/x")),
            (".dpone-none/x", here.join(".dpone-none/x")),
            ("a:b", here.join("a:b")),
        ] {
            assert_eq!(dataset_root(uri).unwrap(), path, "{uri}");
        }
        for (uri, code) in [
            ("s3://bucket/x", Code::RouteUnsupported),
            ("gs://bucket/x", Code::RouteUnsupported),
            ("file:x", Code::ManifestInvalidValue),
            ("file://host/x", Code::ManifestInvalidValue),
            ("file:///a%2", Code::ManifestInvalidValue),
            ("file:///a%ff", Code::ManifestInvalidValue),
            ("", Code::ManifestInvalidValue),
        ] {
            assert_eq!(dataset_root(uri).unwrap_err().code, code, "{uri}");
        }
    }

    #[test]
    fn two_spellings_of_a_folder_are_one_target() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("real")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
        let root = |name: &str| dataset_root(dir.path().join(name).to_str().unwrap()).unwrap();
        assert_eq!(root("link/new"), root("real/new"));
    }
}
