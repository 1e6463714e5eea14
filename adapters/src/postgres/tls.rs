//! TLS as libpq's modes define it, by rustls.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::config::{Config, SslMode};
use super::error::{PgError, PgErrorKind};

/// The most bytes of a file of root certificates.
const ROOTS_BYTES: u64 = 16 << 20;

/// A TLS client for that server.
pub(super) fn client(config: &Config) -> Result<ClientConnection, PgError> {
    let refuse = |what: String| PgError::new(PgErrorKind::Auth, format!("TLS: {what}"));
    let name =
        ServerName::try_from(config.host.clone()).map_err(|_| refuse("the host's name is no DNS name".into()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier { trust: trust(config, &provider).map_err(refuse)?, provider: Arc::clone(&provider) };
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| refuse(e.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    ClientConnection::new(Arc::new(client), name).map_err(|e| refuse(e.to_string()))
}

/// Whom the client trusts.
#[derive(Debug)]
enum Trust {
    /// Whoever answers: only listening is prevented.
    Anyone,
    /// A server that an authority vouches for.
    Authority {
        chain: Arc<WebPkiServerVerifier>,
        /// The roots themselves: a server's own certificate among them is trusted as it is.
        pinned: Vec<CertificateDer<'static>>,
        name: bool,
    },
}

fn trust(config: &Config, provider: &Arc<CryptoProvider>) -> Result<Trust, String> {
    let name = match (config.ssl_mode, &config.ssl_root_cert) {
        (SslMode::Disable | SslMode::Prefer, _) | (SslMode::Require, None) => return Ok(Trust::Anyone),
        (SslMode::Require | SslMode::VerifyCa, _) => false,
        (SslMode::VerifyFull, _) => true,
    };
    let roots = match config.ssl_root_cert.as_deref() {
        None | Some("system") => rustls_native_certs::load_native_certs().certs,
        Some(path) => {
            let size = std::fs::metadata(path).map_err(|e| format!("the root certificates: {}", e.kind()))?.len();
            if size > ROOTS_BYTES {
                return Err("the file of root certificates is too large".into());
            }
            CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|_| "the root certificates are not in PEM form")?
        }
    };
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(roots.iter().cloned());
    if added == 0 {
        return Err("there is no root certificate to trust".into());
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
        .build()
        .map_err(|e| e.to_string())?;
    Ok(Trust::Authority { chain, pinned: roots, name })
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Trust::Authority { chain, pinned, name } = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        if pinned.iter().any(|root| root.as_ref() == end_entity.as_ref()) {
            if *name {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !*name => Ok(ServerCertVerified::assertion()),
            answer => answer,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust {
            Trust::Anyone => Ok(HandshakeSignatureValid::assertion()),
            Trust::Authority { .. } => {
                verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
            }
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust {
            Trust::Anyone => Ok(HandshakeSignatureValid::assertion()),
            Trust::Authority { .. } => {
                verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
            }
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
