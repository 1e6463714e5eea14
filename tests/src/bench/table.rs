//! The benchmark's table: sixteen columns like an order line's, NULLs included, the same rows for the same number.

use std::path::Path;

use rusqlite::{Connection, params};

use super::Failure;

/// Creates it.
pub(super) const DDL: &str = "CREATE TABLE lineitem (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, part_id INTEGER NOT NULL, supplier_id INTEGER NOT NULL,
    line INTEGER NOT NULL, quantity INTEGER NOT NULL, price REAL NOT NULL, discount REAL, tax REAL NOT NULL,
    return_flag TEXT NOT NULL, status TEXT NOT NULL, shipped DATE, committed DATE NOT NULL, received DATE,
    mode TEXT NOT NULL, comment TEXT NOT NULL)";

const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const WORDS: [&str; 16] = [
    "carefully",
    "final",
    "deposits",
    "sleep",
    "blithely",
    "among",
    "the",
    "ironic",
    "requests",
    "pending",
    "quick",
    "foxes",
    "haggle",
    "express",
    "accounts",
    "above",
];

/// Fills a new database file.
pub(super) fn create(path: &Path, rows: u64) -> Result<(), Failure> {
    let mut db = Connection::open(path)?;
    db.execute_batch(&format!("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {DDL};"))?;
    let tx = db.transaction()?;
    {
        let mut insert = tx.prepare("INSERT INTO lineitem VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")?;
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = move |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for id in 0..rows {
            let day = draw(2500);
            let date = |day: u64| format!("{:04}-{:02}-{:02}", 1992 + day / 360, 1 + day / 30 % 12, 1 + day % 28);
            let words = 3 + draw(4);
            let comment: Vec<&str> = (0..words).map(|_| WORDS[draw(16) as usize]).collect();
            insert.execute(params![
                id as i64 + 1,
                (id / 4) as i64,
                draw(200_000) as i64,
                draw(10_000) as i64,
                (id % 4) as i64 + 1,
                draw(50) as i64 + 1,
                draw(10_000_000) as f64 / 100.0,
                (draw(10) != 0).then(|| draw(11) as f64 / 100.0),
                draw(9) as f64 / 100.0,
                ["A", "N", "R"][draw(3) as usize],
                ["O", "F"][draw(2) as usize],
                (draw(20) != 0).then(|| date(day)),
                date(day + 30),
                (draw(20) != 0).then(|| date(day + 7)),
                MODES[draw(7) as usize],
                comment.join(" "),
            ])?;
        }
    }
    tx.commit()?;
    Ok(())
}
