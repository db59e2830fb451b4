//! The address of a server: where the campaign is, and the password, which nothing here ever shows.

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use postgres::Config;

use super::super::StoreError;

/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(5);

/// Silence after which a connection counts as lost: a machine that is gone says nothing.
const SILENCE: Duration = Duration::from_secs(20);

/// Where the tables are unless the address says otherwise.
const SCHEMA: &str = "osprey";

/// A password of the environment, taken out of it so that no child process has it.
static PASSWORD: OnceLock<Secret> = OnceLock::new();

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq)]
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Keeps the password that the environment had, for all addresses without one of their own.
pub fn keep_password(password: String) {
    // The environment has one password only.
    let _ = PASSWORD.set(Secret(password));
}

/// What is made sure of about the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing: the connection is encrypted, to whomever.
    Nothing,
    /// That somebody we trust has signed it.
    Authority,
    /// And that it is for this host.
    Host,
}

/// `postgres://user@host:port/database?schema=night&sslmode=verify-full`.
///
/// Shown without the password, wherever it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    /// Without a password.
    shown: String,
    /// What the client library reads.
    plain: String,
    schema: String,
    pub(super) verify: Verify,
    pub(super) authorities: Option<PathBuf>,
    password: Option<Secret>,
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Is this the address of a server, not a folder?
fn is_address(text: &str) -> bool {
    scheme(text).is_some()
}

/// Was this meant for the address of a server? It may have a password, even with a slip of the pen in its scheme, or in the
/// other notation that libpq reads.
pub fn is_meant_as_address(text: &str) -> bool {
    let setting = |word: &str| ["host=", "dbname=", "password="].iter().any(|name| word.starts_with(name));
    scheme(text).is_some()
        || text.contains("://")
        || text.starts_with("postgres:")
        || text.split_whitespace().any(setting)
}

fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    matches!(scheme, "postgres" | "postgresql").then_some((scheme, rest))
}

/// An address without its password, and the password: the only place where one is taken apart from the other.
pub fn without_password(text: &str) -> (String, Option<String>) {
    let Some((scheme, rest)) = scheme(text) else { return (text.to_owned(), None) };
    let (body, query) = rest.split_once('?').map_or((rest, None), |(body, query)| (body, Some(query)));
    // A password may have any character but these two unescaped; the last '@' before the path ends it.
    let authority = body.find('/').map_or(body, |end| &body[..end]);
    let mut password = None;
    let mut shown = format!("{scheme}://");
    match authority.rsplit_once('@').or_else(|| body.rsplit_once('@')) {
        Some((who, _)) => {
            let host = &body[who.len() + 1..];
            let (user, secret) =
                who.split_once(':').map_or((who, None), |(user, secret)| (user, Some(secret)));
            password = secret.filter(|secret| !secret.is_empty()).map(decoded);
            shown += &format!("{user}@{host}");
        }
        None => shown += body,
    }
    let mut settings = Vec::new();
    for setting in query.unwrap_or_default().split('&').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some(("password", secret)) => password = Some(decoded(secret)),
            _ => settings.push(setting),
        }
    }
    if !settings.is_empty() {
        shown += &format!("?{}", settings.join("&"));
    }
    (shown, password)
}

/// `%2F` is `/`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl ServerUrl {
    pub fn parse(text: &str) -> Result<ServerUrl, StoreError> {
        if !is_address(text) {
            // What would be shown of it may be a password.
            let shown = text.find([':', '=']).map_or("", |end| &text[..=end]);
            let why = "expected postgres://USER@HOST/DATABASE".to_owned();
            return Err(StoreError::Address { address: format!("{shown}..."), why });
        }
        let (shown, password) = without_password(text);
        let refused = |why: String| StoreError::Address { address: shown.clone(), why };
        let (body, query) = shown.split_once('?').unwrap_or((&shown, ""));
        let mut kept = Vec::new();
        let mut schema = SCHEMA.to_owned();
        let (mut verify, mut authorities) = (Verify::Nothing, None);
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("schema", name)) => schema = decoded(name),
                Some(("sslrootcert", path)) => authorities = Some(PathBuf::from(decoded(path))),
                Some(("sslmode", "verify-ca")) => verify = Verify::Authority,
                Some(("sslmode", "verify-full")) => verify = Verify::Host,
                _ => kept.push(setting.to_owned()),
            }
        }
        if verify != Verify::Nothing {
            kept.push("sslmode=require".to_owned());
        } else if authorities.is_some() {
            // Who names an authority wants it asked.
            verify = Verify::Authority;
        }
        let first = |c: char| c.is_ascii_lowercase() || c == '_';
        let well_formed = schema.starts_with(first)
            && schema.chars().all(|c| first(c) || c.is_ascii_digit())
            && schema.len() <= 63
            && !schema.starts_with("pg_");
        if !well_formed {
            return Err(refused(format!(
                "schema={schema}: expected small letters, digits and '_', at most 63 of them"
            )));
        }
        let plain = match kept.is_empty() {
            true => body.to_owned(),
            false => format!("{body}?{}", kept.join("&")),
        };
        let url = ServerUrl {
            plain,
            schema,
            verify,
            authorities,
            password: password.map(Secret),
            shown: shown.clone(),
        };
        let config: Config =
            url.plain.parse().map_err(|error: postgres::Error| refused(explained(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(refused("it names no host: expected postgres://USER@HOST/DATABASE".to_owned()));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(refused("it names no database: expected postgres://USER@HOST/DATABASE".to_owned()));
        }
        Ok(url)
    }

    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// What the client library connects with.
    pub(super) fn config(&self) -> Result<Config, StoreError> {
        let refused = |why| StoreError::Address { address: self.shown.clone(), why };
        let mut config: Config = self.plain.parse().map_err(|error| refused(explained(&error)))?;
        let user = config.get_user().map(str::to_owned).or_else(|| std::env::var("USER").ok());
        let password = self.password.clone().or_else(|| PASSWORD.get().cloned());
        let password = password.or_else(|| password_file(&config, user.as_deref()));
        if let Some(Secret(password)) = &password {
            config.password(password);
        }
        config.application_name("osprey").connect_timeout(CONNECTING).tcp_user_timeout(SILENCE);
        Ok(config)
    }
}

/// What the library says is wrong, with its cause.
fn explained(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

/// From `~/.pgpass`, or the file that `PGPASSFILE` names: lines `host:port:database:user:password`, `*` for any. As
/// with libpq, a file that others may read is not used.
fn password_file(config: &Config, user: Option<&str>) -> Option<Secret> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = match std::env::var_os("PGPASSFILE") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"),
    };
    if std::fs::metadata(&path).ok()?.permissions().mode() & 0o077 != 0 {
        return None;
    }
    let text = std::fs::read_to_string(&path).ok()?;
    let host = config.get_hosts().first().map(|host| match host {
        postgres::config::Host::Tcp(name) => name.clone(),
        postgres::config::Host::Unix(_) => "localhost".to_owned(),
    })?;
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [host.as_str(), &port, config.get_dbname().unwrap_or(""), user.unwrap_or("")];
    text.lines().find_map(|line| of_line(line, &wanted)).map(Secret)
}

/// The password of a line that is about this.
fn of_line(line: &str, wanted: &[&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (c, fields.len()) {
            ('\\', _) => fields.last_mut()?.extend(characters.next()),
            (':', ..=4) => fields.push(String::new()),
            _ => fields.last_mut()?.push(c),
        }
    }
    let password = (fields.len() == 5).then(|| fields.pop()).flatten()?;
    let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
    fields.iter().zip(wanted).all(fits).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_ever_shown() {
        let addresses = [
            "postgres://eve:s3cr3t@host/db",
            "postgresql://eve:s3cr3t@host:1/db?schema=a&sslmode=require",
            "postgres://eve@host/db?password=s3cr3t",
            "postgres://eve:s3cr3t%2F@host/db",
            "postgres://eve:s3cr3t/@host/db",
            "postgres://eve:s3cr3t@@host/db",
            "postgres://eve:s3cr3t@host",
            "postgres://eve:s3cr3t@host/db?what=1",
            "postgres://eve:s3cr3t@host/db?schema=Not_This",
        ];
        for address in addresses {
            let said = match ServerUrl::parse(address) {
                Ok(url) => format!("{url} {url:?} {:?}", url.config().expect("a configuration")),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!said.contains("s3cr3t"), "{address}: {said}");
            assert!(said.contains("eve") && said.contains("host"), "{said}");
            assert!(without_password(address).1.expect("it has one").starts_with("s3cr3t"));
        }
        assert_eq!(without_password("seeds/a@b:c"), ("seeds/a@b:c".to_owned(), None));
    }

    #[test]
    fn an_address_says_where_the_tables_are_and_whom_to_trust() {
        let url = ServerUrl::parse("postgres://host/db").expect("an address");
        assert_eq!((url.schema(), url.verify), ("osprey", Verify::Nothing));
        let url =
            ServerUrl::parse("postgres://host/db?schema=night_1&sslmode=verify-full").expect("an address");
        assert_eq!((url.schema(), url.verify), ("night_1", Verify::Host));
        let config = url.config().expect("a configuration");
        assert_eq!(config.get_ssl_mode(), postgres::config::SslMode::Require);
        for (wrong, what) in [
            ("postgres://host", "no database"),
            ("postgres:///db", "no host"),
            ("postgres://host/db?schema=x;drop", "schema=x;drop"),
            ("postgres://host:port/db", "port"),
            ("mysql://eve:s3cr3t@host/db", "'mysql:...' is no address of a campaign: expected postgres://"),
            ("postgres:/eve:s3cr3t@host/db", "'postgres:...'"),
        ] {
            let error = ServerUrl::parse(wrong).expect_err("refused").to_string();
            assert!(error.contains(what) && !error.contains("s3cr3t"), "{error}");
        }
    }

    #[test]
    fn the_line_of_a_password_file_that_fits_is_taken() {
        let wanted = ["host", "5432", "db", "eve"];
        assert_eq!(of_line("host:5432:db:eve:a:b", &wanted), Some("a:b".to_owned()));
        assert_eq!(of_line("*:*:*:eve:a\\:b\\\\", &wanted), Some("a:b\\".to_owned()));
        assert_eq!(of_line("*:*:*:bob:a", &wanted), None);
        assert_eq!(of_line("# host:5432:db:eve:a", &wanted), None);
        assert_eq!(of_line("nonsense", &wanted), None);
    }
}
