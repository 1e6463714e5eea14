//! When chunks are sealed.

use super::super::document::NativeTransfer;
use super::super::problems::Problems;
use super::super::ranges::ChunkPolicy;
use super::agree;
use crate::codes::Code;

const TARGET: &str = "source.options.native_transfer.snapshot.physical_chunking.target_chunk_bytes";
const MAX: &str = "source.options.native_transfer.snapshot.physical_chunking.max_chunk_bytes";
const TARGET_FILE: &str = "source.options.native_transfer.execution.resource_policy.target_file_bytes";
const MAX_FILE: &str = "source.options.native_transfer.execution.resource_policy.max_file_bytes";

/// Default of the soft size of a chunk.
const DEFAULT_TARGET: u64 = 64 << 20;

pub(super) fn resolve(native: &NativeTransfer, problems: &mut Problems<'_>) -> ChunkPolicy {
    let chunking = &native.snapshot.physical_chunking;
    let policy = &native.execution.resource_policy;
    let bytes = |size: Option<super::super::size::ByteSize>| size.map(|s| s.0);
    let target =
        agree((TARGET, bytes(chunking.target_chunk_bytes)), (TARGET_FILE, bytes(policy.target_file_bytes)), problems);
    let max = agree((MAX, bytes(chunking.max_chunk_bytes)), (MAX_FILE, bytes(policy.max_file_bytes)), problems);
    let target_bytes = target.unwrap_or_else(|| max.map_or(DEFAULT_TARGET, |max| max.min(DEFAULT_TARGET)));
    let max_bytes = max.unwrap_or_else(|| target_bytes.saturating_mul(2));
    if target_bytes > max_bytes {
        let path = if chunking.target_chunk_bytes.is_some() { TARGET } else { TARGET_FILE };
        problems.add(
            path,
            Code::OptionConflict,
            "the target size of a chunk is larger than its greatest size",
            "Lower the target, or raise the greatest size.",
        );
    }
    ChunkPolicy { target_bytes, max_bytes, max_rows: policy.max_slice_rows }
}
