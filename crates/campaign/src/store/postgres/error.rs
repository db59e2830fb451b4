//! What the server or the way to it says, in terms of what the user has to do about it.

use postgres::error::SqlState;

use super::super::StoreError;
use super::url::ServerUrl;

/// An error of the library, as one of ours.
pub fn explained(url: &ServerUrl, error: postgres::Error) -> StoreError {
    let place = url.to_string();
    let refused = |why: String| StoreError::Refused { place: place.clone(), why };
    let Some(said) = error.as_db_error() else {
        let text = chain(&error);
        let away = |why: &str| StoreError::Away { place: place.clone(), why: why.to_owned(), disk: false };
        return match () {
            () if text.contains("server does not support TLS") => {
                refused("it has no TLS, which the address asks for (sslmode)".to_owned())
            }
            () if text.contains("certificate") => refused(format!("its certificate is not trusted: {text}")),
            () if text.contains("password missing") => refused(NO_PASSWORD.to_owned()),
            // Whatever else happened on the way to the server.
            () => away(&text),
        };
    };
    let (code, message) = (said.code(), said.message());
    let is = |codes: &[SqlState]| codes.contains(code);
    if is(&[SqlState::INVALID_PASSWORD]) {
        return refused(format!("{message}: {NO_PASSWORD}"));
    }
    if is(&[SqlState::INVALID_AUTHORIZATION_SPECIFICATION]) {
        let advice = match message.contains("no encryption") || message.contains("SSL off") {
            true => "; it wants TLS: add sslmode=require, or sslmode=verify-full, to the address",
            false => "",
        };
        return refused(format!("{message}{advice}"));
    }
    if is(&[SqlState::INVALID_CATALOG_NAME]) {
        return refused(format!("{message}: create it first, `createdb NAME`"));
    }
    if is(&[SqlState::INSUFFICIENT_PRIVILEGE]) {
        return refused(format!("{message}: docs/shared-campaigns.md has the rights that a role needs"));
    }
    let disk = is(&[SqlState::DISK_FULL, SqlState::INSUFFICIENT_RESOURCES]);
    if is(&[SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME]) {
        return StoreError::Removed(place);
    }
    // Classes: 08 connection, 40 others in the way, 53 resources, 57 operator intervention, 58 system.
    let passing = ["08", "40", "53", "57", "58"].iter().any(|class| code.code().starts_with(class));
    let waited = [
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    if passing || is(&waited) {
        let why = match disk {
            true => format!("the server has no room: {message}"),
            false => message.to_owned(),
        };
        return StoreError::Away { place, why, disk };
    }
    StoreError::Backend { disk, source: format!("{place}: {message}").into() }
}

const NO_PASSWORD: &str =
    "set PGPASSWORD, or write the password into ~/.pgpass (host:port:database:user:password, mode 600)";

/// May the same be tried again at once? Two transactions stood in each other's way.
pub fn is_conflict(error: &postgres::Error) -> bool {
    let conflict = [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE];
    error.code().is_some_and(|code| conflict.contains(code))
}

/// The error with its causes, each once.
fn chain(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}
