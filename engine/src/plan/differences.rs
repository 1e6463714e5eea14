//! What changed between the plan of a run and the world that it is resumed in.

use std::collections::BTreeMap;

use super::{Plan, RelationKind};
use crate::manifest::Manifest;
use crate::schema::{Column, Schema};

impl Plan {
    /// What differs from `newer`, a plan made now, so that a run of this plan must not be resumed; empty if nothing.
    ///
    /// Names settings, columns and types, and never a value. What a running source and this run itself may change
    /// (bounds, the number of rows, the target's content) is not compared: the recorded plan is executed.
    pub fn differences(&self, newer: &Plan) -> Vec<String> {
        let mut found = self.changes(&newer.manifest, Some((&newer.schema, newer.relation)));
        if let (Some(old), Some(new)) = (&self.key, &newer.key)
            && self.schema.column(&old.name).is_none()
            && old.name == new.name
        {
            found.extend(column(old, new));
        }
        let (a, b) = (&self.target, &newer.target);
        if a.target != b.target {
            found.push(format!("target: was {}, is {}", a.target, b.target));
        }
        if (a.publication, a.load_isolation, a.staging_fate) != (b.publication, b.load_isolation, b.staging_fate) {
            found.push("target: it stages or publishes in another way".to_owned());
        }
        // What was published meanwhile, by this run too, is for the publication to judge.
        if a.exists && b.exists && a.base == b.base {
            // By name: a column that moved in the source is reported as such above.
            let held: BTreeMap<_, _> = newer.schema.columns.iter().map(|c| &c.name).zip(&b.column_types).collect();
            for (column, was) in self.schema.columns.iter().zip(&a.column_types) {
                if let Some(is) = held.get(&column.name).filter(|is| **is != was) {
                    found.push(format!("target column \"{}\": was {was}, is {is}", column.name));
                }
            }
        }
        found
    }

    /// The part of [`differences`](Self::differences) that needs no plan: the manifest and, if it can be described, the
    /// source. A change there may be why there is no plan any more.
    pub fn changes(&self, manifest: &Manifest, source: Option<(&Schema, RelationKind)>) -> Vec<String> {
        let mut found: Vec<String> = self.manifest.differences(manifest);
        for path in &mut found {
            path.insert_str(0, "manifest: ");
        }
        if let Some((schema, relation)) = source {
            self.columns(schema, &mut found);
            if self.relation != relation {
                found.push("source: what is read is of another kind".to_owned());
            }
        }
        found
    }

    fn columns(&self, newer: &Schema, found: &mut Vec<String>) {
        let mut said = false;
        let mut say = |text: String| {
            said = true;
            found.push(text);
        };
        for old in &self.schema.columns {
            match newer.column(&old.name) {
                None => say(format!("source column \"{}\": was removed", old.name)),
                Some((_, new)) => column(old, new).into_iter().for_each(&mut say),
            }
        }
        for new in newer.columns.iter().filter(|c| self.schema.column(&c.name).is_none()) {
            say(format!("source column \"{}\": was added", new.name));
        }
        let order = |schema: &Schema| schema.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        if !said && order(&self.schema) != order(newer) {
            found.push("source columns: their order changed".to_owned());
        }
    }
}

fn column(old: &Column, new: &Column) -> Vec<String> {
    let name = &old.name;
    let mut found = Vec::new();
    if old.ty != new.ty {
        found.push(format!("source column \"{name}\": was {}, is {}", old.ty, new.ty));
    } else if old.declared != new.declared {
        found.push(format!("source column \"{name}\": was declared {}, is {}", old.declared, new.declared));
    }
    if old.nullable != new.nullable {
        let word = |nullable| if nullable { "allows NULL" } else { "is NOT NULL" };
        found.push(format!("source column \"{name}\": it {} now", word(new.nullable)));
    }
    found
}
