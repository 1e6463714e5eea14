//! The PostgreSQL protocol: sessions that block, one thread each.
//!
//! A COPY frame's length is known to the caller before its body is read, which no client library that decodes complete
//! messages can offer: the bytes can be admitted first. Messages are built, and passwords proven, by `postgres-protocol`.
//! No statement is ever sent twice.

mod authenticate;
mod cancel;
mod channel_binding;
mod config;
mod copy_in;
mod copy_out;
mod environment;
mod error;
mod fields;
mod message;
mod quote;
mod session;
mod stream;
mod tls;
mod url;
mod watch;
mod wire;

pub use cancel::Canceller;
pub use config::{ChannelBindingMode, Config, SslMode};
pub use copy_in::CopyIn;
pub use copy_out::CopyOut;
pub use error::{PgError, PgErrorKind};
pub use fields::Field;
pub use quote::{quote_ident, quote_literal};
pub use session::{Rows, Session};
pub use wire::READ_AHEAD;
