//! `report.md`: what a developer gets to see of a finding, ready to paste into the solver's tracker.

use eval::Expectation;
use oracle::Kind;
use reduce::blame::{Blamed, OPTION, Role, TACTIC};
use smtlib::Status;

use super::finding::{Finding, Releases, RunRecord, Small};
use super::repro::{Repro, WITH_MODEL, vouching};
use super::signature::essential;
use super::steering::needed_steering;
use super::{Fairness, Stage};
use crate::foreign::{code_block, prose};

/// Inputs up to this length are in the report itself.
const INLINE: usize = 20_000;

/// Constructs that the headline names.
const NAMED: usize = 4;

/// The texts a report shows.
#[derive(Clone, Copy, Debug)]
pub struct ReportTexts<'a> {
    /// The script that shows the bug, as small as it got.
    pub script: &'a str,
    /// A model that satisfies it.
    pub witness: Option<&'a str>,
    /// The script with the model put in.
    pub ground: Option<&'a str>,
}

impl<'a> ReportTexts<'a> {
    pub fn of(small: &'a Small) -> ReportTexts<'a> {
        ReportTexts {
            script: &small.script,
            witness: small.witness.as_deref(),
            ground: small.ground.as_deref(),
        }
    }
}

/// The bug in one line: who, what, and the constructs and options that are left.
pub fn headline(finding: &Finding, script: &str) -> String {
    let who = match finding.runs.first() {
        Some(run) if finding.accused.is_some() => titled(finding, run),
        _ => configurations(finding).join(" and "),
    };
    let said = finding.runs.first().and_then(|run| run.answers.get(finding.check.unwrap_or(0)));
    let said = said.map_or("no answer", String::as_str);
    let what = match (finding.kind, finding.answer) {
        (Kind::RefutationSoundness, _) => "answers unsat on a satisfiable script".to_owned(),
        (Kind::SolutionSoundness, _) => solution(finding),
        (Kind::InvalidModel, _) => "gives a model that does not satisfy the script".to_owned(),
        (Kind::Disagreement, _) => "contradict each other".to_owned(),
        (Kind::Crash, _) => format!("crashes{}", crash_place(finding)),
        (Kind::Incremental, _) => format!("answers {said} only after other checks (incremental solving)"),
        (Kind::UnsoundCore, _) => "gives an unsatisfiable core that is none".to_owned(),
        (Kind::WrongValue, _) => "gives values that contradict its model".to_owned(),
        (Kind::Performance, _) => "is far slower than others".to_owned(),
    };
    let constructs = constructs(finding, script);
    let named = constructs.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let left = match constructs.len() {
        0 => String::new(),
        count if count > NAMED => format!(": {named}, ..."),
        _ => format!(": {named}"),
    };
    format!("{who} {what}{left}{}", options(finding, script))
}

/// What the bug needs, where that is known; else all that the script has.
fn constructs(finding: &Finding, script: &str) -> Vec<String> {
    let is_told = |blamed: &&Blamed| {
        let name = &blamed.construct;
        !name.starts_with(OPTION) && !name.starts_with("logic ") && !is_plain(finding, name)
    };
    let plain = |name: &str| match name.strip_prefix(TACTIC) {
        Some(tactic) => format!("the tactic {tactic}"),
        None => name.to_owned(),
    };
    let to_blame: Vec<&Blamed> = finding.blame.to_blame().filter(is_told).collect();
    // What may only lead the solver to its wrong model is left out where something else is there.
    let mut named: Vec<&&Blamed> =
        to_blame.iter().filter(|blamed| !blamed.bystander && !blamed.observer).collect();
    if named.is_empty() {
        named = to_blame.iter().collect();
    }
    if !named.is_empty() {
        return named.into_iter().map(|blamed| plain(&blamed.construct)).collect();
    }
    let mut all: Vec<String> = essential(&finding.operators).into_iter().map(str::to_owned).collect();
    let steering = needed_steering(script, finding.kind, &finding.blame);
    all.extend(steering.iter().filter(|word| word.starts_with(TACTIC)).map(|word| plain(word)));
    all
}

/// Goes without saying: who looks at a wrong model has asked for it.
fn is_plain(finding: &Finding, construct: &str) -> bool {
    finding.kind == Kind::InvalidModel && construct == "get-model"
}

/// ` with smt.arith.solver=2`: on the command line, or set by the script.
fn options(finding: &Finding, script: &str) -> String {
    let Some(run) = finding.runs.first() else { return String::new() };
    let settings = run.settings.iter().map(|setting| format!("{}={}", setting.option, setting.value));
    let mut all: Vec<String> = run.user_options.iter().cloned().chain(settings).collect();
    let set = needed_steering(script, finding.kind, &finding.blame);
    all.extend(set.into_iter().filter(|word| !word.starts_with(TACTIC)));
    let unfair = match (run.unfair.as_slice(), run.too_many.as_slice()) {
        ([], []) => String::new(),
        ([], numbers) => format!(" (too many to report: {})", numbers.join("; ")),
        (names, _) => format!(" (its developers take no reports about {})", names.join(", ")),
    };
    if all.is_empty() { String::new() } else { format!(", with {}{unfair}", all.join(" ")) }
}

/// That a script has no model is proven by how it was made; else others say so.
fn solution(finding: &Finding) -> String {
    let derived = matches!(finding.expectation, Expectation::Derived(_)) && !finding.is_reduced();
    let place = finding.check.unwrap_or(0);
    let other =
        finding.runs.iter().skip(1).find(|run| run.answers.get(place).is_some_and(|one| one == "unsat"));
    match other.filter(|_| !derived) {
        Some(other) => format!("answers sat where {} answers unsat", other.solver),
        None => "answers sat on an unsatisfiable script".to_owned(),
    }
}

fn crash_place(finding: &Finding) -> String {
    let crash = finding.runs.first().and_then(|run| run.crash.as_ref());
    crash.map(|crash| format!(" ({})", crash.signature())).unwrap_or_default()
}

/// `Z3 4.8.7`; the program's name where the release is not known.
pub fn titled(finding: &Finding, run: &RunRecord) -> String {
    match (run.version.as_str(), &run.program) {
        ("", Some(program)) => program.rsplit('/').next().unwrap_or(program).to_owned(),
        ("", None) => finding.title.clone(),
        (version, _) => format!("{} {version}", finding.title),
    }
}

/// `report.md`.
pub fn markdown(finding: &Finding, shown: &ReportTexts, repro: &Repro) -> String {
    let mut out = format!("# {}\n\n", prose(&headline(finding, shown.script)));
    if finding.flaky {
        out += "The behaviour does not repeat in every run.\n\n";
    }
    match finding.fairness() {
        Fairness::Unfair => {
            let run = &finding.runs[0];
            let closed = match run.unfair.as_slice() {
                [] => Vec::new(),
                names => vec![format!("its developers take no reports about {}", names.join(", "))],
            };
            let why = [closed, run.too_many.clone()].concat().join("; ");
            out += &format!("**The options are not fair**: {}.\n\n", prose(&why));
        }
        Fairness::Default => {}
        other => out += &format!("Options: {}.\n\n", other.meaning()),
    }
    match &finding.stage {
        Stage::Pending { .. } => out += "The input has not been made small yet.\n\n",
        Stage::Reduced(shrunk) if !shrunk.finished => {
            out += "The input could be made smaller still: the time for that was up (`osprey reduce` goes on).\n\n";
        }
        Stage::Unreduced => out += &format!("{}\n\n", unreduced(finding)),
        Stage::Reduced(_) => {}
    }
    for run in finding.runs.iter().take(1) {
        let name = if finding.accused.is_some() { titled(finding, run) } else { run.solver.clone() };
        out += &section(&name, run);
    }
    out += &expected(finding);
    let compared = compared(finding);
    if !compared.is_empty() {
        out += "## For comparison\n\n";
        for run in compared {
            out += &section(&configuration(finding, run), run);
        }
    }
    out += &input(finding, shown);
    out += &needs(finding);
    out += &proof(finding, shown, repro);
    out += &again(finding, repro);
    out
}

/// Why the input is as large as it was found.
fn unreduced(finding: &Finding) -> &'static str {
    if finding.flaky {
        "The input could not be made smaller: for that the behaviour would have to repeat in every run."
    } else if finding.signature.names_a_place() {
        "The input has not been made smaller: the place of the crash tells it apart."
    } else {
        "The input could not be made smaller: the time was up, or the behaviour did not show when that was tried."
    }
}

/// The runs that a developer needs beside the first: the same solver with default options, one other solver, and somebody who
/// says otherwise. A search leaves many more, which say the same again.
fn compared(finding: &Finding) -> Vec<&RunRecord> {
    let Some((first, others)) = finding.runs.split_first() else { return Vec::new() };
    let place = finding.check.unwrap_or(0);
    let said =
        |run: &RunRecord| run.answers.get(place).filter(|one| *one == "sat" || *one == "unsat").cloned();
    let contradicts = |run: &&RunRecord| said(run).is_some() && said(run) != said(first);
    let is_same = |run: &&RunRecord| run.solver == first.solver;
    let default = others.iter().find(|run| is_same(run) && run.settings.is_empty());
    let foreign = || others.iter().filter(|run| !is_same(run));
    let other = foreign().find(contradicts).or_else(|| foreign().next());
    let mut chosen: Vec<&RunRecord> = default.into_iter().chain(other).collect();
    if finding.accused.is_none() {
        // Nobody knows who is right: every solver is heard.
        for run in foreign() {
            if !chosen.iter().any(|known| known.solver == run.solver) {
                chosen.push(run);
            }
        }
    }
    if !chosen.iter().any(contradicts) {
        chosen.extend(others.iter().find(contradicts));
    }
    if chosen.is_empty() {
        chosen.extend(others.first());
    }
    chosen
}

/// A solver, with its options where the finding has it with others too.
fn configuration(finding: &Finding, run: &RunRecord) -> String {
    let alone = finding.runs.iter().filter(|other| other.solver == run.solver).count() == 1;
    let settings: Vec<String> =
        run.settings.iter().map(|setting| format!("{}={}", setting.option, setting.value)).collect();
    match settings.is_empty() {
        _ if alone => run.solver.clone(),
        true => format!("{} with default options", run.solver),
        false => format!("{} with {}", run.solver, settings.join(" ")),
    }
}

/// Those that contradict each other: the first and whoever is compared with it.
fn configurations(finding: &Finding) -> Vec<String> {
    let all = finding.runs.iter().take(1).chain(compared(finding));
    all.map(|run| configuration(finding, run)).collect()
}

/// One run: whose, on what command line, what it said and how it ended.
fn section(name: &str, run: &RunRecord) -> String {
    let mut out = prose(name);
    if !run.origin.is_empty() {
        out += &format!(" ({})", prose(&run.origin));
    }
    out += ":\n\n";
    let mut text = format!("$ {}\n", run.command);
    for output in [run.stdout.trim_end(), run.stderr.trim_end()] {
        if !output.is_empty() {
            text += output;
            text.push('\n');
        }
    }
    out += &code_block("", &text);
    out.push('\n');
    if !run.ended.is_empty() {
        out += &format!("It ended with: {}.\n\n", prose(&run.ended));
    }
    if let Some(crash) = run.crash.as_ref().filter(|crash| !crash.frames.is_empty()) {
        out += match crash.overflow {
            true => "The stack had no room left. These functions call each other without end:\n\n",
            false => "The stack, innermost first:\n\n",
        };
        out += &code_block("", &crash.frames.join("\n"));
        out.push('\n');
    }
    out
}

/// What should have happened, and why.
fn expected(finding: &Finding) -> String {
    let right = match (finding.answer, finding.kind) {
        (Some(answer), _) => format!("`{}`", word(answer)),
        (None, Kind::InvalidModel) => {
            "a model under which every assertion is true, or another answer than `sat`".to_owned()
        }
        (None, Kind::Crash) => "an answer, or an error message; never a crash".to_owned(),
        (None, Kind::Disagreement) => "the same answer from all of them".to_owned(),
        (None, Kind::Incremental) => "the answer that the same assertions get by themselves".to_owned(),
        (None, Kind::UnsoundCore) => "a core that is unsatisfiable and names assertions".to_owned(),
        (None, Kind::WrongValue) => "the values of the model".to_owned(),
        (None, _) => "an answer in a time like that of the others".to_owned(),
    };
    let mut out = format!("## Expected\n\n{right}\n\n");
    let mut reasons = vec![finding.summary.clone()];
    reasons.extend(finding.evidence.iter().cloned());
    // The evidence names solvers. Where one solver contradicts itself, its configurations tell them apart.
    let first = finding.runs.first().map(|run| run.solver.as_str());
    let place = finding.check.unwrap_or(0);
    for run in compared(finding).into_iter().filter(|run| Some(run.solver.as_str()) == first) {
        if let Some(answer) = run.answers.get(place) {
            reasons.push(format!("{answer} by {}", configuration(finding, run)));
        }
    }
    for reason in &reasons {
        out += &format!("- {}\n", prose(reason));
    }
    out.push('\n');
    out
}

fn input(finding: &Finding, shown: &ReportTexts) -> String {
    let name = finding.script_name();
    match shown.script.len() <= INLINE {
        true => format!("## Input\n\n`{name}`:\n\n{}\n", code_block("smt2", shown.script)),
        false => format!("## Input\n\nIt is in the attached `{name}`.\n\n"),
    }
}

/// Which constructs it needs, and which bug it is another face of.
fn needs(finding: &Finding) -> String {
    let mut out = String::new();
    let to_blame: Vec<&Blamed> =
        finding.blame.to_blame().filter(|blamed| !is_plain(finding, &blamed.construct)).collect();
    let (needed, replaceable): (Vec<&Blamed>, Vec<&Blamed>) =
        to_blame.into_iter().partition(|blamed| blamed.needed > 0);
    if !needed.is_empty() || !replaceable.is_empty() || finding.blame.reached.is_some() {
        out += "## What it needs\n\n";
    }
    if !needed.is_empty() {
        out += "Nothing that was tried in the place of these keeps the misbehaviour, the most telling first:\n\n";
        for blamed in needed {
            out += &format!("- {}", told(blamed));
            if !blamed.stays_with.is_empty() {
                out += &format!("; at other places a form with {} keeps it", forms(blamed));
            }
            if blamed.bystander {
                out += " (only where the wrong model is right: it may be needed to lead the solver there)";
            }
            if blamed.observer {
                out += " (it may only show a wrong value that comes from elsewhere)";
            }
            out.push('\n');
        }
        out.push('\n');
    }
    if !replaceable.is_empty() {
        out += "These can be written in other ways, in which the misbehaviour stays:\n\n";
        for blamed in replaceable {
            out += &format!("- {}, by a form with {}\n", told(blamed), forms(blamed));
        }
        out.push('\n');
    }
    if let Some(reached) = &finding.blame.reached {
        let names: Vec<String> =
            reached.functions.iter().map(|name| format!("`{}`", name.replace('`', "'"))).collect();
        out += &format!(
            "Functions of the solver that this script reaches, and none of its {} likest variants without the \
             misbehaviour: {}.\n\n",
            reached.variants,
            names.join(", ")
        );
    }
    let untried: Vec<String> = finding
        .blame
        .constructs
        .iter()
        .filter(|blamed| blamed.untried && blamed.role == Role::Computes)
        .map(|blamed| format!("`{}`", blamed.construct.replace('`', "'")))
        .collect();
    if !untried.is_empty() {
        out += &format!("Nothing was tried in the place of {}.\n\n", untried.join(", "));
    }
    if let Some(group) = &finding.group {
        out += &format!("It is most likely the bug of `{}`: {}.\n\n", group.example, prose(&group.why));
    }
    out
}

/// A construct, and how common it is where that was counted.
fn told(blamed: &Blamed) -> String {
    let name = blamed.construct.replace('`', "'");
    match blamed.share {
        Some(share) if share < 0.0001 => format!("`{name}` (in hardly any other test case)"),
        Some(share) => format!("`{name}` (in {:.2} % of the test cases)", 100.0 * share),
        None => format!("`{name}`"),
    }
}

/// The constructs of forms that do as well.
fn forms(blamed: &Blamed) -> String {
    blamed
        .stays_with
        .iter()
        .map(|name| format!("`{}`", name.replace('`', "'")))
        .collect::<Vec<_>>()
        .join(", ")
}

/// How anybody can see that the answer or the model is wrong.
fn proof(finding: &Finding, shown: &ReportTexts, repro: &Repro) -> String {
    let with_model = repro.files.iter().find(|(name, _)| *name == WITH_MODEL).map(|(_, text)| text.as_str());
    if let Some(text) = with_model.filter(|text| text.len() <= INLINE) {
        if let Some(run) = vouching(finding) {
            return format!(
                "## How we know\n\nWith the model of {} put in as definitions (`{WITH_MODEL}`) the answer is `sat`, as said \
                 above:\n\n{}\n",
                prose(&run.solver),
                code_block("smt2", text)
            );
        }
        return format!(
            "## How we know\n\nWith its model put in as definitions (`{WITH_MODEL}`) the script is unsatisfiable:\n\n{}\n",
            code_block("smt2", text)
        );
    }
    if repro.open {
        return "## How we know\n\nUnder the printed model the assertion above is false. It is false by what the model says of a \
                case that the standard leaves open, such as an element out of bounds or a division by zero: no definition \
                in a script can say that, so there is no script with the model put in.\n\n"
            .to_owned();
    }
    match (shown.ground, shown.witness) {
        (Some(ground), _) if ground.len() <= INLINE => format!(
            "## How we know\n\nWith these values put in, every assertion is true, so the answer is `sat`:\n\n{}\n",
            code_block("smt2", ground)
        ),
        (_, Some(witness)) if witness.len() <= INLINE => format!(
            "## How we know\n\nThis model satisfies it; each assertion evaluates to true:\n\n{}\n",
            code_block("smt2", witness)
        ),
        (_, Some(_)) => {
            format!(
                "## How we know\n\nThe model in the attached `{}` satisfies it.\n\n",
                finding.witness_name()
            )
        }
        (_, None) => String::new(),
    }
}

/// Where it shows, and how to see it again.
fn again(finding: &Finding, repro: &Repro) -> String {
    let mut out = String::from("## To see it again\n\n");
    let beside: Vec<String> = repro.files.iter().map(|(name, _)| format!("`{name}`")).collect();
    let beside = if beside.is_empty() { String::new() } else { format!(" (with {})", beside.join(" and ")) };
    out += &format!(
        "`./repro.sh [SOLVER]`{beside} runs the input and tells what it expects and what it sees. Its exit code is 1 if \
         the bug shows, 0 if it does not and 125 if that cannot be told, so that \
         `git bisect run sh -c 'make || exit 125; FINDING/repro.sh BUILT'` finds the commit, where `make` builds the \
         solver at BUILT and FINDING is this folder.\n"
    );
    if finding.kind == Kind::Crash {
        out += "With `BACKTRACE=1` it shows the stack, if gdb is there.\n";
    }
    out.push('\n');
    if let Some(releases) = &finding.releases {
        out += &affected(releases);
    }
    if !finding.platform.is_empty() {
        out += &format!("- Platform: {}\n", prose(&finding.platform));
    }
    out + &format!(
        "- Found by osprey {} with the engine {}\n",
        finding.osprey,
        prose(&finding.provenance.engine)
    )
}

fn affected(releases: &Releases) -> String {
    let listed = |names: &[String]| match names {
        [] => "none of those tried".to_owned(),
        names => prose(&names.join(", ")),
    };
    let mut out = format!("- Affected releases: {}\n", listed(&releases.affected));
    if !releases.inferred.is_empty() {
        out += &format!(
            "- Most likely affected, between those (not asked, or no answer): {}\n",
            listed(&releases.inferred)
        );
    }
    out += &format!("- Not affected: {}\n", listed(&releases.clean));
    if let Some(good) = &releases.last_good {
        out += &format!("- The last one without it before, of those asked: {}\n", prose(good));
    }
    if let Some(fixed) = &releases.first_fixed {
        out += &format!("- The first one without it afterwards, of those asked: {}\n", prose(fixed));
    }
    if !releases.lucky.is_empty() {
        let names = listed(&releases.lucky);
        out += &format!("- Right here, between affected ones, most likely by luck: {names}\n");
    }
    if !releases.silent.is_empty() {
        out += &format!("- Not known (no answer, or not asked): {}\n", listed(&releases.silent));
    }
    if !releases.unable.is_empty() {
        let names = listed(&releases.unable);
        out += &format!("- Not asked, since they cannot read the script: {names}\n");
    }
    out
}

pub fn word(answer: Status) -> &'static str {
    match answer {
        Status::Sat => "sat",
        Status::Unsat => "unsat",
        Status::Unknown => "unknown",
    }
}
