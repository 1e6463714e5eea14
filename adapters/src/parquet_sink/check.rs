//! Gates and profiles of what staging holds, read back from the finished files by the Parquet reader.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Fidelity;
use dpone_engine::ports::Staged;
use dpone_engine::profile::{RowProfiler, UnitProfile};
use dpone_engine::run::effect::GateResult;
use dpone_engine::run::{Outcome, Receipt, Why};

use super::cells::Cells;
use super::failure::why;
use super::load::read_receipt;
use super::{ParquetSink, footer};
use crate::unique::{Keys, any_twice, spill_failed};

/// The most rows of a batch.
const MAX_BATCH: u64 = 8192;

/// One file to look at.
struct Task {
    unit: usize,
    path: PathBuf,
    rows: u64,
}

/// What one thread, or all of them together, found.
struct Found {
    units: Vec<UnitProfile>,
    /// NULLs by gate of `not_null`.
    nulls: Vec<u64>,
    /// Keys by gate of `unique`.
    keys: Vec<Keys>,
}

impl ParquetSink {
    /// Profiles every file and runs every gate. `stop` ends it early, with an outcome that nobody reads.
    pub(super) fn check_files(&self, staged: &Staged, grant: u64, stop: &AtomicBool) -> Outcome {
        match self.try_check(staged, grant, stop) {
            Ok(receipt) => Outcome::Done(receipt),
            Err(why) => Outcome::NotDone(why),
        }
    }

    fn try_check(&self, staged: &Staged, grant: u64, stop: &AtomicBool) -> Result<Receipt, Why> {
        let tasks = self.tasks(staged)?;
        let threads = thread::available_parallelism().map_or(1, usize::from).min(tasks.len()).max(1);
        let share = grant / threads as u64;
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<Why>> = Mutex::new(None);
        let work = || {
            let mut found = self.nothing_found(staged.units.len(), share);
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let halted = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
                if stop.load(Ordering::Relaxed) || halted() {
                    break;
                }
                if let Err(why) = self.look(task, share, &mut found) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
                }
            }
            found
        };
        let parts: Vec<Found> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut parts = vec![work()];
            // A thread that panicked has found nothing; the row counts below tell.
            parts.extend(others.into_iter().filter_map(|t| t.join().ok()));
            parts
        });
        if let Some(why) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(why);
        }
        let found = self.together(parts, staged.units.len())?;
        for (unit, profile) in staged.units.iter().zip(&found.units) {
            if profile.rows != unit.rows {
                let detail =
                    format!("range {}: {} rows were confirmed and {} are held", unit.unit, unit.rows, profile.rows);
                return Err(Why::fatal(Code::LoadCountMismatch, detail));
            }
        }
        let rows = found.units.iter().map(|u| u.rows).sum();
        let Found { units, nulls, keys } = found;
        let gates = self.gates(rows, &nulls, keys)?;
        let units = if self.quality.fidelity == Fidelity::Off { Vec::new() } else { units };
        Ok(Receipt::Checked { gates, units })
    }

    /// Every file of every unit, by the loads' receipts.
    fn tasks(&self, staged: &Staged) -> Result<Vec<Task>, Why> {
        let mut tasks = Vec::new();
        for (at, unit) in staged.units.iter().enumerate() {
            let receipt = self.receipt(&unit.load, &unit.staging)?;
            let task = |f: super::pointer::DataFile| Task { unit: at, path: self.root.join(f.path), rows: f.rows };
            tasks.extend(receipt.files.into_iter().map(task));
        }
        Ok(tasks)
    }

    /// The receipt of a confirmed load.
    pub(super) fn receipt(&self, load: &str, staging: &str) -> Result<super::load::LoadReceipt, Why> {
        let lost = |what: String| Why::fatal(Code::LoadFailed, format!("the receipt of load {load} {what}"));
        match read_receipt(&self.root, load) {
            Ok(Some(receipt)) if receipt.staging == staging && receipt.is_sound() => Ok(receipt),
            Ok(Some(_)) => Err(lost("is not of its staging folder".to_owned())),
            Ok(None) => Err(lost("is gone".to_owned())),
            Err(e) => Err(why(Code::LoadFailed, "a load's receipt", &e)),
        }
    }

    fn nothing_found(&self, units: usize, share: u64) -> Found {
        // Half of the share for batches, the other half for keys.
        let bound = share / 2 / (self.quality.unique.len() as u64).max(1);
        Found {
            units: vec![UnitProfile::default(); units],
            nulls: vec![0; self.quality.not_null.len()],
            keys: self.quality.unique.iter().map(|_| Keys::new(&self.work_dir, bound)).collect(),
        }
    }

    /// Reads one file and adds what it holds.
    fn look(&self, task: &Task, share: u64, found: &mut Found) -> Result<(), Why> {
        let builder = footer::open(&task.path, &self.schema)?;
        let level = self.quality.fidelity;
        let meta = builder.metadata();
        let rows = u64::try_from(meta.file_metadata().num_rows()).unwrap_or(0);
        if rows != task.rows {
            let detail = format!("a file of {} rows holds {rows} by its footer", task.rows);
            return Err(Why::fatal(Code::LoadCountMismatch, detail));
        }
        let gates = !self.quality.not_null.is_empty() || !self.quality.unique.is_empty();
        if level < Fidelity::Columns && !gates {
            let counted = UnitProfile { rows, ..UnitProfile::default() };
            return add(&mut found.units[task.unit], &counted);
        }
        let bytes: u64 = meta.row_groups().iter().map(|g| u64::try_from(g.total_byte_size()).unwrap_or(0)).sum();
        // Decoded, a row may take a few times what it takes encoded.
        let per_row = (bytes / rows.max(1)).max(16) * 4;
        let batch = (share / 2 / per_row).clamp(1, MAX_BATCH);
        let unreadable = |_| Why::fatal(Code::LoadFailed, "a data file's pages are damaged");
        let reader = builder.with_batch_size(batch as usize).build().map_err(unreadable)?;
        let mut profiler = RowProfiler::new(&self.schema, level);
        for batch in reader {
            let batch = batch.map_err(|_| Why::fatal(Code::LoadFailed, "a data file's pages are damaged"))?;
            let columns: Vec<Cells<'_>> = batch
                .columns()
                .iter()
                .zip(&self.schema.columns)
                .map(|(array, column)| Cells::new(array, column))
                .collect::<Result<_, _>>()?;
            for row in 0..batch.num_rows() {
                for (at, cells) in columns.iter().enumerate() {
                    if !cells.show(row, &mut profiler) {
                        let column = &self.schema.columns[at];
                        let detail = format!("column {:?} holds something that is not {}", column.name, column.ty);
                        return Err(Why::fatal(Code::FidelityMismatch, detail));
                    }
                }
                profiler.end_row();
            }
            for (name, nulls) in self.quality.not_null.iter().zip(&mut found.nulls) {
                *nulls += self.column(&columns, name)?.null_count();
            }
            for (name, keys) in self.quality.unique.iter().zip(&mut found.keys) {
                let cells = self.column(&columns, name)?;
                let mut add_all = || (0..batch.num_rows()).try_for_each(|row| keys.add(|to| cells.key(row, to)));
                add_all().map_err(|e| spill_failed(&e))?;
            }
        }
        let profile = profiler.finish().map_err(|r| Why::fatal(r.code, r.message))?;
        add(&mut found.units[task.unit], &profile)
    }

    fn column<'a, 'b>(&self, columns: &'b [Cells<'a>], name: &str) -> Result<&'b Cells<'a>, Why> {
        let missing = || Why::fatal(Code::InternalError, format!("gate on {name:?}, which is not a column"));
        self.schema.column(name).and_then(|(at, _)| columns.get(at)).ok_or_else(missing)
    }

    fn together(&self, parts: Vec<Found>, units: usize) -> Result<Found, Why> {
        let mut all = Found { keys: Vec::new(), ..self.nothing_found(units, 0) };
        // A unit without a file has the profile of no rows, with every column in it.
        let empty = RowProfiler::new(&self.schema, self.quality.fidelity).finish();
        all.units = vec![empty.map_err(|r| Why::fatal(r.code, r.message))?; units];
        for part in parts {
            for (to, from) in all.units.iter_mut().zip(&part.units) {
                add(to, from)?;
            }
            all.nulls.iter_mut().zip(&part.nulls).for_each(|(to, from)| *to += from);
            all.keys.extend(part.keys);
        }
        Ok(all)
    }

    /// `keys` holds those of every thread, gate by gate, one thread after another.
    fn gates(&self, rows: u64, nulls: &[u64], keys: Vec<Keys>) -> Result<Vec<GateResult>, Why> {
        let least = self.quality.min_rows;
        let few = format!("{rows} rows, and at least {least} are demanded");
        let few = (rows < least).then(|| Why::fatal(Code::QualityMinRows, few));
        let mut gates = vec![GateResult { gate: "min_rows".to_owned(), failed: few }];
        for (name, &nulls) in self.quality.not_null.iter().zip(nulls) {
            let detail = format!("column {name:?} holds {nulls} NULLs");
            let failed = (nulls > 0).then(|| Why::fatal(Code::QualityNotNull, detail));
            gates.push(GateResult { gate: format!("not_null({name})"), failed });
        }
        let count = self.quality.unique.len();
        let mut by_gate: Vec<Vec<Keys>> = (0..count).map(|_| Vec::new()).collect();
        for (at, keys) in keys.into_iter().enumerate() {
            by_gate[at % count].push(keys);
        }
        for (name, keys) in self.quality.unique.iter().zip(by_gate) {
            let twice = any_twice(keys).map_err(|e| spill_failed(&e))?;
            let detail = format!("column {name:?} holds a value more than once");
            let failed = twice.then(|| Why::fatal(Code::QualityUnique, detail));
            gates.push(GateResult { gate: format!("unique({name})"), failed });
        }
        Ok(gates)
    }
}

fn add(to: &mut UnitProfile, from: &UnitProfile) -> Result<(), Why> {
    to.merge(from).map_err(|r| Why::fatal(r.code, r.message))
}
