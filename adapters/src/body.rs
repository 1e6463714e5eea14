//! The bytes of one object on their way.

use std::path::{Path, PathBuf};

use bytes::Bytes;

/// Encoded bytes in one or more segments, so that an encoder's buffers travel without being copied together.
#[derive(Clone, Default)]
pub struct Body {
    segments: Vec<Bytes>,
    /// The file that holds exactly these bytes and is never written again.
    file: Option<PathBuf>,
}

impl Body {
    /// The segments in order.
    pub fn new(segments: Vec<Bytes>) -> Self {
        Self { segments, file: None }
    }

    /// The same, of a file that is never written again.
    pub fn in_file(self, file: PathBuf) -> Self {
        Self { file: Some(file), ..self }
    }

    /// The file that holds these bytes, if one is known.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
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
        Self::new(vec![bytes])
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
