//! Named configurations: how large a run is explored, and how many faults of each kind it meets.

use dpone_engine::manifest::Fidelity;
use dpone_engine::run::PlanFacts;
use dpone_engine::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate, Topology};

/// How many faults of each kind a run may still meet. `total` bounds all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// Faults of all kinds.
    pub total: u8,
    /// The runner dies, or a rival takes the run over, with requests in flight.
    pub crashes: u8,
    /// A reply is lost. The request may have been executed, may land late, or never.
    pub lost: u8,
    /// A probe cannot tell.
    pub blind: u8,
    /// A request is refused for a reason that may pass.
    pub refused: u8,
    /// A request is refused for good, or a gate fails.
    pub fatal: u8,
    /// An object vanishes from the store.
    pub vanished: u8,
    /// An operator resumes a run that has ended.
    pub resumes: u8,
}

impl Faults {
    /// The part of the budget that can still be spent: what `total` does not allow is the same as nothing.
    pub fn effective(self) -> Faults {
        let cap = |n: u8| n.min(self.total);
        Faults {
            total: self.total,
            crashes: cap(self.crashes),
            lost: cap(self.lost),
            blind: cap(self.blind),
            refused: cap(self.refused),
            fatal: cap(self.fatal),
            vanished: cap(self.vanished),
            resumes: self.resumes,
        }
    }
}

/// One configuration of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Its name, as `check` takes it.
    pub name: &'static str,
    /// Planned ranges.
    pub units: u32,
    /// Objects per range.
    pub chunks: u32,
    /// Where units are loaded.
    pub topology: Topology,
    /// How the sink publishes.
    pub publication: PublicationKind,
    /// What a doubtful load leaves behind.
    pub isolation: LoadIsolation,
    /// Whether the source state survives its process.
    pub persistent: bool,
    /// Attempts that a runner starts by itself.
    pub attempts: u32,
    /// Tries of one effect.
    pub tries: u32,
    /// Probes of one effect in doubt.
    pub probes: u32,
    /// Whether a former runner lives on after a take-over.
    pub rivals: bool,
    /// Whether ranges are interchangeable.
    pub symmetric: bool,
    /// The faults.
    pub faults: Faults,
}

impl Config {
    /// Two ranges of one object, two attempts, one runner, every kind of fault.
    pub const A: Config = Config {
        name: "A",
        units: 2,
        chunks: 1,
        topology: Topology::SharedPerRun,
        publication: PublicationKind::LedgerTransaction,
        isolation: LoadIsolation::Fenced,
        persistent: false,
        attempts: 2,
        tries: 2,
        probes: 2,
        rivals: false,
        symmetric: false,
        faults: Faults { total: 2, crashes: 2, lost: 2, blind: 2, refused: 2, fatal: 1, vanished: 1, resumes: 1 },
    };

    /// One range of two objects and two rival runners: the second takes over while the first's requests are in flight.
    pub const B: Config = Config {
        name: "B",
        units: 1,
        chunks: 2,
        rivals: true,
        faults: Faults { total: 3, crashes: 2, lost: 2, blind: 2, refused: 1, fatal: 1, vanished: 1, resumes: 1 },
        ..Config::A
    };

    /// Three interchangeable ranges of one object, one crash.
    pub const C: Config = Config {
        name: "C",
        units: 3,
        chunks: 1,
        symmetric: true,
        faults: Faults { total: 2, crashes: 1, lost: 1, blind: 1, refused: 1, fatal: 1, vanished: 1, resumes: 1 },
        ..Config::A
    };

    /// As A with one more fault of each kind; for the nightly profile.
    pub const D: Config = Config {
        name: "D",
        symmetric: true,
        faults: Faults { total: 3, crashes: 3, lost: 3, blind: 2, refused: 2, fatal: 1, vanished: 1, resumes: 1 },
        ..Config::A
    };

    /// The same configuration for every topology, publication strategy and load isolation. The source state survives its
    /// process in half of them, evenly over the other choices.
    pub fn variants(&self) -> Vec<Config> {
        let mut all = Vec::new();
        for topology in [Topology::SharedPerRun, Topology::PerPartition] {
            for publication in [PublicationKind::LedgerTransaction, PublicationKind::PointerManifest] {
                for isolation in [LoadIsolation::Fenced, LoadIsolation::PoisonsStaging] {
                    let persistent =
                        (topology == Topology::SharedPerRun) == (isolation == LoadIsolation::PoisonsStaging);
                    all.push(Config { topology, publication, isolation, persistent, ..self.clone() });
                }
            }
        }
        all
    }

    /// What tells the variant from the others.
    pub fn variant(&self) -> String {
        format!("{:?} {:?} {:?}", self.topology, self.publication, self.isolation)
    }

    /// The plan of the run.
    pub fn plan(&self) -> PlanFacts {
        PlanFacts {
            manifest: "m".to_owned(),
            fingerprint: String::new(),
            units: self.units,
            topology: self.topology,
            load_isolation: self.isolation,
            publication: self.publication,
            staging_fate: match self.publication {
                PublicationKind::LedgerTransaction => StagingFate::Removed,
                PublicationKind::PointerManifest => StagingFate::Delivered,
            },
            coverage_required: !self.persistent,
            // The weakest sink: one that cannot profile staging. The machine must be right without that gate.
            fidelity: Fidelity::Off,
            base: Base { identity: String::new(), owner: None },
            superseded: None,
            target: "t".to_owned(),
            objects_after_success: Retention::Remove,
            objects_after_failure: if self.persistent { Retention::Keep } else { Retention::Remove },
            document: String::new(),
        }
    }
}
