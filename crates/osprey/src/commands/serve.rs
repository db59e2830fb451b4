//! `osprey serve`: a campaign in a browser, live while it runs.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use report::serve::{Server, Token};

use super::report::reader;
use crate::exit::Exit;
use crate::{interrupt, output};

/// Where the token is: not on the command line, which everybody can list.
const VARIABLE: &str = "OSPREY_TOKEN";

/// Show a campaign in a browser, live while it runs
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey fuzz seeds/ -s z3@4.8.7 -s z3@5.4.0 --time 8h --out night &
  osprey serve night                             then open http://127.0.0.1:7380/
  osprey serve night --listen 127.0.0.1:0        on any free port
  osprey serve postgres://osprey@db.example/fuzzing?schema=night

  export OSPREY_TOKEN=$(openssl rand -hex 16)    for others to look at it:
  osprey serve night --listen 0.0.0.0:7380       they open http://HOST:7380/?token=TOKEN once

Only this machine can look unless --listen says otherwise, and then a token is required. Nothing can be changed through
these pages. The connection is not encrypted: across networks use a tunnel (ssh -L) or a proxy with TLS.

Ctrl-C ends it. Exit code 0 then, 2 if there is no campaign or the port is in use.")]
pub struct Serve {
    /// The output folder of a campaign, or the address of one on a server
    #[arg(value_name = "DIR|URL", default_value = "osprey-out")]
    out: PathBuf,

    /// The address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7380", value_parser = address)]
    listen: SocketAddr,
}

/// `127.0.0.1:7380`, `localhost:7380`. Other names are not looked up: it must be clear who can look.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    let expected = "expected an address and a port, such as 127.0.0.1:7380, or port 0 for any free one";
    numbers.parse().map_err(|_| expected.to_owned())
}

impl Serve {
    pub fn run(self) -> Result<Exit> {
        let token = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
        let token = token.map(|text| Token::new(&text)).transpose()?;
        let with_token = token.is_some();
        let (reader, name) = reader(&self.out)?;
        let server = Server::bind(reader, self.listen, token)?;
        interrupt::catch();
        let query = if with_token { format!("?token=${VARIABLE}") } else { String::new() };
        output::print_line(&format!("{name} is shown at http://{}/{query} (Ctrl-C ends)", server.address()))?;
        server.run(interrupt::asked)?;
        Ok(Exit::Clean)
    }
}
