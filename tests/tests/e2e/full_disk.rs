//! Disks that fill, run out of inodes or turn read-only while a run is at work: a code, nothing half-written under a final
//! name, the target as it was, and a resume that delivers once there is room.

use std::fs;
use std::path::Path;

use dpone_engine::run::effect::EffectKind::{Load, Publish, Read};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::held::WAL;
use dpone_tests::killer::Killer;
use dpone_tests::mounts::{Disk, private_mounts};
use dpone_tests::route::{Mode, Route, Sink, Source, files};
use dpone_tests::scratch::scratch;

const JSON: [&str; 4] = ["run", "m.yaml", "--format", "json"];

/// Where a route writes, and how that is named in the manifest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Objects,
    Target,
    Journal,
}

/// How a disk fails.
#[derive(Clone, Copy)]
enum Trouble {
    /// That many bytes are left.
    Full(u64),
    Inodes,
    ReadOnly,
}

/// Breaks the disk of a place when the run has come to a step; answers with nothing if this user may not mount.
fn trouble(sink: Sink, place: Place, trouble: Trouble, at: &Step, exit: i32, code: &str) {
    if !private_mounts() {
        return;
    }
    let folder = scratch();
    let mount = folder.path().join(match (place, sink) {
        (Place::Objects, _) => "objects",
        (Place::Journal, _) => "j",
        (Place::Target, Sink::Parquet) => "dataset",
        (Place::Target, Sink::Sqlite) => "d",
        (Place::Target, Sink::Postgres) => unreachable!("the server's disk is not the product's"),
    });
    let disk = Disk::new(&mount, if place == Place::Journal { "size=1m" } else { "size=48m,nr_inodes=300" });
    let route = Route::of(folder.path(), Source::Sqlite, sink, Mode::Append, false, 1_000, 4_000);
    if place == Place::Target && sink == Sink::Sqlite {
        route.edit("path: target.db", "path: d/target.db");
        std::os::unix::fs::symlink("d/target.db", folder.path().join("target.db")).unwrap();
    }
    if place == Place::Journal {
        route.edit("journal: journal.db", "journal: j/journal.db");
    }
    Ended::run(&route.folder, &["run", "m.yaml"]).delivered();

    let killer = Killer::new(folder.path());
    let mut held = killer.hold_journal(
        &route.folder,
        &JSON,
        WAL,
        if place == Place::Journal { "j/journal.db" } else { "journal.db" },
    );
    assert!(held.reach(at, 1).is_some(), "it came to {at:?}");
    match trouble {
        Trouble::Full(left) => disk.fill(left),
        Trouble::Inodes => disk.fill_inodes(),
        Trouble::ReadOnly => disk.read_only(true),
    }
    let ended = Ended(held.finish()).with(exit, &format!("error[{code}]"));
    let told = ended.json();
    assert_eq!((told["code"].as_str(), told["published"].as_bool()), (Some(code), Some(false)), "{ended}");
    assert!(told["next"].as_str().unwrap().contains("--resume"), "{ended}");
    assert_eq!(route.delivered(), route.expected(1), "the target is as it was");
    let part = |f: &String| f.ends_with(".part") || f.ends_with(".new") || f.ends_with(".tmp");
    assert_eq!(half_written(&folder.path().join("objects"), part), Vec::<String>::new());

    match trouble {
        Trouble::Full(_) | Trouble::Inodes => disk.make_room(),
        Trouble::ReadOnly => disk.read_only(false),
    }
    Ended::run(&route.folder, &["run", "m.yaml", "--resume"]).delivered();
    assert_eq!(route.delivered(), route.expected(2));
    assert_eq!(route.leftovers(), Vec::<String>::new());
}

fn half_written(folder: &Path, part: impl Fn(&String) -> bool) -> Vec<String> {
    files(folder)
        .into_iter()
        .filter(|f| !f.starts_with("filler/"))
        .filter(|f| part(f) || fs::metadata(folder.join(f)).unwrap().len() == 0)
        .collect()
}

#[test]
fn object_store() {
    for sink in [Sink::Parquet, Sink::Sqlite] {
        let at = Step::Announced(Read);
        trouble(sink, Place::Objects, Trouble::Full(500_000), &at, 3, "spool_disk_full");
        trouble(sink, Place::Objects, Trouble::Full(0), &at, 3, "spool_disk_full");
        trouble(sink, Place::Objects, Trouble::Inodes, &at, 3, "spool_disk_full");
        trouble(sink, Place::Objects, Trouble::ReadOnly, &at, 3, "object_upload_failed");
    }
}

#[test]
fn parquet_target() {
    let at = Step::Announced(Load);
    trouble(Sink::Parquet, Place::Target, Trouble::Full(500_000), &at, 3, "target_disk_full");
    trouble(Sink::Parquet, Place::Target, Trouble::Inodes, &at, 3, "target_disk_full");
    trouble(Sink::Parquet, Place::Target, Trouble::ReadOnly, &at, 3, "target_not_reachable");
}

#[test]
fn sqlite_target() {
    let at = Step::Announced(Load);
    trouble(Sink::Sqlite, Place::Target, Trouble::Full(500_000), &at, 3, "target_disk_full");
    trouble(Sink::Sqlite, Place::Target, Trouble::Full(100_000), &Step::Announced(Publish), 3, "target_disk_full");
    trouble(Sink::Sqlite, Place::Target, Trouble::ReadOnly, &at, 3, "target_not_reachable");
}

#[test]
fn journal() {
    for sink in [Sink::Parquet, Sink::Sqlite] {
        for at in [Step::Announced(Read), Step::Announced(Load)] {
            trouble(sink, Place::Journal, Trouble::Full(0), &at, 3, "journal_write_failed");
        }
    }
}

/// Nothing of a full work folder, or of a full folder for temporary files, is needed where keys fit into memory.
#[test]
fn a_full_work_folder_is_not_in_the_way() {
    if !private_mounts() {
        return;
    }
    let folder = scratch();
    let work = Disk::new(&folder.path().join("work"), "size=1m");
    let temporary = Disk::new(&folder.path().join("tmp"), "size=1m");
    let route = Route::of(folder.path(), Source::Sqlite, Sink::Sqlite, Mode::Append, false, 1_000, 4_000);
    route.edit("    work_dir: work", "    require_writable: false\n    work_dir: work");
    work.fill(0);
    temporary.fill(0);
    let mut command = std::process::Command::new(dpone_tests::product::dpone());
    let output =
        command.args(JSON).current_dir(folder.path()).env("TMPDIR", folder.path().join("tmp")).output().unwrap();
    Ended(output).delivered();
    assert_eq!(route.delivered(), route.expected(1));
}

/// What is known before a row is read is said before a row is read.
#[test]
fn no_room_at_the_start() {
    if !private_mounts() {
        return;
    }
    let folder = scratch();
    let objects = Disk::new(&folder.path().join("objects"), "size=2m");
    let route = Route::new(folder.path(), Sink::Parquet, Mode::FullRefresh, false);
    route.edit("    work_dir: work", "    min_free_bytes: 1MiB\n    work_dir: work");
    objects.fill(100_000);
    Ended::run(&route.folder, &["run", "m.yaml"]).with(2, "error[storage_free_space_too_small]");
    objects.read_only(true);
    Ended::run(&route.folder, &["run", "m.yaml"]).with(2, "error[storage_not_writable]");
    objects.read_only(false);
    objects.make_room();
    Ended::run(&route.folder, &["run", "m.yaml"]).delivered();
    assert_eq!(route.delivered(), route.expected(1));
}

/// A journal that cannot be made for want of inodes is not said to be read-only.
#[test]
fn no_inodes_for_the_journal() {
    if !private_mounts() {
        return;
    }
    let folder = scratch();
    let disk = Disk::new(&folder.path().join("j"), "size=8m,nr_inodes=8");
    let route = Route::new(folder.path(), Sink::Parquet, Mode::FullRefresh, false);
    route.edit("journal: journal.db", "journal: j/journal.db");
    disk.fill_inodes();
    let refused = Ended::run(&route.folder, &["run", "m.yaml"]).with(2, "error[journal_write_failed]");
    assert_eq!(refused.json()["published"], false);
    let refused = refused.with(2, "no files (inodes) left");
    assert!(!refused.to_string().contains("journal_read_only"), "{refused}");
    disk.make_room();
    Ended::run(&route.folder, &["run", "m.yaml"]).delivered();
    assert_eq!(route.delivered(), route.expected(1));
}
