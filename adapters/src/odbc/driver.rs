//! Which library a driver's name means.
//!
//! The driver manager looks bare library names up in a few folders only, so a driver is resolved to a full path here.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

/// Where distributions put driver libraries.
const FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/odbc",
    "/usr/lib/aarch64-linux-gnu/odbc",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/lib",
];
/// `odbcinst.ini` above this size is not one.
const MOST_BYTES: u64 = 1 << 20;

/// A driver that can be loaded, as far as the file system says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The name it was asked for by.
    pub name: String,
    /// Its library.
    pub path: PathBuf,
}

/// A driver that is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The section's name.
    pub name: String,
    /// The library as the file states it.
    pub library: String,
}

/// The driver of that name: a name of `odbcinst.ini`, in any case, or a library's path.
///
/// # Errors
/// `odbc_driver_not_found` with what is registered.
pub fn find(name: &str, place: &str) -> Result<Driver, Refusal> {
    find_among(name, &registered(), place)
}

fn find_among(name: &str, registered: &[Registered], place: &str) -> Result<Driver, Refusal> {
    let missing = |text: String| {
        let names: Vec<_> = registered.iter().map(|r| r.name.as_str()).collect();
        let fix = if names.is_empty() {
            format!("Install the driver and register it in odbcinst.ini, or set {place} to the path of its library.")
        } else {
            format!("Registered are: {}. Set {place} to one of them, or to the path of a library.", names.join(", "))
        };
        Refusal::new(Code::OdbcDriverNotFound, text).at(place).fix(fix)
    };
    let bare = name.trim().trim_start_matches('{').trim_end_matches('}');
    if bare.contains('/') {
        let path = PathBuf::from(bare);
        return match path.is_file() {
            true => Ok(Driver { name: bare.to_owned(), path }),
            false => Err(missing(format!("there is no library {bare}"))),
        };
    }
    let Some(entry) = registered.iter().find(|r| r.name.eq_ignore_ascii_case(bare)) else {
        return Err(missing(format!("no ODBC driver \"{bare}\" is registered")));
    };
    match locate(&entry.library) {
        Some(path) => Ok(Driver { name: entry.name.clone(), path }),
        None => Err(missing(format!("the library of driver \"{}\", {}, is not there", entry.name, entry.library))),
    }
}

/// The library of a registered driver, if it is there.
pub fn library(registered: &Registered) -> Option<PathBuf> {
    locate(&registered.library)
}

/// Every driver of every `odbcinst.ini`, the user's first.
pub fn registered() -> Vec<Registered> {
    let mut found: Vec<Registered> = Vec::new();
    for path in inis() {
        let small = fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
        let Some(text) = small.then(|| fs::read(&path).ok()).flatten() else { continue };
        for driver in parse(&String::from_utf8_lossy(&text)) {
            if !found.iter().any(|r| r.name.eq_ignore_ascii_case(&driver.name)) {
                found.push(driver);
            }
        }
    }
    found
}

fn inis() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut add = |path: PathBuf| {
        if !paths.contains(&path) {
            paths.push(path);
        }
    };
    let system = env::var_os("ODBCSYSINI").map(PathBuf::from);
    if let Some(ini) = env::var_os("ODBCINSTINI").map(PathBuf::from) {
        // A bare name stands in the system's folder.
        add(if ini.is_absolute() { ini } else { system.clone().unwrap_or_else(|| "/etc".into()).join(ini) });
    }
    if let Some(home) = env::var_os("HOME") {
        add(Path::new(&home).join(".odbcinst.ini"));
    }
    if let Some(system) = system {
        add(system.join("odbcinst.ini"));
    }
    for folder in ["/etc", "/etc/unixODBC", "/usr/local/etc"] {
        add(Path::new(folder).join("odbcinst.ini"));
    }
    paths
}

fn parse(text: &str) -> Vec<Registered> {
    let mut found: Vec<Registered> = Vec::new();
    let mut section: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.split_once(']')).map(|(name, _)| name.trim()) {
            section =
                (!name.eq_ignore_ascii_case("ODBC Drivers") && !name.eq_ignore_ascii_case("ODBC")).then_some(name);
            continue;
        }
        let (Some(name), Some((key, value))) = (section, line.split_once('=')) else { continue };
        let key = key.trim();
        let known = found.iter_mut().find(|r| r.name == name);
        // `Driver64` wins over `Driver` wherever both stand.
        match known {
            None if key.eq_ignore_ascii_case("Driver") || key.eq_ignore_ascii_case("Driver64") => {
                found.push(Registered { name: name.to_owned(), library: value.trim().to_owned() });
            }
            Some(known) if key.eq_ignore_ascii_case("Driver64") => value.trim().clone_into(&mut known.library),
            _ => {}
        }
    }
    found
}

fn locate(library: &str) -> Option<PathBuf> {
    let path = Path::new(library);
    if path.is_absolute() {
        return path.is_file().then(|| path.to_path_buf());
    }
    let loader = env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = loader.split(':').filter(|f| !f.is_empty()).chain(FOLDERS.iter().copied());
    folders.map(|folder| Path::new(folder).join(library)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_drivers() {
        let text = "[ODBC Drivers]\nA=Installed\n\n[A b]\nDescription=x\nDriver = /lib/a.so\n[C]\n; Driver=/no\nSetup=y\n\
                    [D]\nDriver64=/lib/d64.so\nDriver=d.so\n";
        let names: Vec<_> = parse(text).into_iter().map(|r| (r.name, r.library)).collect();
        assert_eq!(
            names,
            [("A b".into(), "/lib/a.so".into()), ("D".into(), "/lib/d64.so".into())] as [(String, String); 2]
        );
    }

    #[test]
    #[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
    fn names_and_paths_are_found_or_refused_with_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libx.so");
        fs::write(&library, b"").unwrap();
        let path = library.display().to_string();
        let entry = |name: &str, library: &str| Registered { name: name.into(), library: library.into() };
        let known = [entry("X Driver", &path), entry("Y", "liby-is-not-there.so")];
        for name in ["X Driver", "x driver", "{X Driver}", &path] {
            assert_eq!(find_among(name, &known, "P").unwrap().path, library);
        }
        for (name, expect) in
            [("Z", "no ODBC driver \"Z\""), ("Y", "liby-is-not-there.so"), ("/no/libz.so", "/no/libz.so")]
        {
            let refusal = find_among(name, &known, "P").unwrap_err();
            assert_eq!(refusal.code, Code::OdbcDriverNotFound);
            assert!(refusal.message.contains(expect), "{}", refusal.message);
            assert!(refusal.fix.unwrap().contains("X Driver, Y"));
        }
    }
}
