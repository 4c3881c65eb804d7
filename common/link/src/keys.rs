//! The token, the certificates and the keys of a lab: an authority of its own, and what it has
//! signed for the coordinator and for the workers.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use time::{Duration, OffsetDateTime};

/// The file of the shared token.
pub const TOKEN: &str = "token";
/// The name of the authority's files, `.pem` and `.key`.
pub const AUTHORITY: &str = "ca";
/// The name of the coordinator's files.
pub const SERVER: &str = "server";
/// The name of a worker's files, if no other is given.
pub const WORKER: &str = "worker";

/// How long before now certificates begin to be valid, for machines whose clocks are late.
const BEFORE: Duration = Duration::days(1);
/// The random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// What a lab is to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lab {
    /// Names of the coordinator's machine, in its certificate.
    pub names: Vec<String>,
    /// Addresses of the coordinator's machine, in its certificate.
    pub addresses: Vec<IpAddr>,
    /// The workers: each gets a certificate of its name, and may share it with others.
    pub workers: Vec<String>,
    /// How many days the certificates are valid.
    pub days: u32,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// There are keys already.
    #[error(
        "{} is there already, and nothing is overwritten; name another folder, or move it away",
        .0.display()
    )]
    Exists(PathBuf),
    /// A worker's name makes no file name.
    #[error(
        "'{0}' is no name for a worker's files; write 1 to 64 letters, digits, '-', '_' and '.', \
         beginning with a letter or a digit, and not ca, server or token"
    )]
    BadWorker(String),
    /// Two workers have the same name.
    #[error("the worker '{0}' is named twice; name each once")]
    Twice(String),
    /// A name that cannot stand in a certificate.
    #[error("'{0}' is no name of a machine; write one such as solver.lab.example")]
    BadName(String),
    /// A file or the folder cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file or the folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    NoRandom(getrandom::Error),
    /// The certificates could not be made.
    #[error("the certificates could not be made: {0}")]
    Certificate(#[from] rcgen::Error),
}

/// Makes the token, the authority, and a certificate for the coordinator and for each worker, in a
/// folder that it makes if there is none. Returns the files in the order in which they were
/// written. All of them can be read by their owner only, but for the certificates.
pub fn init(folder: &Path, lab: &Lab) -> Result<Vec<PathBuf>, KeysError> {
    for (number, worker) in lab.workers.iter().enumerate() {
        if !names_files(worker) {
            return Err(KeysError::BadWorker(worker.clone()));
        }
        if lab.workers[..number].contains(worker) {
            return Err(KeysError::Twice(worker.clone()));
        }
    }
    // Everything is made before anything is written.
    let files = files(lab)?;
    for (name, _, _) in &files {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() {
            return Err(KeysError::Exists(path));
        }
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| KeysError::Unwritable { path: folder.to_owned(), source })?;
    let mut written = Vec::with_capacity(files.len());
    for (name, content, mode) in files {
        let path = folder.join(name);
        if let Err(source) = write(&path, &content, mode) {
            return Err(KeysError::Unwritable { path, source });
        }
        written.push(path);
    }
    Ok(written)
}

fn write(path: &Path, content: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}

/// The files: name, content and mode.
fn files(lab: &Lab) -> Result<Vec<(String, String, u32)>, KeysError> {
    let token = random::<TOKEN_BYTES>()? + "\n";
    let mut files = vec![(TOKEN.to_owned(), token, 0o600)];
    let mut put = |name: &str, certificate: String, key: &KeyPair| {
        files.push((format!("{name}.pem"), certificate, 0o644));
        files.push((format!("{name}.key"), key.serialize_pem(), 0o600));
    };

    // A name of its own: an authority is looked for by its name.
    let name = format!("jlpns lab authority {}", random::<8>()?);
    let mut authority = certificate(&name, lab.days)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate()?;
    put(AUTHORITY, authority.self_signed(&key)?.pem(), &key);
    let issuer = Issuer::new(authority, key);

    let mut server = certificate("jlpns coordinator", lab.days)?;
    for name in &lab.names {
        if !is_machine_name(name) {
            return Err(KeysError::BadName(name.clone()));
        }
        server.subject_alt_names.push(SanType::DnsName(name.as_str().try_into()?));
    }
    server.subject_alt_names.extend(lab.addresses.iter().copied().map(SanType::IpAddress));
    sign(&mut server, ExtendedKeyUsagePurpose::ServerAuth, SERVER, &issuer, &mut put)?;

    for name in &lab.workers {
        let mut worker = certificate(name, lab.days)?;
        sign(&mut worker, ExtendedKeyUsagePurpose::ClientAuth, name, &issuer, &mut put)?;
    }
    Ok(files)
}

/// Whether a name of a machine may stand in a certificate.
pub fn is_machine_name(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let whole = name.strip_prefix("*.").unwrap_or(name);
    name.len() <= 253 && whole.split('.').all(label)
}

fn sign(
    certificate: &mut CertificateParams,
    purpose: ExtendedKeyUsagePurpose,
    name: &str,
    issuer: &Issuer<'_, KeyPair>,
    put: &mut impl FnMut(&str, String, &KeyPair),
) -> Result<(), KeysError> {
    certificate.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    // A worker's certificate must not do for the coordinator's.
    certificate.extended_key_usages = vec![purpose];
    certificate.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    put(name, certificate.signed_by(&key, issuer)?.pem(), &key);
    Ok(())
}

fn certificate(name: &str, days: u32) -> Result<CertificateParams, KeysError> {
    let mut certificate = CertificateParams::new(Vec::new())?;
    certificate.distinguished_name = rcgen::DistinguishedName::new();
    certificate.distinguished_name.push(DnType::CommonName, name);
    let now = OffsetDateTime::now_utc();
    certificate.not_before = now - BEFORE;
    certificate.not_after = now + Duration::days(i64::from(days));
    Ok(certificate)
}

/// Random bytes, as digits.
fn random<const N: usize>() -> Result<String, KeysError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(KeysError::NoRandom)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn names_files(worker: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&worker.len())
        && worker.bytes().all(good)
        && worker.as_bytes()[0].is_ascii_alphanumeric()
        && ![TOKEN, AUTHORITY, SERVER].contains(&worker)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::token::Token;

    fn lab(workers: &[&str]) -> Lab {
        Lab {
            names: vec!["localhost".to_owned()],
            addresses: vec![IpAddr::from([127, 0, 0, 1])],
            workers: workers.iter().map(|&name| name.to_owned()).collect(),
            days: 30,
        }
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[test]
    fn the_files_are_there_and_secrets_are_for_their_owner_only() {
        let folder = folder();
        let inside = folder.path().join("lab");
        let written = init(&inside, &lab(&["ann", "bob"])).expect("keys");
        let names: Vec<String> = written
            .iter()
            .map(|path| path.strip_prefix(&inside).expect("inside").display().to_string())
            .collect();
        let wanted = [
            "token",
            "ca.pem",
            "ca.key",
            "server.pem",
            "server.key",
            "ann.pem",
            "ann.key",
            "bob.pem",
            "bob.key",
        ];
        assert_eq!(names, wanted);
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&inside), 0o700);
        for path in &written {
            let secret = path.extension().is_none_or(|extension| extension == "key");
            assert_eq!(mode(path), if secret { 0o600 } else { 0o644 }, "{}", path.display());
        }
        Token::read(&inside.join(TOKEN)).expect("a token");
    }

    #[test]
    fn no_two_labs_share_a_secret() {
        let folder = folder();
        for name in ["one", "two"] {
            init(&folder.path().join(name), &lab(&["worker"])).expect("keys");
        }
        for file in ["token", "ca.key", "server.key", "worker.key", "ca.pem"] {
            let read = |name: &str| fs::read(folder.path().join(name).join(file)).expect("there");
            assert_ne!(read("one"), read("two"), "{file}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = folder();
        fs::write(folder.path().join("worker.key"), "precious").expect("written");
        let refused = init(folder.path(), &lab(&["worker"])).expect_err("there is a key");
        assert!(matches!(refused, KeysError::Exists(_)), "{refused}");
        assert_eq!(fs::read(folder.path().join("worker.key")).expect("there"), b"precious");
        // Not even what was not in the way.
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
    }

    #[test]
    fn names_that_would_leave_the_folder_or_clash_are_refused() {
        let folder = folder();
        for bad in ["", "../up", "/root", "a/b", ".hidden", "ca", "server", "token", "a b", "é"] {
            let refused = init(folder.path(), &lab(&[bad])).expect_err(bad);
            assert!(matches!(refused, KeysError::BadWorker(_)), "{bad}: {refused}");
        }
        let refused = init(folder.path(), &lab(&["ann", "ann"])).expect_err("twice");
        assert!(matches!(refused, KeysError::Twice(_)), "{refused}");
        for bad in ["", "a b", "-x", "a..b", "host:1", "http://host"] {
            let lab = Lab { names: vec![bad.to_owned()], ..lab(&["worker"]) };
            let refused = init(folder.path(), &lab).expect_err(bad);
            assert!(matches!(refused, KeysError::BadName(_)), "{bad}: {refused}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
    }
}
