//! The bytes below the protocol: TCP, a Unix socket, or TLS over TCP.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustls::{ClientConnection, StreamOwned};

use super::config::{Config, SslMode};
use super::error::{PgError, PgErrorKind};
use super::tls;

/// Silence after which the kernel asks whether the other side is there, and how often it then asks.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(20);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_PROBES: u32 = 4;

/// Where a server answered.
#[derive(Clone, Debug)]
pub(super) enum Address {
    Tcp(SocketAddr),
    Unix(String),
}

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Connects to the first address of the host that answers.
    pub(super) fn connect(config: &Config) -> Result<(Self, Address), PgError> {
        if config.host.starts_with('/') {
            let address = Address::Unix(format!("{}/.s.PGSQL.{}", config.host, config.port));
            return Self::connect_to(&address, config.connect_timeout).map(|socket| (socket, address));
        }
        let found = (config.host.as_str(), config.port).to_socket_addrs();
        let addresses = found.map_err(|e| PgError::network("the host's name has no address", &e))?;
        let mut failed = PgError::new(PgErrorKind::Network, "the host's name has no address");
        for address in addresses.map(Address::Tcp) {
            match Self::connect_to(&address, config.connect_timeout) {
                Ok(socket) => return Ok((socket, address)),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Connects to one address.
    pub(super) fn connect_to(address: &Address, timeout: Duration) -> Result<Self, PgError> {
        let refuse = |e: io::Error| PgError::network("the server cannot be reached", &e);
        let socket = match address {
            Address::Tcp(address) => {
                let tcp = TcpStream::connect_timeout(address, timeout).map_err(refuse)?;
                tcp.set_nodelay(true).map_err(refuse)?;
                keep_alive(&tcp).map_err(|e| refuse(e.into()))?;
                Self::Tcp(tcp)
            }
            Address::Unix(path) => Self::Unix(UnixStream::connect(path).map_err(refuse)?),
        };
        socket.set_timeout(timeout).map_err(refuse)?;
        Ok(socket)
    }

    /// How long one read or write may wait.
    pub(super) fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Some(timeout.max(Duration::from_millis(1)));
        match self {
            Self::Tcp(s) => s.set_read_timeout(timeout).and_then(|()| s.set_write_timeout(timeout)),
            Self::Unix(s) => s.set_read_timeout(timeout).and_then(|()| s.set_write_timeout(timeout)),
        }
    }

    pub(super) fn shutdown(&self) {
        // A socket that is not connected any more is what was wanted.
        let _ = match self {
            Self::Tcp(s) => s.shutdown(Shutdown::Both),
            Self::Unix(s) => s.shutdown(Shutdown::Both),
        };
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(s) => Self::Tcp(s.try_clone()?),
            Self::Unix(s) => Self::Unix(s.try_clone()?),
        })
    }
}

fn keep_alive(socket: &TcpStream) -> rustix::io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE)?;
    sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL)?;
    sockopt::set_tcp_keepcnt(socket, KEEPALIVE_PROBES)
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(s) => s.read(buf),
            Self::Unix(s) => s.read(buf),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(s) => s.write(buf),
            Self::Unix(s) => s.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket, encrypted or not.
pub(super) enum Stream {
    Plain(Socket),
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
}

impl Stream {
    /// Agrees with the server on encryption.
    pub(super) fn negotiate(mut socket: Socket, config: &Config) -> Result<Self, PgError> {
        if matches!(socket, Socket::Unix(_)) || config.ssl_mode == SslMode::Disable {
            return Ok(Self::Plain(socket));
        }
        let refuse = |e: io::Error| PgError::network("agreeing on TLS", &e);
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        socket.write_all(&request).map_err(refuse)?;
        let mut answer = [0];
        // Exactly one byte: what comes in clear text after it must never be taken for the encrypted stream.
        socket.read_exact(&mut answer).map_err(refuse)?;
        match answer {
            [b'S'] => {}
            [b'N'] if config.ssl_mode == SslMode::Prefer => return Ok(Self::Plain(socket)),
            [b'N'] => return Err(PgError::new(PgErrorKind::Auth, "TLS: the server does not offer it")),
            _ => return Err(PgError::protocol("the server's answer to the request for TLS is not understood")),
        }
        let mut tls = StreamOwned::new(tls::client(config)?, socket);
        while tls.conn.is_handshaking() {
            tls.conn.complete_io(&mut tls.sock).map_err(handshake)?;
        }
        Ok(Self::Tls(Box::new(tls)))
    }

    /// The server's certificate, if the stream is encrypted.
    pub(super) fn certificate(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(tls) => tls.conn.peer_certificates().and_then(|chain| chain.first()).map(AsRef::as_ref),
        }
    }

    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &tls.sock,
        }
    }

    pub(super) fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.socket().set_timeout(timeout)
    }

    /// Another handle on the same socket.
    pub(super) fn handle(&self) -> io::Result<Socket> {
        self.socket().try_clone()
    }
}

/// What a failed handshake means: a certificate that is not accepted stays so.
fn handshake(error: io::Error) -> PgError {
    match error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
        Some(tls) => PgError::new(PgErrorKind::Auth, format!("TLS: {}", reason(tls))),
        None => PgError::network("TLS", &error),
    }
}

/// rustls's words, which quote names of certificates at most.
fn reason(error: &rustls::Error) -> String {
    error.to_string().chars().filter(|c| !c.is_control()).take(512).collect()
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(s) => s.read(buf),
            Self::Tls(s) => s.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(s) => s.write(buf),
            Self::Tls(s) => s.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(s) => s.flush(),
            Self::Tls(s) => s.flush(),
        }
    }
}
