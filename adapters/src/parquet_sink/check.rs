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

use super::failure::why;
use super::load::read_receipt;
use super::{ParquetSink, cells, footer};
use crate::columnar::decode::Cell;
use crate::unique::{Keys, any_twice, spill_failed};

/// One file to look at.
struct Task {
    unit: usize,
    path: PathBuf,
    rows: u64,
    /// The most memory that reading it takes.
    peak: u64,
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
        let tasks = self.tasks(staged, stop)?;
        let (threads, share) = self.threads(&tasks, grant)?;
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<Why>> = Mutex::new(None);
        let work = || {
            let mut found = self.nothing_found(staged.units.len(), share);
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let halted = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
                if stop.load(Ordering::Relaxed) || halted() {
                    break;
                }
                if let Err(why) = self.look(task, &mut found) {
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
    fn tasks(&self, staged: &Staged, stop: &AtomicBool) -> Result<Vec<Task>, Why> {
        let mut tasks = Vec::new();
        for (at, unit) in staged.units.iter().enumerate() {
            let receipt = self.receipt(&unit.load, &unit.staging)?;
            for file in receipt.files {
                let path = self.root.join(file.path);
                let peak = match self.reads_values() && !stop.load(Ordering::Relaxed) {
                    true => footer::open(&path, &self.schema)?.into_rows().map_err(|e| footer::damaged(&e))?.peak(),
                    false => 0,
                };
                tasks.push(Task { unit: at, path, rows: file.rows, peak });
            }
        }
        Ok(tasks)
    }

    /// Whether more than footers is looked at.
    fn reads_values(&self) -> bool {
        let gates = !self.quality.not_null.is_empty() || !self.quality.unique.is_empty();
        self.quality.fidelity >= Fidelity::Columns || gates
    }

    /// As many threads as have work, a processor and room for the largest file each; and what each may take.
    fn threads(&self, tasks: &[Task], grant: u64) -> Result<(usize, u64), Why> {
        let largest = tasks.iter().map(|task| task.peak).max().unwrap_or(0);
        // Half of a share is for pages, the other half for keys.
        let needed = if self.quality.unique.is_empty() { largest } else { largest * 2 };
        if needed > grant {
            let detail = format!("checking a file takes {needed} bytes and {grant} are granted");
            return Err(Why::fatal(Code::BudgetTooSmall, detail));
        }
        let processors = thread::available_parallelism().map_or(1, usize::from).min(tasks.len()).max(1);
        let threads = usize::try_from(grant / needed.max(1)).map_or(processors, |room| room.min(processors)).max(1);
        Ok((threads, grant / threads as u64))
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
        // The other half is for pages.
        let bound = share / 2 / (self.quality.unique.len() as u64).max(1);
        Found {
            units: vec![UnitProfile::default(); units],
            nulls: vec![0; self.quality.not_null.len()],
            keys: self.quality.unique.iter().map(|_| Keys::new(&self.work_dir, bound)).collect(),
        }
    }

    /// Reads one file and adds what it holds.
    fn look(&self, task: &Task, found: &mut Found) -> Result<(), Why> {
        let file = footer::open(&task.path, &self.schema)?;
        let rows = file.rows();
        if rows != task.rows {
            let detail = format!("a file of {} rows holds {rows} by its footer", task.rows);
            return Err(Why::fatal(Code::LoadCountMismatch, detail));
        }
        if !self.reads_values() {
            let counted = UnitProfile { rows, ..UnitProfile::default() };
            return add(&mut found.units[task.unit], &counted);
        }
        let mut rows = file.into_rows().map_err(|e| footer::damaged(&e))?;
        let mut profiler = RowProfiler::new(&self.schema, self.quality.fidelity);
        while let Some(window) = rows.next().map_err(|e| footer::damaged(&e))? {
            for row in 0..window.rows() {
                for (at, column) in self.schema.columns.iter().enumerate() {
                    let Some(cell) = window.cell(at, row) else {
                        let detail = format!("column {:?} holds something that is not {}", column.name, column.ty);
                        return Err(Why::fatal(Code::FidelityMismatch, detail));
                    };
                    cells::show(cell, &mut profiler);
                }
                profiler.end_row();
            }
            for (name, nulls) in self.quality.not_null.iter().zip(&mut found.nulls) {
                *nulls += window.nulls(self.column(name)?);
            }
            for (name, keys) in self.quality.unique.iter().zip(&mut found.keys) {
                let at = self.column(name)?;
                let mut add_all = || {
                    let cell = |row| window.cell(at, row).unwrap_or(Cell::Null);
                    (0..window.rows()).try_for_each(|row| keys.add(|to| cells::key(cell(row), to)))
                };
                add_all().map_err(|e| spill_failed(&e))?;
            }
        }
        let profile = profiler.finish().map_err(|r| Why::fatal(r.code, r.message))?;
        add(&mut found.units[task.unit], &profile)
    }

    fn column(&self, name: &str) -> Result<usize, Why> {
        let missing = || Why::fatal(Code::InternalError, format!("gate on {name:?}, which is not a column"));
        self.schema.column(name).map(|(at, _)| at).ok_or_else(missing)
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
