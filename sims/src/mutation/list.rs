//! The defects. Where the machine guards a rule twice, an edit takes each guard out.

use super::{Edit, Mutation};

const APPLY: &str = "engine/src/run/apply.rs";
const PERMIT: &str = "engine/src/run/permit.rs";
const DECIDE: &str = "engine/src/run/decide.rs";
const RECONCILE: &str = "engine/src/run/reconcile.rs";
const GATES: &str = "engine/src/run/gates.rs";
const NAMES: &str = "engine/src/run/names.rs";
const HANDOVER: &str = "engine/src/run/handover.rs";
const DRIVER: &str = "engine/src/driver/mod.rs";
const PUMP: &str = "engine/src/driver/pump.rs";
const EFFECTS: &str = "engine/src/driver/effects.rs";
const BUDGET: &str = "engine/src/budget.rs";
const RULE: &str = "journal/src/rule.rs";
const LOG: &str = "journal/src/log.rs";
const OPEN: &str = "journal/src/sqlite/open.rs";
const CREATION: &str = "journal/src/sqlite/creation.rs";
const WRITE: &str = "journal/src/sqlite/write.rs";

macro_rules! mutation {
    ($name:literal, $what:literal, $(($file:expr, $find:expr, $replace:expr)),+ $(,)?) => {
        Mutation { name: $name, what: $what, edits: &[$(Edit { file: $file, find: $find, replace: $replace }),+] }
    };
}

/// Every defect.
pub const ALL: &[Mutation] = &[
    mutation!(
        "wildcard-row",
        "a publication whose probe cannot tell counts as absent",
        (RECONCILE, "(Publish, Seen::CannotTell)  => Stay,", "(Publish, Seen::CannotTell)  => Retry,")
    ),
    mutation!(
        "poison-row",
        "a load that a probe does not find is sent again to the same staging place",
        (RECONCILE, "LoadIsolation::PoisonsStaging => Poison,", "LoadIsolation::PoisonsStaging => Retry,")
    ),
    mutation!(
        "drop-row",
        "a name that a probe still sees counts as removed",
        (RECONCILE, "(Drop, Seen::Ours)         => Retry,", "(Drop, Seen::Ours)         => Confirm,")
    ),
    mutation!(
        "dropped-intent",
        "an object is written without having been announced",
        (
            DRIVER,
            "self.ports.log().append(at, &events)",
            "let events: Vec<Event> = events.into_iter().filter(|e| !matches!(e, Event::Intended { effect: Effect::Put { .. }, .. })).collect();\n        self.ports.log().append(at, &events)"
        )
    ),
    mutation!(
        "append-unheeded",
        "the runner goes on when an append failed",
        (DRIVER, ".map_err(|e| Broken::Append { code: e.code, detail: e.detail })?;", ".unwrap_or_default();")
    ),
    mutation!(
        "publish-before-load",
        "the run goes on once one unit is loaded",
        (
            DECIDE,
            "if self.run.units.iter().all(|u| u.loaded.is_some()) {",
            "if self.run.units.iter().any(|u| u.loaded.is_some()) {"
        ),
        (PERMIT, "ensure(self.units.iter().all(|u| u.loaded.is_some()), \"every unit is loaded\")?;", ""),
        (PERMIT, "ensure(self.rows_loaded() == self.rows_read(), \"staging holds the rows that were read\")?;", ""),
        (
            DECIDE,
            "if self.run.rows_loaded() == self.run.rows_read() {",
            "if self.run.rows_loaded() <= self.run.rows_read() {"
        ),
    ),
    mutation!(
        "republish-without-fence",
        "a publication in doubt is probed, and sent again, without having been fenced",
        (DECIDE, "if self.run.fenced == Some(key) {", "if self.run.attempt > 0 {"),
        (APPLY, "ensure(self.fenced == Some(key), \"a publication in doubt is absent only once it is fenced\")?;", ""),
    ),
    mutation!(
        "fence-without-claim",
        "a runner that took over fences before it holds the claim",
        (DECIDE, "if self.settle_doubts_but(Some(key)) || self.claim() {", "if self.settle_doubts_but(Some(key)) {")
    ),
    mutation!(
        "cleanup-while-unknown",
        "owned names are removed while it is not known whether the publication happened",
        (DECIDE, "if self.run.fenced == Some(key) {", "self.clean();\n        if self.run.fenced == Some(key) {"),
        (PERMIT, "self.open_publication().is_none() && self.state != State::OutcomeUnknown,", "self.epoch > 0,"),
        (
            PERMIT,
            "matches!(self.state, State::EvidenceComplete | State::FailedPrepublication),\n                    \"names are removed in cleanup\",",
            "self.epoch > 0,\n                    \"names are removed in cleanup\","
        ),
    ),
    mutation!(
        "cleanup-by-listing",
        "cleanup removes whatever bears a name of the run, delivered or not",
        (
            DECIDE,
            "self.run.owned.iter().filter(|(_, o)| o.fate == Fate::Live).collect();",
            "self.run.owned.iter().filter(|(_, o)| o.fate != Fate::Removed).collect();"
        ),
        (
            PERMIT,
            "ensure(owned.kind == *kind && owned.fate == Fate::Live,",
            "ensure(owned.kind == *kind && owned.fate != Fate::Removed,"
        ),
    ),
    mutation!(
        "delivered-staging-stays-owned",
        "staging that became the target's content is still the run's to remove",
        (HANDOVER, "if part && delivered {", "if part && !delivered {")
    ),
    mutation!(
        "keys-begin-again",
        "a runner that takes over numbers its effects from the start",
        (
            APPLY,
            "        self.epoch = epoch;\n        self.claim = None;",
            "        self.epoch = epoch;\n        self.next_key = Key(1);\n        self.claim = None;"
        )
    ),
    mutation!(
        "publications-share-a-name",
        "a publication's name is computed again instead of drawn",
        (
            NAMES,
            "publication: format!(\"pub_{}_a{attempt}_{nonce:016x}\", tag(&run.id))",
            "publication: format!(\"pub_{}_a{attempt}_{:016x}\", tag(&run.id), nonce.min(0))"
        )
    ),
    mutation!(
        "objects-share-a-name",
        "two tries of one chunk write to one key",
        (
            NAMES,
            "\"{}/{}/a{}-{nonce:016x}/r{unit}.t{try_no}/c{chunk}.parquet\", run.plan.manifest, run.id, run.attempt",
            "\"{}/{}/a{}-{:016x}/r{unit}.t{try_no}/c{chunk}.parquet\", run.plan.manifest, run.id, run.attempt, nonce.min(0)"
        ),
        (APPLY, "ensure(!self.owned.contains_key(name), \"an owned name belongs to one try\")?;", "let _ = name;"),
    ),
    mutation!(
        "documents-share-a-name",
        "every try of an evidence document writes to one name",
        (EFFECTS, "document_name(document), key.0);", "document_name(document), 0);")
    ),
    mutation!(
        "lease-not-checked",
        "a runner whose run was taken over may still append",
        (RULE, "if epoch != head.epoch {", "if epoch > head.epoch {")
    ),
    mutation!(
        "read-confirmed-early",
        "a read is confirmed while its objects are being written",
        (PUMP, "!read.busy && read.reader.is_none() && read.held.is_empty(),", "!read.busy && read.reader.is_none(),"),
        (
            APPLY,
            "ensure(!self.puts_of(key), \"a read ends after its objects are settled\")?;\n                let slot",
            "let slot"
        ),
        (APPLY, "ensure(contiguous, \"a unit's chunks are contiguous\")?;", "let _ = contiguous;"),
        (APPLY, "ensure(rows == profile.rows, \"a unit's objects hold the rows that were read\")?;", "let _ = rows;"),
    ),
    mutation!(
        "coverage-ignored",
        "ranges that miss a row are taken for the whole source",
        (
            DECIDE,
            "Some(count) if self.run.plan.coverage_required && count != read => {",
            "Some(count) if count < read => {"
        ),
        (
            PERMIT,
            "let covered = !self.plan.coverage_required || self.counted == Some(self.rows_read());",
            "let covered = true;"
        ),
    ),
    mutation!(
        "load-count-ignored",
        "a load that counts fewer rows than were sent goes on",
        (DECIDE, "if self.run.rows_loaded() == self.run.rows_read() {", "if self.run.attempt > 0 {"),
        (PERMIT, "ensure(self.rows_loaded() == self.rows_read(), \"staging holds the rows that were read\")?;", ""),
    ),
    mutation!(
        "gates-ignored",
        "a failed gate does not stop the publication",
        (GATES, "let gate = checked.gates.iter().find_map(|g| g.failed.clone());", "let gate: Option<Why> = None;")
    ),
    mutation!(
        "fidelity-ignored",
        "staging is not compared with what was read",
        (GATES, "gate.or_else(|| infidelity(run, &checked.units))", "gate.or_else(|| infidelity(run, &[]))")
    ),
    mutation!(
        "snapshots-mixed",
        "units of a lost source state are kept beside those of a new one",
        (APPLY, "self.authority_lost |= progress;", "let _ = progress;"),
        (
            DECIDE,
            "        if self.run.authority.is_some() {\n            self.record(Event::Moved { to: State::Reading });",
            "        if self.run.authority.is_some() {\n            self.record(Event::Moved { to: State::Reading });\n        } else if self.run.state == State::Reading {\n            self.once(Draft::Open, EffectKind::Open);"
        ),
        (
            APPLY,
            "if suspect || self.object_lost || self.authority_lost || !self.authority.as_ref().is_some_and(|a| a.persistent)",
            "if suspect || self.object_lost"
        ),
    ),
    mutation!(
        "claim-not-retaken",
        "a runner that takes over works under the claim of the one before",
        (DECIDE, "if self.run.claim == Some(self.run.epoch) {", "if self.run.claim_standing {"),
        (APPLY, "ensure(self.claim == Some(self.epoch), \"nothing is done without the target's claim\")?;", ""),
    ),
    mutation!(
        "doubt-not-awaited",
        "what is in doubt is started again before it is settled",
        (
            DECIDE,
            "if self.run.open_in(scope).is_some() {",
            "if self.run.open_in(scope).is_some_and(|(_, o)| !o.doubted) {"
        ),
        (
            DECIDE,
            "        self.settle_doubts_but(None)\n",
            "        self.settle_doubts_but(None) && self.run.attempt == 0\n"
        ),
        (APPLY, "ensure(self.open_in(&scope).is_none(), \"no second effect while the first is unsettled\")?;", ""),
    ),
    mutation!(
        "take-over-trusts",
        "a runner that takes over believes that the former one's effects are still being worked on",
        (APPLY, "            open.doubted = true;\n            open.probes = 0;", "            open.probes = 0;")
    ),
    mutation!(
        "poison-not-honoured",
        "a poisoned staging place is loaded into again",
        (APPLY, "        self.staging.remove(&slot);\n        match slot {", "        match slot {")
    ),
    mutation!(
        "halt-while-unknown",
        "a run may be declared failed while it is not known whether it was published",
        (
            "engine/src/run/state.rs",
            "| (QualityPassed, FailedPrepublication) // only if",
            "| (QualityPassed | OutcomeUnknown, FailedPrepublication) // only if"
        ),
        (
            DECIDE,
            "            && self.run.open_publication().is_none()\n            && self.run.published.is_none()\n    }",
            "            && self.run.published.is_none()\n    }"
        ),
        (APPLY, "self.open_publication().is_none() && self.published.is_none(),", "self.published.is_none(),"),
    ),
    mutation!(
        "drop-before-evidence",
        "a failed attempt is closed without its evidence",
        (DECIDE, "        if !sealed && self.evidence(Document::Sealed) {\n            return;\n        }\n", ""),
        (DECIDE, "if self.clean() && sealed {", "if self.clean() {")
    ),
    mutation!(
        "evidence-of-doubt-stays",
        "the document that says that the outcome is unknown stands for the delivered run",
        (
            PERMIT,
            "ensure(self.published.is_some(), \"the publication is confirmed\")?;\n                self.evidence.clear();",
            "ensure(self.published.is_some(), \"the publication is confirmed\")?;"
        )
    ),
    mutation!(
        "release-before-drops",
        "the claim is given back while owned names are still there",
        (
            DECIDE,
            "        if !live.is_empty() {\n            return false;\n        }\n        if self.run.claim_standing {",
            "        if self.run.claim_standing {"
        ),
        (
            DECIDE,
            "            self.once(Draft::Release, EffectKind::Release);\n            return false;\n        }\n        true",
            "            self.once(Draft::Release, EffectKind::Release);\n            return false;\n        }\n        live.is_empty()"
        ),
    ),
    mutation!(
        "taken-name-removed",
        "cleanup removes a staging place that was there before the run",
        (APPLY, "if why.code == Code::StagingNameConflict {", "if why.code == Code::ObjectKeyConflict {")
    ),
    mutation!(
        "suspects-adopted",
        "an attempt that failed for its ranges hands them on to the next",
        (APPLY, "if suspect || self.object_lost", "if (suspect && self.attempt == 0) || self.object_lost")
    ),
    mutation!(
        "budget-kept",
        "bytes that the store owns are never given back",
        (
            BUDGET,
            "self.pool.borrow_mut().give_back(self.amount);\n    }\n}\n\nstruct Reserve",
            "self.pool.borrow_mut().give_back(Amount::default());\n    }\n}\n\nstruct Reserve"
        )
    ),
    mutation!(
        "budget-given-early",
        "the reservation of a chunk ends before the store owns it",
        (
            PUMP,
            "grant.shrink(Amount { bytes: chunk.facts.bytes, rows: chunk.facts.rows });",
            "grant.shrink(Amount::default());"
        )
    ),
    mutation!(
        "nothing-synced",
        "SQLite syncs nothing",
        (OPEN, "PRAGMA synchronous = FULL;", "PRAGMA synchronous = OFF;")
    ),
    mutation!(
        "wal-not-synced",
        "SQLite syncs the write-ahead log at checkpoints only",
        (OPEN, "PRAGMA synchronous = FULL;", "PRAGMA synchronous = NORMAL;")
    ),
    mutation!(
        "commit-unheeded",
        "an append whose commit failed is acknowledged",
        (
            WRITE,
            "            head = next;\n        }\n        tx.commit().map_err(sql)",
            "            head = next;\n        }\n        let _ = tx.commit();\n        Ok(())"
        )
    ),
    mutation!(
        "acknowledged-before-commit",
        "an append is acknowledged before it is written",
        (
            LOG,
            "        let result = journal.append(run, epoch, &batches);\n",
            "        replies.drain(..).for_each(|reply| drop(reply.send(Ok(()))));\n        let result = journal.append(run, epoch, &batches);\n"
        )
    ),
    mutation!(
        "epoch-not-committed",
        "an epoch is given to a runner before its commit is known to have succeeded",
        (WRITE, "statement.query_one([run], |r| r.get(0))", "statement.query_row([run], |r| r.get(0))")
    ),
    mutation!(
        "wal-switch-unheeded",
        "a switch to the write-ahead log that failed goes unnoticed",
        (
            CREATION,
            "db.query_one(sql, [], |r| r.get::<_, String>(0))",
            "db.query_row(sql, [], |r| r.get::<_, String>(0))"
        )
    ),
    mutation!(
        "wal-thrown-away",
        "opening a journal takes what is left of a killed runner for rubbish",
        (
            OPEN,
            "        on_local_disk(self.path)?;\n        let db = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;\n        self.is_writable",
            "        on_local_disk(self.path)?;\n        let _ = std::fs::remove_file(beside(self.path, \"-wal\"));\n        let db = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;\n        self.is_writable"
        )
    ),
];
