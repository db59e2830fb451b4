//! A report of findings that were made up: their order, their pages, the other formats.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use campaign::findings::{Handling, Mark, MarkState, Releases, Small};
use campaign::store::{Counts, DEFAULT_OPTIONS, Delta, OPTION, Place, Sample};
use campaign::{Finding, Identity};
use oracle::Kind;
use report::{Entry, Reader, ReportError, bugs};

/// A finding of Z3 4.8.7 by the name of its signature, with nothing special about it.
fn finding(name: &str, kind: Kind) -> Finding {
    let text = serde_json::json!({
        "osprey": "0.1.0", "found": 1, "kind": kind, "solver": "z3@4.8.7", "title": "Z3",
        "summary": "Z3 4.8.7 answered <unsat>", "signature": name, "flaky": false,
        "expectation": { "answer": "sat", "derived": null, "why": ["because of <script>alert(1)</script>"] },
        "runs": [{ "solver": "z3@4.8.7", "version": "4.8.7", "command": "z3 '<b>.smt2'", "models": false,
            "class": "answered", "answers": ["unsat"], "stdout": "unsat\n<script>alert(2)</script>\u{202e}", "stderr": "",
            "cpu_ms": 3 }],
        "operators": ["mod"],
        "reduced": { "before": { "nodes": 9, "bytes": 90 }, "after": { "nodes": 5, "bytes": 30 }, "candidates": 7,
            "seconds": 1.0, "finished": true },
        "provenance": { "rng_seed": 1, "round": 2, "step": 3, "engine": "opfuzz", "logic": "ALL", "company": [0],
            "seeds": [{ "name": "<img src=x>.smt2", "hash": "0", "generated": false }], "script": "00", "changes": [],
            "feedback": [] }
    });
    serde_json::from_value(text).expect("a finding")
}

fn affected(finding: Finding, releases: &[&str]) -> Finding {
    let affected = releases.iter().map(ToString::to_string).collect();
    Finding { releases: Some(Releases { affected, ..Releases::default() }), ..finding }
}

fn with_option(mut finding: Finding) -> Finding {
    finding.runs[0].settings.push(smtlib::Setting::new("smt.arith.solver", "2".to_owned()));
    finding
}

fn unfair(mut finding: Finding) -> Finding {
    finding.runs[0].unfair.push("smt.arith.solver".into());
    finding
}

fn marked(finding: Finding, state: MarkState) -> Finding {
    let mark = Some(Mark { state, note: String::new(), link: "javascript:alert(3)".into(), at: 1 });
    Finding { handling: Handling { mark, rechecks: Vec::new() }, ..finding }
}

fn entry(finding: Finding) -> Entry {
    let name = finding.signature.to_string();
    Entry {
        folder: PathBuf::from(&name),
        duplicates: 0,
        bug: finding.hash(),
        headline: name,
        finding: Arc::new(finding),
    }
}

const SCRIPT: &str =
    "(declare-const |</pre><script>alert(4)</script>| Int)\n(assert (= (mod 1 2) 1))\n(check-sat)\n";

/// A campaign with these findings and a store.
fn campaign(findings: &[Finding]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let bugs = folder.path().join("bugs");
    std::fs::create_dir(&bugs).expect("a folder");
    for finding in findings {
        let small = Small { script: SCRIPT.to_owned(), witness: Some("((x 1))".into()), ground: None };
        finding.write(&bugs, SCRIPT, None, Some(&small)).expect("written");
    }
    let place = Place::Folder(folder.path().to_owned());
    place.create(&Identity::of_runs(Duration::from_secs(2), 1024, 7), &[]).expect("a store");
    let sample =
        |at| Sample { at, engine: "<i>".into(), tests: 5, cpu: 1_000_000, findings: 1, ..Sample::default() };
    let now = campaign::store::now();
    let mut delta = Delta { samples: vec![sample(now), sample(now + 10)], ..Delta::default() };
    delta.totals.tests = 10;
    delta.totals.elapsed = 2000;
    delta.totals.refusals.count("line 1: <script>alert(5)</script>".into());
    delta.totals.commands.count("osprey fuzz '<script>alert(6)</script>' --diver-uniform".into());
    delta.totals.versions.count("z3@4.8.7: the PyPI package z3-solver 4.8.7".into());
    delta.learned.add(OPTION, DEFAULT_OPTIONS, &Counts { tests: 8, ..Counts::default() });
    place.open().and_then(|mut store| store.merge(&delta)).expect("counted");
    folder
}

#[test]
fn the_most_important_bug_comes_first() {
    let wanted = [
        affected(
            finding("unsat for sat in a new release", Kind::RefutationSoundness),
            &["z3@4.8.7", "z3@5.4.0"],
        ),
        finding("unsat for sat", Kind::RefutationSoundness),
        with_option(finding("unsat for sat with an option", Kind::RefutationSoundness)),
        finding("sat for unsat", Kind::SolutionSoundness),
        finding("a wrong model", Kind::InvalidModel),
        finding("a crash", Kind::Crash),
        finding("slow", Kind::Performance),
        unfair(with_option(finding("unsat for sat with an expert's option", Kind::RefutationSoundness))),
        marked(finding("reported", Kind::RefutationSoundness), MarkState::Reported),
        marked(finding("not a bug", Kind::RefutationSoundness), MarkState::NotABug),
    ];
    let given: Vec<Entry> = wanted.iter().rev().cloned().map(entry).collect();
    let order: Vec<String> = bugs(given, &[]).into_iter().map(|bug| bug.example.headline).collect();
    let wanted: Vec<String> = wanted.into_iter().map(|finding| finding.signature.to_string()).collect();
    assert_eq!(order, wanted);
}

#[test]
fn a_bug_in_the_newest_release_of_one_solver_comes_before_one_in_an_old_release_of_another() {
    let mut old = affected(finding("fixed since", Kind::Crash), &["z3@4.8.7"]);
    old.releases.as_mut().expect("releases").clean.push("z3@5.4.0".into());
    let mut new = finding("still there", Kind::Crash);
    new.solver = "cvc5@1.4.2".into();
    new.title = "cvc5".into();
    new.runs[0].solver.clone_from(&new.solver);
    new.runs[0].version = "1.4.2".into();
    let mut build = finding("in a build", Kind::Crash);
    build.solver = "/build/z3".into();
    build.runs[0].solver.clone_from(&build.solver);
    build.runs[0].version = "5.5.0".into();
    let order = |findings: &[&Finding]| -> Vec<String> {
        let entries = findings.iter().map(|one| entry((*one).clone())).collect();
        bugs(entries, &[]).into_iter().map(|bug| bug.example.headline).collect()
    };
    assert_eq!(order(&[&old, &new]), ["still there", "fixed since"]);
    assert_eq!(order(&[&old, &build]), ["in a build", "fixed since"]);
}

#[test]
fn faces_of_a_bug_are_one_and_the_newest_mark_counts() {
    let one = finding("one", Kind::Crash);
    let mut other = marked(finding("other", Kind::RefutationSoundness), MarkState::Known);
    other.group =
        Some(campaign::findings::Membership { id: one.hash(), example: String::new(), why: String::new() });
    let id = one.hash();
    let entries = vec![entry(one), Entry { bug: id, ..entry(other) }];
    let all = bugs(entries, &[]);
    let [bug] = &all[..] else { panic!("{all:?}") };
    assert_eq!(
        (bug.kind, bug.state(), bug.faces.len(), bug.shown),
        (Kind::RefutationSoundness, "known", 1, 2)
    );
    assert_eq!(bug.example.headline, "other", "the graver kind is the clearer example");
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_nothing_foreign_is_markup() {
    let findings = [
        finding("one", Kind::RefutationSoundness),
        marked(finding("two", Kind::Crash), MarkState::Reported),
        with_option(finding("three", Kind::InvalidModel)),
    ];
    let campaign = campaign(&findings);
    let overview = Reader::new(campaign.path(), "<u>night").expect("a campaign").read().expect("read");
    let to = tempfile::tempdir().expect("a folder");
    let written = report::write(&overview, campaign.path(), to.path()).expect("written");
    let pages: Vec<PathBuf> = files(to.path())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .collect();
    assert_eq!(pages.len(), 6, "{pages:?}");
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("a page");
        for tag in
            ["<script>", "<img src=x", "<u>", "<i>", "<b>.", "javascript:", "style=", "\u{202e}", " onerror"]
        {
            let is_link = tag == "javascript:" && !text.contains("href=\"javascript:");
            assert!(is_link || !text.contains(tag), "{tag} in {}", page.display());
        }
        for link in text
            .split(" href=\"")
            .chain(text.split(" src=\""))
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            if link.starts_with('#') || link.starts_with("<!") {
                continue;
            }
            let path = page.parent().expect("a folder").join(link);
            assert!(path.exists(), "{link} in {}", page.display());
        }
    }
    let first = std::fs::read_to_string(&written.index).expect("a page");
    assert!(first.contains("Look at these first") && first.contains("unsat for sat"), "{first}");
}

#[test]
fn a_report_takes_the_place_of_an_earlier_one_and_of_nothing_else() {
    let with = campaign(&[finding("one", Kind::Crash), finding("two", Kind::Crash)]);
    let without = campaign(&[finding("one", Kind::Crash)]);
    let to = tempfile::tempdir().expect("a folder");
    for campaign in [&with, &without] {
        let overview = Reader::new(campaign.path(), "night").expect("a campaign").read().expect("read");
        report::write(&overview, campaign.path(), to.path()).expect("written");
    }
    assert_eq!(files(&to.path().join("finding")).len(), 1, "the page of the other finding is gone");
    let overview = Reader::new(with.path(), "night").expect("a campaign").read().expect("read");
    let refused = report::write(&overview, with.path(), with.path()).expect_err("refused");
    assert!(matches!(refused, ReportError::Occupied(_)), "{refused}");
}

#[test]
fn other_programs_get_rows_test_cases_and_json() {
    let findings = [finding("one", Kind::Crash), marked(finding("two", Kind::Crash), MarkState::Known)];
    let campaign = campaign(&findings);
    let overview = Reader::new(campaign.path(), "night").expect("a campaign").read().expect("read");
    let csv = report::csv(&overview);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let columns = csv.lines().next().expect("a heading").split(',').count();
    assert_eq!(columns, 19);
    let junit = report::junit(&overview);
    assert!(junit.contains("tests=\"2\" failures=\"1\" skipped=\"1\""), "{junit}");
    assert!(!junit.contains("<script>"), "{junit}");
    let json: serde_json::Value = serde_json::from_str(&report::json(&overview)).expect("JSON");
    assert_eq!(json["bugs"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["totals"]["tests"], 10);
    assert_eq!(json["samples"].as_array().map(Vec::len), Some(2), "what curves are made of");
    assert_eq!(json["learned"][0][1], DEFAULT_OPTIONS);
    let markdown = report::markdown(&overview);
    assert!(markdown.starts_with("# 2 bugs in") && !markdown.contains(" <unsat>"), "{markdown}");
}

#[test]
fn every_format_says_which_options_are_not_fair_whatever_policy_chose_them() {
    let mut judged = with_option(finding("a", Kind::Crash));
    judged.runs[0].judged = true;
    let findings = [judged, unfair(with_option(finding("b", Kind::RefutationSoundness)))];
    let campaign = campaign(&findings);
    let overview = Reader::new(campaign.path(), "night").expect("a campaign").read().expect("read");
    let rows: Vec<String> = report::csv(&overview).lines().map(str::to_owned).collect();
    assert!(rows[1].contains(",fair,") && rows[2].contains(",unfair,"), "{rows:?}");
    let json: serde_json::Value = serde_json::from_str(&report::json(&overview)).expect("JSON");
    let fair: Vec<&str> =
        (0..2).filter_map(|place| json["bugs"][place]["example"]["fair"].as_str()).collect();
    assert_eq!(fair, ["fair", "unfair"]);
    let markdown = report::markdown(&overview);
    assert!(markdown.contains("| unfair |") && markdown.contains("| fair |"), "{markdown}");
    let to = tempfile::tempdir().expect("a folder");
    report::write(&overview, campaign.path(), to.path()).expect("written");
    let page = plain(&std::fs::read_to_string(to.path().join("index.html")).expect("a page"));
    assert!(page.contains("not fair: options that the developers take no reports about"), "{page}");
}

/// A page without its tags.
fn plain(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pages_tell_how_the_campaign_was_started_and_which_options_bugs_need() {
    let findings = [finding("one", Kind::Crash), finding("two", Kind::Crash)];
    let campaign = campaign(&[&findings[..], &[with_option(finding("three", Kind::Crash))]].concat());
    let overview = Reader::new(campaign.path(), "night").expect("a campaign").read().expect("read");
    let to = tempfile::tempdir().expect("a folder");
    report::write(&overview, campaign.path(), to.path()).expect("written");
    let page = |name: &str| plain(&std::fs::read_to_string(to.path().join(name)).expect("a page"));
    let settings = page("campaign.html");
    assert!(
        settings.contains("osprey fuzz '&lt;script&gt;alert(6)&lt;/script&gt;' --diver-uniform"),
        "{settings}"
    );
    assert!(settings.contains("Versions z3@4.8.7: the PyPI package"), "{settings}");
    let time = page("time.html");
    assert!(time.contains("default options 2 8"), "two bugs need no option: {time}");
    assert!(time.contains("smt.arith.solver 1 –"), "nobody has counted its runs: {time}");
    assert!(page("index.html").contains("3 crashes"));
}

#[test]
fn a_link_in_the_folder_of_a_finding_leads_nowhere() {
    let campaign = campaign(&[finding("one", Kind::Crash)]);
    let secret = campaign.path().join("secret");
    std::fs::write(&secret, "nobody's business").expect("written");
    let reader = || Reader::new(campaign.path(), "night").expect("a campaign").read().expect("read");
    let folder = reader().bugs[0].example.folder.clone();
    for file in ["reduced.smt2", "report.md"] {
        std::fs::remove_file(folder.join(file)).expect("removed");
        std::os::unix::fs::symlink(&secret, folder.join(file)).expect("a link");
    }
    let overview = reader();
    let to = tempfile::tempdir().expect("a folder");
    report::write(&overview, campaign.path(), to.path()).expect("written");
    let told = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("business"));
    assert_eq!(files(to.path()).into_iter().filter(told).collect::<Vec<_>>(), Vec::<PathBuf>::new());
    assert!(
        !report::junit(&overview).contains("business") && !report::markdown(&overview).contains("business")
    );
}

#[test]
fn a_report_that_is_cut_short_leaves_no_first_page_and_needs_a_folder() {
    let campaign = campaign(&[finding("one", Kind::Crash)]);
    let overview = Reader::new(campaign.path(), "night").expect("a campaign").read().expect("read");
    let to = tempfile::tempdir().expect("a folder");
    let written = report::write(&overview, campaign.path(), to.path()).expect("written");
    std::fs::remove_file(to.path().join("style.css")).expect("removed");
    std::fs::create_dir(to.path().join("style.css")).expect("in the way");
    let failed = report::write(&overview, campaign.path(), to.path()).expect_err("cut short");
    assert!(failed.is_disk() && !written.index.exists(), "{failed}");
    let refused = report::write(&overview, campaign.path(), &campaign.path().join("campaign.db"));
    assert!(matches!(refused, Err(ReportError::NoFolder(_))), "{refused:?}");
}

#[test]
fn a_session_of_performance_fuzzing_without_findings_has_a_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = serde_json::json!({
        "target": "z3@5.4.0", "references": ["cvc5@1.4.2"], "logic": "QF_FP", "limit": 2.0, "unit": "CPU seconds",
        "methods": [{ "method": "bandit", "runs": 1, "margin": 0.25, "perfect": 4.0, "inputs": 10, "cpu": 7.0 }],
        "ranking": []
    });
    std::fs::write(folder.path().join("results.json"), results.to_string()).expect("written");
    std::fs::write(folder.path().join("cactus.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>")
        .expect("written");
    let overview = Reader::new(folder.path(), "perf").expect("a session").read().expect("read");
    assert_eq!(overview.notes, Vec::<String>::new());
    let to = tempfile::tempdir().expect("a folder");
    report::write(&overview, folder.path(), to.path()).expect("written");
    let page = |name: &str| plain(&std::fs::read_to_string(to.path().join(name)).expect("a page"));
    assert!(
        page("index.html").contains("No input was found on which z3@5.4.0 is far slower"),
        "{}",
        page("index.html")
    );
    assert!(page("campaign.html").contains("bandit 1 0.250 4.0 10 7"), "{}", page("campaign.html"));
    assert!(to.path().join("cactus.svg").is_file());
}

#[test]
fn a_campaign_whose_folder_is_gone_is_told() {
    let folder = campaign(&[finding("one", Kind::Crash)]);
    let mut reader = Reader::new(folder.path(), "night").expect("a campaign");
    reader.read().expect("read");
    let bugs = Reader::new(&folder.path().join("bugs"), "night").err().expect("refused");
    assert!(bugs.to_string().contains("name the folder in which it is"), "{bugs}");
    folder.close().expect("removed");
    let gone = reader.read().expect_err("gone");
    assert!(gone.to_string().contains("any more"), "{gone}");
}

#[test]
fn a_folder_without_a_store_has_findings_and_says_what_is_missing() {
    let folder = campaign(&[finding("one", Kind::Crash)]);
    std::fs::remove_file(folder.path().join("campaign.db")).expect("removed");
    let overview = Reader::new(folder.path(), "night").expect("a campaign").read().expect("read");
    assert_eq!(overview.bugs.len(), 1);
    assert!(overview.notes[0].contains("holds no campaign"), "{:?}", overview.notes);
    let one = folder.path().join("bugs").join(overview.bugs[0].example.name());
    let refused = Reader::new(&one, "one").err().expect("refused");
    assert!(refused.to_string().contains("the folder of one finding"), "{refused}");
}
