//! Who may look. On the loopback device: everybody on this machine, under a name of this machine only, so that no page of
//! another site can read along by pointing its own name at it. Elsewhere: whoever has the token.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::error::ReportError;
use crate::pages::POLICY;

/// A secret that opens the pages. It is never shown: neither in messages nor in addresses of pages.
#[derive(Clone)]
pub struct Token(String);

/// Tokens that are shorter can be guessed.
const SHORTEST: usize = 16;

impl Token {
    /// A token that fits into an address and cannot be guessed.
    pub fn new(text: &str) -> Result<Token, ReportError> {
        let fits = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        match fits && text.len() >= SHORTEST {
            true => Ok(Token(text.to_owned())),
            false => Err(ReportError::WeakToken),
        }
    }

    /// The time this takes tells nothing about the token.
    fn is(&self, given: &str) -> bool {
        let (ours, given) = (self.0.as_bytes(), given.as_bytes());
        let mut difference = ours.len() ^ given.len();
        for (place, byte) in ours.iter().enumerate() {
            difference |= usize::from(byte ^ given.get(place).copied().unwrap_or(0));
        }
        std::hint::black_box(difference) == 0
    }
}

/// The rules of a server.
pub struct Access {
    token: Option<Token>,
    /// The name of the cookie: two servers of one machine have two.
    cookie: String,
    port: u16,
}

impl Access {
    /// For a server at this address.
    pub fn new(token: Option<Token>, address: SocketAddr) -> Access {
        Access { token, cookie: format!("osprey-{}", address.port()), port: address.port() }
    }

    /// May whoever sent these headers look?
    fn allows(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return self.is_ours(headers) };
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let cookies = text(header::COOKIE).unwrap_or_default().split(';');
        let cookie =
            cookies.filter_map(|one| one.trim().split_once('=')).find(|(name, _)| *name == self.cookie);
        bearer.or(cookie.map(|(_, value)| value)).is_some_and(|given| token.is(given))
    }

    /// Is the server called by a name of this machine's loopback device?
    fn is_ours(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let port = format!(":{}", self.port);
        let name = host.strip_suffix(&port).unwrap_or(host);
        ["localhost", "[::1]"].contains(&name)
            || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
    }
}

/// Lets those in who may look, and says with every answer what pages may load.
pub async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let mut response =
        match (entry(&access, &request), [Method::GET, Method::HEAD].contains(request.method())) {
            (Some(response), _) => response,
            (None, _) if !access.allows(request.headers()) => refused(&access),
            (None, true) => next.run(request).await,
            (None, false) => {
                (StatusCode::METHOD_NOT_ALLOWED, "these pages can only be looked at\n").into_response()
            }
        };
    let policy = format!("{POLICY}; frame-ancestors 'none'");
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_SECURITY_POLICY, &policy);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(header::X_FRAME_OPTIONS, "DENY");
    response
}

/// An address with the right token leads to the same address without it, which the browser remembers the token for.
fn entry(access: &Access, request: &Request) -> Option<Response> {
    let token = access.token.as_ref()?;
    let query = request.uri().query()?;
    let given = query.split('&').find_map(|part| part.strip_prefix("token="))?;
    if !token.is(given) {
        return None;
    }
    let cookie = format!("{}={given}; Path=/; HttpOnly; SameSite=Strict", access.cookie);
    // One slash: two would name another machine.
    let path = format!("/{}", request.uri().path().trim_start_matches('/'));
    Some((StatusCode::SEE_OTHER, [(header::LOCATION, path), (header::SET_COOKIE, cookie)]).into_response())
}

fn refused(access: &Access) -> Response {
    let why = match access.token {
        Some(_) => {
            "a token is needed: open this address with ?token=TOKEN once, or send 'Authorization: Bearer TOKEN'\n"
        }
        None => "use the address that osprey has printed\n",
    };
    let code = if access.token.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::FORBIDDEN };
    (code, why).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).expect("a value"))])
    }

    fn access(token: Option<&str>) -> Access {
        let token = token.map(|text| Token::new(text).expect("a token"));
        Access::new(token, "127.0.0.1:80".parse().expect("an address"))
    }

    #[test]
    fn a_token_is_long_and_compared_as_a_whole() {
        assert!(Token::new("short").is_err() && Token::new("0123456789abcdef;").is_err());
        let token = Token::new(SECRET).expect("a token");
        assert!(token.is(SECRET));
        for wrong in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF"] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }

    #[test]
    fn with_a_token_a_header_or_a_cookie_opens_and_nothing_else() {
        let access = access(Some(SECRET));
        assert!(access.allows(&headers(header::AUTHORIZATION, &format!("Bearer {SECRET}"))));
        assert!(access.allows(&headers(header::COOKIE, &format!("a=b; osprey-80={SECRET}"))));
        assert!(!access.allows(&headers(header::COOKIE, &format!("osprey-81={SECRET}"))));
        assert!(!access.allows(&headers(header::HOST, "localhost:80")));
        assert!(!access.allows(&HeaderMap::new()));
    }

    #[test]
    fn without_a_token_only_names_of_this_machine_open() {
        let access = access(None);
        for host in ["127.0.0.1:80", "localhost:80", "localhost", "127.8.0.1:80", "[::1]:80"] {
            assert!(access.allows(&headers(header::HOST, host)), "{host}");
        }
        for host in
            ["evil.example:80", "localhost.evil.example", "", "127.0.0.1.evil.example", "127.0.0.1:81"]
        {
            assert!(!access.allows(&headers(header::HOST, host)), "{host}");
        }
    }

    #[test]
    fn the_right_token_in_an_address_leaves_the_address() {
        let access = access(Some(SECRET));
        let request = |address: &str| {
            Request::builder().uri(address).body(axum::body::Body::empty()).expect("a request")
        };
        let response = entry(&access, &request(&format!("//evil.example/x?token={SECRET}"))).expect("let in");
        assert_eq!(response.headers()[header::LOCATION], "/evil.example/x");
        let cookie = response.headers()[header::SET_COOKIE].to_str().expect("text").to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        assert!(entry(&access, &request("/?token=wrong")).is_none());
        assert!(entry(&access, &request("/")).is_none());
    }
}
