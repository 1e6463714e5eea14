//! Facts that cannot follow, whoever says them.

use dpone_engine::run::{Event, Receipt, recover};

use super::story;

#[test]
fn a_publication_of_other_rows_than_were_loaded_is_none_of_the_run() {
    let mut log: Vec<Event> = story::published().entries.into_iter().map(|entry| entry.event).collect();
    assert!(recover(&log).is_ok());
    for event in &mut log {
        if let Event::Confirmed { receipt: Receipt::Published { rows, .. }, .. } = event {
            *rows += 1;
        }
    }
    assert_eq!(recover(&log).unwrap_err().reason, "a publication publishes the rows that were loaded");
}
