//! Everything that is wrong with one manifest, collected, then shown with its places.

use std::collections::BTreeSet;
use std::ops::Range;

use super::node::{self, Content, Node, Place};
use super::shape::{has_key, json_schema};
use super::snippet;
use crate::codes::Code;
use crate::refusal::Refusal;

/// Greatest number of problems that are reported for one manifest.
const MOST: usize = 50;

/// A setting that is accepted and has no effect on this run, with the reason: shown in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The setting's path.
    pub path: String,
    /// Why it has no effect.
    pub reason: String,
}

struct Problem {
    path: String,
    place: Option<Place>,
    refusal: Refusal,
}

/// The collector.
pub(super) struct Problems<'a> {
    text: &'a str,
    name: &'a str,
    root: Option<&'a Node>,
    found: Vec<Problem>,
    paths: BTreeSet<String>,
    visible: Vec<Range<usize>>,
    notices: Vec<Notice>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(text: &'a str, name: &'a str) -> Self {
        Self {
            text,
            name,
            root: None,
            found: Vec::new(),
            paths: BTreeSet::new(),
            visible: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Gives the tree in which paths are looked up.
    pub(super) fn set_root(&mut self, root: &'a Node) {
        self.root = Some(root);
    }

    /// Declares a part of the text harmless to show.
    pub(super) fn show(&mut self, place: &Place) {
        self.visible.push(place.bytes.clone());
    }

    /// Declares the known keys on one line harmless to show.
    pub(super) fn show_keys(&mut self, line: usize, is_key: impl Fn(&str) -> bool) {
        self.visible.extend(snippet::known_keys(self.text, line, is_key));
    }

    /// Takes back what [`Problems::show`] declared.
    pub(super) fn hide(&mut self, place: &Place) {
        self.visible.retain(|range| *range != place.bytes);
    }

    /// How many problems there are.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether further problems are left out.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MOST
    }

    /// Reports a problem at a known place; the first one at a path stands.
    pub(super) fn at(
        &mut self,
        path: &str,
        place: Option<Place>,
        code: Code,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        if !self.is_full() && self.paths.insert(path.to_owned()) {
            let refusal = Refusal::new(code, message).fix(fix);
            self.found.push(Problem { path: path.to_owned(), place, refusal });
        }
    }

    /// Reports a problem at a place whose path has stood before, such as a key that is written twice.
    pub(super) fn again(&mut self, path: &str, place: Place, code: Code, message: String, fix: &str) {
        if !self.is_full() {
            let refusal = Refusal::new(code, message).fix(fix);
            self.found.push(Problem { path: path.to_owned(), place: Some(place), refusal });
        }
    }

    /// Reports a problem at a path; where it is not in the text, the nearest key above it is marked.
    pub(super) fn add(&mut self, path: &str, code: Code, message: impl Into<String>, fix: impl Into<String>) {
        let place = self.root.and_then(|root| locate(root, path));
        self.at(path, place, code, message, fix);
    }

    /// Notes a setting that has no effect.
    pub(super) fn notice(&mut self, path: &str, reason: impl Into<String>) {
        self.notices.push(Notice { path: path.to_owned(), reason: reason.into() });
    }

    /// What is accepted without effect.
    pub(super) fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Every problem as a refusal, in the order of the text.
    pub(super) fn into_refusals(mut self) -> Vec<Refusal> {
        self.found.sort_by_key(|p| p.place.as_ref().map_or((usize::MAX, 0), |at| (at.line, at.column)));
        let (text, name, visible) = (self.text, self.name, &self.visible);
        let shown = |problem: Problem| {
            let at = match &problem.place {
                Some(place) => format!("{name}:{}:{}", place.line, place.column),
                None => name.to_owned(),
            };
            let place = if problem.path.is_empty() { at } else { format!("{} ({at})", problem.path) };
            let snippet = problem.place.as_ref().and_then(|place| snippet::render(text, place, visible));
            Refusal { place: Some(place), snippet, ..problem.refusal }
        };
        self.found.into_iter().map(shown).collect()
    }
}

/// The place of a path such as `source.options.columns[2]`: its value, or its key when the value is a mapping or
/// list, or the nearest key above it.
fn locate(root: &Node, path: &str) -> Option<Place> {
    let mut node = root;
    let mut place = None;
    for part in path.split('.') {
        let (name, index) = match part.split_once('[') {
            Some((name, rest)) => (name, rest.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let Some((key, value)) = node.get(name) else {
            break;
        };
        place = Some(value_place(value).unwrap_or_else(|| key.place.clone()));
        node = value;
        if let (Some(index), Content::List(items)) = (index, &value.content) {
            let Some(item) = items.get(index) else { break };
            place = value_place(item).or(place);
            node = item;
        }
    }
    place
}

/// Adds file, line and column to places that are paths of this manifest and have none yet: what is found after it was read
/// knows its paths only. Other places stay as they are.
pub fn located(text: &str, name: &str, refusals: Vec<Refusal>) -> Vec<Refusal> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Ok(root) = node::read(text) else { return refusals };
    let schema = json_schema();
    // A file can be called `source.db`.
    let is_path = |place: &str| place.split('.').take(2).all(|part| has_key(&schema, part));
    let at = |place: String| match locate(&root, &place).filter(|_| is_path(&place)) {
        Some(found) => format!("{place} ({name}:{}:{})", found.line, found.column),
        None => place,
    };
    refusals.into_iter().map(|refusal| Refusal { place: refusal.place.map(at), ..refusal }).collect()
}

fn value_place(node: &Node) -> Option<Place> {
    matches!(node.content, Content::Scalar(..)).then(|| node.place.clone())
}
