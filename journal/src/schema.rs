//! The journal's tables. Events can be added and nothing else: triggers refuse every change.

/// The version in `PRAGMA user_version`.
pub(crate) const VERSION: i64 = 1;

/// "dpon" in `PRAGMA application_id`, so that another database is not taken for a journal.
pub(crate) const APPLICATION_ID: i64 = 0x6470_6F6E;

pub(crate) const DDL: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE runs (
    run_id   TEXT PRIMARY KEY,
    manifest TEXT NOT NULL,
    target   TEXT NOT NULL,
    created  INTEGER NOT NULL,
    epoch    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE events (
    run_id   TEXT NOT NULL REFERENCES runs (run_id),
    seq      INTEGER NOT NULL,
    attempt  INTEGER NOT NULL,
    epoch    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    payload  BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash     BLOB NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER runs_are_not_removed BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER epochs_only_grow BEFORE UPDATE ON runs
    WHEN NEW.epoch <= OLD.epoch OR NEW.run_id <> OLD.run_id OR NEW.manifest <> OLD.manifest OR NEW.target <> OLD.target
    BEGIN SELECT RAISE(ABORT, 'only a higher epoch changes a run'); END;
";
