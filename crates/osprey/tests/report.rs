//! Reports and the dashboard, in a real browser; and what is said where there is nothing to show.

mod common;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use common::{Folder, complaint, osprey, run, text};
use testkit::browser::browser;
use testkit::have;
use testkit::postgres::{self, PASSWORD};

/// A build of Z3 that refutes whatever has a remainder or a length in it, and says something hostile.
const WRONG: &str = "[ \"$1\" = --version ] && echo 'Z3 version 5.4.0 - 64 bit' && exit\nfor file; do :; done\n\
    if grep -q '(mod \\|(str.len ' \"$file\"; then echo unsat; else echo sat; fi\n\
    echo '<script>document.title=\"owned\"</script>' >&2";

/// The smaller one is tried first.
const REMAINDER: &str = "(declare-const x Int)\n(assert (= (mod x 5) 2))\n(check-sat)\n";
const LENGTH: &str = "(declare-const |<script>document.title='owned'</script>| String)\n\
    (declare-const |</pre><img src=x onerror=\"document.title='owned'\">| Int)\n\
    (assert (= (str.len |<script>document.title='owned'</script>|) 3))\n(check-sat)\n";

/// A campaign whose solver has two bugs, of which each run of it finds one.
struct TwoBugs {
    place: Folder,
    out: String,
}

impl TwoBugs {
    /// Nothing when this machine cannot have the reference.
    fn new() -> Option<TwoBugs> {
        have(&["z3@5.4.0"]).then(|| {
            let place = Folder::new();
            place.program("z3", WRONG);
            std::fs::create_dir(place.path("seeds")).expect("a folder");
            place.file("seeds/remainder.smt2", REMAINDER);
            place.file("seeds/length.smt2", LENGTH);
            let out = place.path("out");
            TwoBugs { place, out }
        })
    }

    /// Makes one more test, and so finds one more bug.
    fn find_one(&self) {
        let (seeds, solver) = (self.place.path("seeds"), format!("'{}'", self.place.path("z3")));
        let words = ["fuzz", &seeds, "-s", &solver, "--reference", "z3@5.4.0", "--engine", "seed"];
        let rest = ["--iterations", "1", "--jobs", "1", "--reduce-all", "--out", &self.out];
        let resume: &[&str] = if Path::new(&self.out).exists() { &["--resume"] } else { &[] };
        let found = run(&[&words[..], &rest, resume].concat());
        assert_eq!(found.status.code(), Some(10), "{}", text(&found));
    }

    /// The folder of the finding with this kind of seed.
    fn finding(&self, word: &str) -> String {
        let bugs = std::fs::read_dir(Path::new(&self.out).join("bugs")).expect("findings");
        let of = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.expect("an entry").path();
            let input = std::fs::read_to_string(path.join("input.smt2")).expect("an input");
            input.contains(word).then(|| path.to_string_lossy().into_owned())
        };
        bugs.filter_map(of).next().expect("a finding")
    }
}

/// `osprey serve`, which ends with the test.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(words: &[&str], token: Option<&str>) -> Serving {
        let mut command = osprey(&[&["serve"], words].concat());
        match token {
            Some(token) => command.env("OSPREY_TOKEN", token),
            None => command.env_remove("OSPREY_TOKEN"),
        };
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a server");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        assert!(token.is_none_or(|token| !line.contains(token)), "{line}");
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        Serving { address: address.to_owned(), child }
    }

    /// The head and the body of an answer.
    fn get(&self, path: &str, header: &str) -> String {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&self.address).expect("it listens");
        let host =
            if header.starts_with("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let request = format!("GET {path} HTTP/1.1\r\n{host}{header}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("asked");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Rows of the table that are seen.
const SHOWN: &str =
    "[...document.querySelectorAll('#findings tbody tr')].filter((row) => !row.hidden).length";

#[test]
fn a_report_opens_from_disk_with_filter_sort_and_keys_and_nothing_in_it_acts() {
    let Some(campaign) = TwoBugs::new() else { return };
    let Some(mut browser) = browser() else { return };
    campaign.find_one();
    campaign.find_one();
    let report = campaign.place.path("report");
    let made = run(&["report", &campaign.out, "-o", &report]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    assert!(text(&made).contains("2 bugs"), "{}", text(&made));

    browser.open(&format!("file://{report}/index.html"));
    assert_eq!(browser.value("document.title"), format!("2 bugs in {} · Osprey", campaign.place.path("z3")));
    assert_eq!(browser.value(SHOWN), 2);
    assert_eq!(browser.value("getComputedStyle(document.body).margin"), "0px", "the style sheet is there");

    // Filter, with keys alone.
    browser.value("document.getElementById('filter').focus()");
    for key in ["m", "o", "d"] {
        browser.press(key);
    }
    assert_eq!(browser.value("document.getElementById('filter').value"), "mod");
    assert_eq!(browser.value(SHOWN), 1);
    assert_eq!(browser.value("document.getElementById('count').textContent"), "1 of 2 findings");
    browser.value(
        "document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new \
                   Event('input', {bubbles: true}))",
    );
    assert_eq!(browser.value(SHOWN), 2);

    // Sort, with keys alone.
    let first = "document.querySelector('#findings tbody tr td').textContent";
    assert_eq!(browser.value(first), "1");
    browser.value("document.querySelector('#findings th button').focus()");
    browser.press("Enter");
    assert_eq!(browser.value(first), "1");
    browser.press("Enter");
    assert_eq!(browser.value(first), "2");
    assert_eq!(
        browser.value("document.querySelector('#findings th').getAttribute('aria-sort')"),
        "descending"
    );
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.textContent"), "bug", "the next heading");

    // The page of the finding whose script is hostile.
    let hostile = campaign.finding("str.len");
    let hostile = Path::new(&hostile).file_name().expect("a name").to_string_lossy();
    browser.open(&format!("file://{report}/finding/{hostile}.html"));
    let title = browser.value("document.title");
    assert!(title.as_str().expect("a title").ends_with("Osprey"), "{title}");
    assert_eq!(browser.value("document.querySelectorAll('pre script, pre img, .run script').length"), 0);
    let shown = browser.value("document.querySelector('#main').textContent");
    assert!(shown.as_str().expect("text").contains("<script>document.title='owned'</script>"), "{shown}");
    assert!(browser.value("document.querySelectorAll('button.copy').length").as_u64() >= Some(2));
    for page in ["time.html", "campaign.html"] {
        browser.open(&format!("file://{report}/{page}"));
    }
    assert_eq!(browser.complaints(), [""; 0]);
    let elsewhere: Vec<&String> = browser
        .requests()
        .iter()
        .filter(|address| !address.starts_with(&format!("file://{report}/")))
        .collect();
    assert_eq!(elsewhere, Vec::<&String>::new());
}

#[test]
fn a_finding_appears_on_an_open_page_without_a_reload() {
    let Some(campaign) = TwoBugs::new() else { return };
    let Some(mut browser) = browser() else { return };
    campaign.find_one();
    let serving = Serving::start(&[&campaign.out, "--listen", "127.0.0.1:0"], None);
    browser.open(&format!("http://{}/", serving.address));
    assert_eq!(browser.value(SHOWN), 1);
    browser.value("window.kept = 'the same page'; document.getElementById('filter').value = 'z3'");
    campaign.find_one();
    browser.wait_for(&format!("{SHOWN} === 2"));
    assert_eq!(browser.value("window.kept"), "the same page");
    assert_eq!(browser.value("document.getElementById('filter').value"), "z3", "what was typed stays");
    browser.wait_for("document.querySelector('[data-n=bugs]').textContent === '2 bugs'");
    let news = browser.value("document.getElementById('news').textContent");
    assert!(news.as_str().expect("news").starts_with("New: "), "{news}");
    browser.open(&format!("http://{}/time.html", serving.address));
    assert_eq!(browser.complaints(), [""; 0]);
    let elsewhere: Vec<&String> = browser
        .requests()
        .iter()
        .filter(|one| !one.starts_with(&format!("http://{}/", serving.address)))
        .collect();
    assert_eq!(elsewhere, Vec::<&String>::new());
}

#[test]
fn a_page_says_when_the_server_is_gone_and_shows_what_it_has_missed_when_it_is_back() {
    let Some(campaign) = TwoBugs::new() else { return };
    let Some(mut browser) = browser() else { return };
    campaign.find_one();
    let serving = Serving::start(&[&campaign.out, "--listen", "127.0.0.1:0"], None);
    let address = serving.address.clone();
    browser.open(&format!("http://{address}/"));
    browser.value("window.kept = 'the same page'; document.querySelector('#findings tbody a').focus()");
    drop(serving);
    browser.wait_for("document.getElementById('condition').classList.contains('lost')");
    campaign.find_one();
    let _again = Serving::start(&[&campaign.out, "--listen", &address], None);
    browser.wait_for(&format!("{SHOWN} === 2"));
    browser.wait_for("!document.getElementById('condition').classList.contains('lost')");
    assert_eq!(browser.value("window.kept"), "the same page");
    let focused = browser.value("document.activeElement.closest('tbody') !== null");
    assert_eq!(focused, true, "whoever goes through the list with keys stays where they are");
}

#[test]
fn a_page_says_when_the_folder_of_the_campaign_is_gone() {
    let Some(campaign) = TwoBugs::new() else { return };
    let Some(mut browser) = browser() else { return };
    campaign.find_one();
    let serving = Serving::start(&[&campaign.out, "--listen", "127.0.0.1:0"], None);
    browser.open(&format!("http://{}/", serving.address));
    let notes = "document.getElementById('notes').textContent";
    assert_eq!(browser.value(notes), "");
    std::fs::rename(&campaign.out, campaign.place.path("elsewhere")).expect("moved");
    browser.wait_for(&format!("{notes}.includes('no such folder any more')"));
    assert_eq!(browser.value(SHOWN), 1, "what was read before is still shown");
    std::fs::rename(campaign.place.path("elsewhere"), &campaign.out).expect("moved back");
    browser.wait_for(&format!("{notes} === ''"));
}

#[test]
fn who_does_not_say_what_they_want_is_hung_up_on() {
    use std::io::{Read as _, Write as _};
    let place = Folder::new();
    std::fs::create_dir_all(place.path("empty/bugs")).expect("a folder");
    let serving = Serving::start(&[&place.path("empty"), "--listen", "localhost:0"], None);
    let mut slow = std::net::TcpStream::connect(&serving.address).expect("it listens");
    slow.write_all(b"GET / HTTP/1.1\r\nHost: 127").expect("half a request");
    slow.set_read_timeout(Some(std::time::Duration::from_secs(120))).expect("set");
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).expect("the end of the connection");
    assert!(serving.get("/", "").starts_with("HTTP/1.1 200"));
    for address in ["7380", "example.com:80", "127.0.0.1:99999"] {
        let refused = run(&["serve", &place.path("empty"), "--listen", address]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(complaint(&refused).contains("such as 127.0.0.1:7380"), "{}", complaint(&refused));
    }
}

#[test]
fn answers_carry_their_policy_and_files_are_text() {
    let Some(campaign) = TwoBugs::new() else { return };
    campaign.find_one();
    let serving = Serving::start(&[&campaign.out, "--listen", "127.0.0.1:0"], None);
    let page = serving.get("/", "");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'"), "{page}");
    let name = campaign.finding("mod");
    let name = Path::new(&name).file_name().expect("a name").to_string_lossy();
    let file = serving.get(&format!("/files/{name}/input.smt2"), "");
    assert!(file.contains("content-type: text/plain") && file.contains("(mod x 5)"), "{file}");
    for path in [
        "/files/../campaign.db",
        &format!("/files/{name}/..%2f..%2fcampaign.db"),
        "/nothing",
        "/finding/x.html",
    ] {
        assert!(serving.get(path, "").starts_with("HTTP/1.1 404"), "{path}");
    }
    let head = {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&serving.address).expect("it listens");
        let asked = format!("HEAD / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", serving.address);
        stream.write_all(asked.as_bytes()).expect("asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    assert!(head.starts_with("HTTP/1.1 200") && !head.contains("<html"), "{head}");
    let settings = serving.get("/campaign.html", "");
    assert!(settings.contains("--engine seed --iterations 1"), "the very command line: {settings}");
    assert!(settings.contains(&format!("<li>osprey {}</li>", env!("CARGO_PKG_VERSION"))), "{settings}");
    let rebound = serving.get("/", "Host: evil.example\r\n");
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
    let port = serving.address.clone();
    let taken = run(&["serve", &campaign.out, "--listen", &port]);
    assert_eq!(taken.status.code(), Some(2), "{}", text(&taken));
    assert!(
        complaint(&taken).contains("in use") && complaint(&taken).contains("--listen"),
        "{}",
        complaint(&taken)
    );
}

#[test]
fn beyond_this_machine_a_token_opens_and_nothing_else() {
    let Some(campaign) = TwoBugs::new() else { return };
    campaign.find_one();
    let without =
        osprey(&["serve", &campaign.out, "--listen", "0.0.0.0:0"]).env_remove("OSPREY_TOKEN").output();
    let without = without.expect("refused");
    assert_eq!(without.status.code(), Some(2), "{}", text(&without));
    assert!(complaint(&without).contains("OSPREY_TOKEN"), "{}", complaint(&without));
    let weak = osprey(&["serve", &campaign.out]).env("OSPREY_TOKEN", "1234").output().expect("refused");
    assert_eq!(weak.status.code(), Some(2), "{}", text(&weak));

    let token = "0123456789abcdef0123";
    let serving = Serving::start(&[&campaign.out, "--listen", "127.0.0.1:0"], Some(token));
    assert!(serving.get("/", "").starts_with("HTTP/1.1 401"));
    assert!(serving.get("/?token=0123456789abcdef0124", "").starts_with("HTTP/1.1 401"));
    assert!(serving.get("/", &format!("Authorization: Bearer {token}\r\n")).starts_with("HTTP/1.1 200"));
    let led = serving.get(&format!("/?token={token}"), "");
    assert!(led.starts_with("HTTP/1.1 303") && led.contains("set-cookie: osprey-"), "{led}");
    let cookie = led.split("set-cookie: ").nth(1).and_then(|rest| rest.split(';').next()).expect("a cookie");
    assert!(serving.get("/", &format!("Cookie: {cookie}\r\n")).starts_with("HTTP/1.1 200"));
}

#[test]
fn what_is_no_campaign_or_an_empty_one_is_told() {
    let place = Folder::new();
    for (folder, said) in [(place.path("none"), "no such folder"), (place.path(""), "neither campaign.db")] {
        for command in ["report", "serve", "findings"] {
            let asked = run(&[command, &folder]);
            assert_eq!(asked.status.code(), Some(2), "{}", text(&asked));
            assert!(complaint(&asked).contains(said), "{command}: {}", complaint(&asked));
        }
    }
    std::fs::create_dir_all(place.path("empty/bugs")).expect("a folder");
    let made = run(&["report", &place.path("empty"), "-o", &place.path("report")]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    assert!(text(&made).contains("nothing found"), "{}", text(&made));
    assert!(place.read("report/index.html").contains("Nothing found"));
    assert!(place.read("report/junit.xml").contains("failures=\"0\""));
    place.file("precious.txt", "mine");
    let refused = run(&["report", &place.path("empty"), "-o", &place.path("")]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(complaint(&refused).contains("choose another folder"), "{}", complaint(&refused));
    assert_eq!(place.read("precious.txt"), "mine");
}

#[test]
fn a_mark_is_kept_shown_and_heeded_by_later_campaigns_and_another_release_is_asked() {
    let Some(campaign) = TwoBugs::new() else { return };
    campaign.find_one();
    let finding = campaign.finding("mod");
    let link = "https://github.com/Z3Prover/z3/issues/1";
    let mark = |words: &[&str]| {
        let marked = run(&[&["findings", "mark", &finding], words].concat());
        assert_eq!(marked.status.code(), Some(0), "{}", text(&marked));
    };
    mark(&["--as", "reported", "--link", link, "--note", "told <b>them</b>"]);
    let listed = text(&run(&["findings", &campaign.out]));
    assert!(listed.contains("marked: reported, told <b>them</b>, https://"), "{listed}");
    let junit = text(&run(&["report", &campaign.out, "--format", "junit"]));
    assert!(junit.contains("failures=\"0\" skipped=\"1\"") && junit.contains("told &lt;b&gt;"), "{junit}");
    let shown = text(&run(&["findings", "show", &finding]));
    assert!(shown.contains("marked: reported") && shown.contains("## Expected"), "{shown}");
    let markdown = text(&run(&["report", &campaign.out, "--format", "markdown"]));
    assert!(markdown.contains("1 bug in") && markdown.contains("| reported |"), "{markdown}");

    // A finding that is all there is, as of `osprey perf` or sent by somebody, can be marked too.
    std::fs::create_dir_all(campaign.place.path("sent/bugs")).expect("a folder");
    let sent = campaign.place.path("sent/bugs/one");
    std::fs::rename(&finding, &sent).expect("moved");
    let marked = run(&["findings", "mark", &sent, "--as", "known", "--note", "one\nline"]);
    assert_eq!(marked.status.code(), Some(0), "{}", text(&marked));
    let listed = text(&run(&["findings", &campaign.place.path("sent")]));
    assert!(listed.contains("marked: known, one line"), "{listed}");
    std::fs::rename(&sent, &finding).expect("moved back");
    mark(&["--as", "reported", "--link", link]);

    let seed = campaign.place.path("seeds/remainder.smt2");
    let solver = format!("'{}'", campaign.place.path("z3"));
    let later = |out: &str| {
        let words =
            ["fuzz", &seed, "-s", &solver, "--reference", "z3@5.4.0", "--engine", "seed", "--jobs", "1"];
        let rest = ["--iterations", "1", "--reduce-all", "--known", &campaign.out, "--out"];
        let ran = run(&[&words[..], &rest, &[&campaign.place.path(out)]].concat());
        ran.status.code()
    };
    assert_eq!(later("second"), Some(0), "a reported bug is no news");
    mark(&["--as", "fixed"]);
    assert_eq!(later("third"), Some(10), "one that was fixed is");
    mark(&["--clear"]);
    assert!(!text(&run(&["findings", &campaign.out])).contains("marked:"));

    let fixed = run(&["findings", "recheck", &campaign.out, "-s", "z3@5.4.0"]);
    assert_eq!(fixed.status.code(), Some(0), "{}", text(&fixed));
    assert!(text(&fixed).contains("fixed on z3@5.4.0 (sat)"), "{}", text(&fixed));
    let still = run(&["findings", "recheck", &campaign.out, "-s", &solver]);
    assert_eq!(still.status.code(), Some(10), "{}", text(&still));
    assert!(text(&still).contains("still there"), "{}", text(&still));
    assert!(text(&run(&["findings", &campaign.out])).contains("z3@5.4.0: fixed (sat)"));
    let other = run(&["findings", "recheck", &campaign.out, "-s", "cvc5@1.4.2"]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
}

#[test]
fn a_campaign_on_a_server_is_reported_and_marked_by_its_address() {
    let Some(campaign) = TwoBugs::new() else { return };
    let Some(server) = postgres::postgres() else { return };
    let address = server.url();
    let home = campaign.place.path("home");
    let ask = |words: &[&str]| {
        let mut command = osprey(words);
        command.env("PGPASSWORD", PASSWORD);
        if words[0] != "fuzz" {
            // Copies of campaigns are kept there.
            command.env("OSPREY_HOME", &home);
        }
        command.output().expect("osprey starts")
    };
    let (seeds, solver) =
        (campaign.place.path("seeds/remainder.smt2"), format!("'{}'", campaign.place.path("z3")));
    let words = ["fuzz", &seeds, "-s", &solver, "--reference", "z3@5.4.0", "--engine", "seed", "--jobs", "1"];
    let rest = ["--iterations", "1", "--reduce-all", "--store", &address, "--out", &campaign.out];
    let found = ask(&[&words[..], &rest].concat());
    assert_eq!(found.status.code(), Some(10), "{}", text(&found));
    let report = campaign.place.path("report");
    let made = ask(&["report", &address, "-o", &report]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    let page = campaign.place.read("report/index.html");
    assert!(page.contains("1 bug in") && page.contains("schema=test_") && !page.contains(PASSWORD), "{page}");
    let marked = ask(&["findings", "mark", &campaign.finding("mod"), "--as", "known"]);
    assert_eq!(marked.status.code(), Some(0), "{}", text(&marked));
    let listed = text(&ask(&["findings", &address]));
    assert!(listed.contains("marked: known"), "the mark is on the server: {listed}");
}
