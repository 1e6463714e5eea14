//! The journal's tables. Events can be added behind the last one and nothing else: triggers refuse every other change,
//! `INSERT OR REPLACE` included, which deletes without asking the delete triggers.

/// The version in `PRAGMA user_version`.
pub(crate) const VERSION: i64 = 1;

/// "dpon" in `PRAGMA application_id`, so that another database is not taken for a journal.
pub(crate) const APPLICATION_ID: i64 = 0x6470_6F6E;

/// The statements that make the tables, as SQLite keeps them too.
pub(crate) fn statements() -> impl Iterator<Item = &'static str> {
    DDL.split_inclusive(STATEMENT_END).map(|s| s.trim().trim_end_matches(';')).filter(|s| !s.is_empty())
}

/// A statement ends at a line's end, and no line inside one ends so.
const STATEMENT_END: &str = ";\n";

pub(crate) const DDL: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE runs (
    run_id   TEXT PRIMARY KEY,
    manifest TEXT NOT NULL,
    target   TEXT NOT NULL,
    created  INTEGER NOT NULL,
    epoch    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_target ON runs (target);
CREATE INDEX runs_by_manifest ON runs (manifest);
CREATE TABLE events (
    run_id   TEXT NOT NULL REFERENCES runs (run_id),
    seq      INTEGER NOT NULL,
    attempt  INTEGER NOT NULL,
    epoch    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    payload  BLOB NOT NULL,
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    hash     BLOB NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER events_follow BEFORE INSERT ON events
    WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM events WHERE run_id = NEW.run_id)
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER runs_are_not_replaced BEFORE INSERT ON runs
    WHEN EXISTS (SELECT 1 FROM runs WHERE run_id = NEW.run_id OR rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER runs_are_not_removed BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER epochs_only_grow BEFORE UPDATE ON runs
    WHEN NEW.epoch <= OLD.epoch OR NEW.rowid <> OLD.rowid OR NEW.run_id <> OLD.run_id
        OR NEW.manifest <> OLD.manifest OR NEW.target <> OLD.target OR NEW.created <> OLD.created
    BEGIN SELECT RAISE(ABORT, 'only a higher epoch changes a run'); END;
CREATE TRIGGER meta_is_not_replaced BEFORE INSERT ON meta WHEN EXISTS (SELECT 1 FROM meta WHERE name = NEW.name)
    BEGIN SELECT RAISE(ABORT, 'the journal keeps its identity'); END;
CREATE TRIGGER meta_is_not_changed BEFORE UPDATE ON meta BEGIN SELECT RAISE(ABORT, 'the journal keeps its identity'); END;
CREATE TRIGGER meta_is_not_removed BEFORE DELETE ON meta BEGIN SELECT RAISE(ABORT, 'the journal keeps its identity'); END;
";
