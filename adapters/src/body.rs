//! The bytes of one object on their way.

use bytes::Bytes;

/// Encoded bytes in one or more segments, so that an encoder's buffers travel without being copied together.
#[derive(Clone, Default)]
pub struct Body {
    segments: Vec<Bytes>,
}

impl Body {
    /// The segments in order.
    pub fn new(segments: Vec<Bytes>) -> Self {
        Self { segments }
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Bytes] {
        &self.segments
    }

    /// The segments in order.
    pub fn into_segments(self) -> Vec<Bytes> {
        self.segments
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self { segments: vec![bytes] }
    }
}

impl dpone_engine::ports::Body for Body {
    fn size(&self) -> u64 {
        self.segments.iter().map(|s| s.len() as u64).sum()
    }
}

/// Shows the size only: the bytes are source data.
impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", dpone_engine::ports::Body::size(self))
    }
}
