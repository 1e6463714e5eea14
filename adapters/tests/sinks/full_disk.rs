//! A disk without room, unprivileged and for real: a child process whose files the kernel keeps from growing.

use std::path::Path;
use std::process::Command;

use dpone_adapters::object_store::LocalObjects;
use dpone_adapters::parquet_sink::{ParquetSink, ParquetTarget};
use dpone_adapters::sqlite_sink::{SqliteSink, SqliteTarget};
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Quality, SinkType, StrategyMode};
use dpone_engine::ports::{ObjectStore as _, Sink as _, Staged, StagedUnit};
use dpone_engine::run::{Outcome, Seen};

use crate::given::{self, Run};

/// Set in the child: the folder to work in.
const CHILD: &str = "DPONE_TEST_FULL_DISK_DIR";

/// Runs this very test again with files limited to `kib` KiB.
fn limited(test: &str, dir: &Path, kib: u32) {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" --exact {test} --nocapture");
    let child =
        Command::new("bash").args(["-c", &script]).arg(std::env::current_exe().unwrap()).env(CHILD, dir).output();
    let child = child.unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn an_object_that_does_not_fit_is_not_done_and_leaves_nothing() {
    let Ok(dir) = std::env::var(CHILD) else {
        let dir = tempfile::tempdir().unwrap();
        return limited("full_disk::an_object_that_does_not_fit_is_not_done_and_leaves_nothing", dir.path(), 16);
    };
    let store = LocalObjects::open(Path::new(&dir)).unwrap();
    let (facts, body) = given::chunk(0, 20_000);
    let key = "m/run/a1-0/r0.t1/c0.parquet";
    let Outcome::NotDone(why) = store.put(key, &facts, &body).await else { panic!("it was put") };
    assert_eq!((why.code, why.transient), (Code::SpoolDiskFull, false));
    let need = format!("needs {} bytes", facts.bytes);
    assert!(
        why.detail.contains(key) && why.detail.contains(&need) && why.detail.contains("are free"),
        "{}",
        why.detail
    );
    assert_eq!(store.head(key, &facts).await, Seen::Nothing);
    assert_eq!(
        std::fs::read_dir(Path::new(&dir).join("m/run/a1-0/r0.t1")).unwrap().count(),
        0,
        "a partial file is left"
    );
    // What fits still goes through.
    let (facts, body) = given::chunk(0, 1);
    assert!(matches!(store.put(key, &facts, &body).await, Outcome::Done(_)));
}

#[tokio::test]
async fn a_data_file_that_does_not_fit_is_not_loaded() {
    let Ok(dir) = std::env::var(CHILD) else {
        let dir = tempfile::tempdir().unwrap();
        return limited("full_disk::a_data_file_that_does_not_fit_is_not_loaded", dir.path(), 16);
    };
    let root = Path::new(&dir).join("d");
    let target = ParquetTarget::of(&given::sink(SinkType::Parquet, &root, StrategyMode::FullRefresh)).unwrap();
    let sink = ParquetSink::new(target, given::schema(), Quality::default(), &root, "fp");
    let staged = Run::new("r1").staged(&sink, vec![given::chunk(0, 1), given::chunk(1, 20_000)]).await;
    let Outcome::NotDone(why) = staged else { panic!("{staged:?}") };
    assert_eq!((why.code, why.transient), (Code::TargetDiskFull, false));
    assert!(why.detail.contains("are free"), "{}", why.detail);
    let staging = root.join("stg_r1_a1_00");
    assert_eq!(std::fs::read_dir(staging).unwrap().count(), 0, "nothing has a final name");
}

#[tokio::test]
async fn keys_that_the_work_folder_has_no_room_for_are_not_taken_for_unique() {
    let here = std::env::var(CHILD).map(std::path::PathBuf::from);
    let dir = tempfile::tempdir().unwrap();
    let root = here.clone().unwrap_or_else(|_| dir.path().to_path_buf());
    let target =
        SqliteTarget::of(&given::sink(SinkType::Sqlite, &root.join("t.db"), StrategyMode::FullRefresh)).unwrap();
    let quality = Quality { unique: vec!["note".to_owned()], ..Quality::default() };
    let sink = SqliteSink::new(target, given::schema(), quality, root.join("work"));
    let run = Run::new("r1");
    if here.is_err() {
        let staged = run.staged(&sink, vec![given::chunk(0, 20_000)]).await;
        assert!(matches!(staged, Outcome::Done(_)), "{staged:?}");
        let test = "full_disk::keys_that_the_work_folder_has_no_room_for_are_not_taken_for_unique";
        return limited(test, &root, 16);
    }
    let (staging, load) = (run.staging.clone(), "ld_r1_a1_r0_00".to_owned());
    let unit = StagedUnit { unit: 0, staging: staging.clone(), load, rows: 20_000, objects: 1 };
    let staged = Staged { claimant: run.claimant, units: vec![unit], staging: vec![staging] };
    let Outcome::NotDone(why) = sink.check(&staged, 1 << 16).await else { panic!("it was checked") };
    assert_eq!((why.code, why.transient), (Code::SpoolDiskFull, false));
    assert_eq!(std::fs::read_dir(root.join("work")).unwrap().count(), 0, "a run of keys is left");
}
