//! Every single fault of every small shape is met and breaks nothing.

use dpone_sims::systematic::{play_all, shapes};

#[test]
fn no_single_fault_breaks_anything() {
    for (name, shape) in shapes() {
        let report = play_all(shape, false);
        assert!(report.failures.is_empty(), "{name}: {:?}", report.failures.first());
        assert!(report.singles > 100, "{name}: {} singles", report.singles);
        assert_eq!(report.met, report.singles, "{name}: every enumerated fault is met");
    }
}
