//! The transfer store.

use super::{done, refused};
use crate::codes::Code;
use crate::ports::ObjectStore;
use crate::run::effect::ChunkFacts;
use crate::run::{Receipt, Seen};

/// Checks a store that is empty. `content` makes an object of any bytes, with its facts; `bytes` takes it apart.
pub async fn object_store<S: ObjectStore>(
    store: &S,
    content: impl Fn(&[u8]) -> (ChunkFacts, S::Body),
    bytes: impl Fn(&S::Body) -> Vec<u8>,
) {
    let key = "orders/run-1/a1-0/r0.t1/c0.parquet";
    let neighbour = "orders/run-1/a1-1/r0.t1/c1.parquet";
    for text in [&b"rows"[..], b"", &[0xa5; 100_000]] {
        let (facts, body) = content(text);
        assert_eq!(store.head(key, &facts).await, Seen::Nothing, "nothing is there before the put");
        let gone = store.get(key, &facts).await.err().map(|w| (w.code, w.transient));
        assert_eq!(gone, Some((Code::ObjectLost, false)), "what is not there cannot be had");

        let put = done(store.put(key, &facts, &body).await, "a put under a free key");
        assert!(matches!(put, Receipt::Put { .. }), "a put earns its receipt");
        assert_eq!(store.head(key, &facts).await, Seen::Ours);
        let got = store.get(key, &facts).await.map(|b| bytes(&b));
        assert!(got.as_deref() == Ok(text), "what was put comes back");

        done(store.put(key, &facts, &body).await, "the same put again");
        let (other_facts, other) = content(b"other");
        let taken = refused(store.put(key, &other_facts, &other).await, "another content under that key");
        assert_eq!(taken, Code::ObjectKeyConflict);
        assert_eq!(store.head(key, &other_facts).await, Seen::Foreign);
        let differs = store.get(key, &other_facts).await.err().map(|w| w.code);
        assert_eq!(differs, Some(Code::ObjectLost), "another content is not what was asked for");
        assert_eq!(store.head(key, &facts).await, Seen::Ours, "the first content stays");

        done(store.put(neighbour, &facts, &body).await, "a put under another key");
        assert_eq!(done(store.delete(key).await, "a removal"), Receipt::Dropped);
        assert_eq!(done(store.delete(key).await, "a removal of what is gone"), Receipt::Dropped);
        assert_eq!(store.head(key, &facts).await, Seen::Nothing);
        assert_eq!(store.head(neighbour, &facts).await, Seen::Ours, "a removal takes its own key only");
        done(store.delete(neighbour).await, "a removal");
    }
}
