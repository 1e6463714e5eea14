//! The simulated source: versions of rows; readers see the version that was open when their state was opened.

use std::cell::RefCell;
use std::rc::Rc;

use dpone_engine::codes::Code;
use dpone_engine::ports::{Pull, SealedChunk, Source, UnitReader};
use dpone_engine::profile::UnitProfile;
use dpone_engine::run::effect::{ChunkFacts, EffectKind};
use dpone_engine::run::{Outcome, Receipt, Seen, UnitId, Why};

use super::gate::Pid;
use super::{Body, Meter, Row, Stored, World};
use crate::fault::{Kind, Shape, Site};
use crate::rng::mix;

/// Bytes that one row takes.
pub const ROW_BYTES: u64 = 10;

/// One process's connection to the source.
pub struct SimSource {
    world: World,
    pid: Pid,
    shape: Shape,
    meter: Meter,
    /// The open state: its version, and its rows.
    open: RefCell<Option<(u64, Rc<Vec<Row>>)>>,
}

/// A reader of one unit.
pub struct SimReader {
    world: World,
    pid: Pid,
    rows: Vec<Row>,
    at: usize,
    chunk_rows: u64,
    asked: bool,
    meter: Meter,
}

impl SimSource {
    /// A connection of that process.
    pub fn new(world: &World, pid: Pid, shape: Shape, meter: &Meter) -> Self {
        Self { world: world.clone(), pid, shape, meter: meter.clone(), open: RefCell::new(None) }
    }

    fn snapshot(&self, version: u64) -> Option<Rc<Vec<Row>>> {
        self.world.state.borrow().history.get(&version).map(|rows| Rc::new(rows.clone()))
    }

    async fn fault(&self, site: Site) -> Option<Why> {
        match self.world.pass(self.pid, site).await {
            Some(Kind::CrashAfter) => self.world.die(self.pid).await,
            Some(Kind::Refused) => Some(Why::transient(Code::SourceReadFailed, "refused for now")),
            Some(Kind::Denied) => Some(Why::fatal(Code::SourceReadFailed, "refused for good")),
            Some(Kind::StateGone) => Some(gone()),
            Some(Kind::SourceChanges) => {
                self.world.change_source(mix(u64::from(self.world.gates.count(site))));
                None
            }
            _ => None,
        }
    }
}

fn gone() -> Why {
    Why::fatal(Code::ConsistencyAuthorityLost, "the state is gone")
}

/// What a unit's rows look like to a gate that counts and sums.
pub fn profile(rows: &[Row]) -> UnitProfile {
    let checksum =
        rows.iter().fold(0_u128, |sum, r| sum.wrapping_add(u128::from(mix(r.id)) << 32 | u128::from(r.unit)));
    UnitProfile { rows: rows.len() as u64, checksum, columns: Vec::new() }
}

/// What an object of those rows is known by.
pub fn facts(rows: &[Row]) -> ChunkFacts {
    let mut sha256 = [0_u8; 32];
    for (i, row) in rows.iter().enumerate() {
        let hash = mix(row.id.wrapping_add(i as u64)).to_le_bytes();
        sha256.iter_mut().zip(hash.iter().cycle()).for_each(|(s, h)| *s = s.wrapping_mul(31) ^ h);
    }
    ChunkFacts { rows: rows.len() as u64, bytes: rows.len() as u64 * ROW_BYTES, sha256 }
}

impl Source for SimSource {
    type Body = Body;
    type Reader = SimReader;

    async fn open(&self, _sessions: u32) -> Outcome {
        if let Some(why) = self.fault(Site::Open).await {
            return Outcome::NotDone(why);
        }
        let version = self.world.state.borrow().version;
        *self.open.borrow_mut() = self.snapshot(version).map(|rows| (version, rows));
        Outcome::Done(Receipt::Opened { authority: format!("version {version}"), persistent: self.shape.persistent })
    }

    async fn reopen(&self, authority: &str, persistent: bool, _sessions: u32) -> Seen {
        let fault = self.world.pass(self.pid, Site::Probe).await;
        let version = authority.strip_prefix("version ").and_then(|v| v.parse().ok());
        let state = version.and_then(|v: u64| Some((v, self.snapshot(v)?)));
        let is_open = self.open.borrow().as_ref().is_some_and(|(open, _)| Some(*open) == version);
        let seen = match (fault, state) {
            (Some(Kind::CannotTell), _) => Seen::CannotTell,
            (Some(Kind::StateGone), _) => Seen::Nothing,
            _ if is_open => Seen::Ours,
            (_, Some(state)) if persistent => {
                *self.open.borrow_mut() = Some(state);
                Seen::Ours
            }
            _ => Seen::Nothing,
        };
        self.world.gates.saw(EffectKind::Open, seen)
    }

    async fn count(&self) -> Outcome {
        if let Some(why) = self.fault(Site::Count).await {
            return Outcome::NotDone(why);
        }
        match self.open.borrow().as_ref() {
            Some((_, rows)) => Outcome::Done(Receipt::Counted { rows: rows.len() as u64 }),
            None => Outcome::NotDone(Why::fatal(Code::SourceReadFailed, "no state is open")),
        }
    }

    async fn reader(&self, unit: UnitId) -> Result<SimReader, Why> {
        self.world.gates.travel().await;
        let open = self.open.borrow();
        let (_, rows) = open.as_ref().ok_or_else(|| Why::fatal(Code::SourceReadFailed, "no state is open"))?;
        let rows = rows.iter().copied().filter(|r| r.unit == unit).collect();
        let (world, pid, meter) = (self.world.clone(), self.pid, self.meter.clone());
        Ok(SimReader { world, pid, rows, at: 0, chunk_rows: u64::from(self.shape.chunk_rows), asked: false, meter })
    }

    async fn close(&self) {
        *self.open.borrow_mut() = None;
    }
}

impl UnitReader for SimReader {
    type Body = Body;

    async fn next(&mut self, grant: u64, max_rows: u64) -> Result<Pull<Body>, Why> {
        match self.world.pass(self.pid, Site::Read).await {
            Some(Kind::CrashAfter) => self.world.die(self.pid).await,
            Some(Kind::Refused) => return Err(Why::transient(Code::SourceReadFailed, "refused for now")),
            Some(Kind::StateGone) => return Err(gone()),
            Some(Kind::SourceChanges) => self.world.change_source(mix(self.at as u64)),
            Some(Kind::WideRow) if !self.asked && self.at < self.rows.len() => {
                self.asked = true;
                return Ok(Pull::NeedsGrant { bytes: grant + ROW_BYTES });
            }
            Some(Kind::GiantRow) if self.at < self.rows.len() => return Ok(Pull::NeedsGrant { bytes: u64::MAX }),
            Some(Kind::RowMissed) if self.at < self.rows.len() => {
                self.rows.remove(self.at);
            }
            _ => {}
        }
        if self.at == self.rows.len() {
            let source_bytes = self.rows.len() as u64 * ROW_BYTES;
            return Ok(Pull::End { source_bytes, profile: profile(&self.rows) });
        }
        let fits = (grant / ROW_BYTES).min(max_rows).min(self.chunk_rows).max(1) as usize;
        let rows = self.rows[self.at..(self.at + fits).min(self.rows.len())].to_vec();
        self.at += rows.len();
        let facts = facts(&rows);
        let size = facts.bytes;
        Ok(Pull::Chunk(SealedChunk { facts, body: Body::new(Stored { rows, size }, &self.meter) }))
    }

    async fn close(self) {}
}
