//! Single steps of a reduction, and scripts with steps applied.

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Command, Definition, Fun, Head, Path, Script, Store, Symbol, Term};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Leave out a command, by place.
    Drop(usize),
    /// Put another command in its place.
    Command(usize, Command),
    /// A term in place of another one of its sort, everywhere.
    Term(Term, Term),
    /// Leave out an argument of an operator, everywhere.
    DropArg(Term, usize),
    /// A term at one place of one command's term (by number) only.
    At(usize, usize, Path, Term),
    /// A new constant in place of a term, declared before it is used.
    Fresh(Term, Fun),
    /// A term in place of a declared constant, whose declaration goes.
    Eliminate(Fun, Term),
}

/// The script with all these steps; nothing if they change nothing or do not fit together.
pub fn applied(store: &mut Store, script: &Script, edits: &[Edit]) -> Option<Script> {
    let mut terms: FxHashMap<Term, Term> = FxHashMap::default();
    let mut args: Vec<(Term, Vec<usize>)> = Vec::new();
    let mut dropped: FxHashSet<usize> = FxHashSet::default();
    let mut gone: FxHashSet<Fun> = FxHashSet::default();
    let mut declared: Vec<Fun> = Vec::new();
    let mut script = script.clone();
    for edit in edits {
        match edit {
            Edit::Drop(place) => {
                dropped.insert(*place);
            }
            Edit::Command(place, command) => *script.commands.get_mut(*place)? = command.clone(),
            Edit::Term(from, to) => {
                terms.insert(*from, *to);
            }
            Edit::DropArg(term, arg) => match args.iter_mut().find(|(other, _)| other == term) {
                Some((_, places)) => places.push(*arg),
                None => args.push((*term, vec![*arg])),
            },
            Edit::At(place, number, path, to) => {
                let command = script.commands.get(*place)?.clone();
                let mut roots = Vec::new();
                command.terms(store, &mut roots);
                let root = *roots.get(*number)?;
                roots[*number] = store.replace_at(root, path, *to).ok()?;
                let mut renewed = FxHashMap::default();
                script.commands[*place] = with_roots(store, &command, &roots, &mut renewed)?;
                // A changed definition has a new identity; its calls follow below.
                if !renewed.is_empty() {
                    script = recalled(store, &script, renewed)?;
                }
            }
            Edit::Fresh(from, fun) => {
                let constant = store.call(*fun, &[]).ok()?;
                terms.insert(*from, constant);
                declared.push(*fun);
            }
            Edit::Eliminate(fun, to) => {
                let constant = store.call(*fun, &[]).ok()?;
                terms.insert(constant, *to);
                gone.insert(*fun);
            }
        }
    }
    for (term, places) in args {
        let kept: Vec<Term> = store
            .args(term)
            .to_vec()
            .into_iter()
            .enumerate()
            .filter(|(place, _)| !places.contains(place))
            .map(|(_, arg)| arg)
            .collect();
        let new = match kept.as_slice() {
            [] => return None,
            [one] if store.sort_of(*one) == store.sort_of(term) => *one,
            kept => store.rebuild(term, kept).ok()?,
        };
        if store.sort_of(new) != store.sort_of(term) {
            return None;
        }
        terms.entry(term).or_insert(new);
    }
    let mut place = 0;
    script.commands.retain(|command| {
        let keep = !dropped.contains(&place)
            && !matches!(command, Command::DeclareFun(fun) | Command::DeclareConst(fun) if gone.contains(fun));
        place += 1;
        keep
    });
    if !terms.is_empty() {
        script = substituted(store, &script, &terms)?;
    }
    if !declared.is_empty() {
        let before = |command: &Command| {
            matches!(
                command,
                Command::SetLogic(_)
                    | Command::SetOption(..)
                    | Command::SetInfo(..)
                    | Command::DeclareSort(_)
                    | Command::DefineSort { .. }
                    | Command::DeclareDatatypes(_)
                    | Command::DeclareFun(_)
                    | Command::DeclareConst(_)
            )
        };
        let place =
            script.commands.iter().position(|command| !before(command)).unwrap_or(script.commands.len());
        script.commands.splice(place..place, declared.into_iter().map(Command::DeclareConst));
    }
    Some(script)
}

/// The script with terms replaced everywhere, in the bodies of definitions too. A variable that a term and its
/// replacement mention is the same one.
pub fn substituted(store: &mut Store, script: &Script, map: &FxHashMap<Term, Term>) -> Option<Script> {
    let in_place = map.iter().all(|(old, new)| fits_in_place(store, *old, *new));
    let mut renewed: FxHashMap<Fun, Fun> = FxHashMap::default();
    let mut commands = Vec::with_capacity(script.commands.len());
    for command in &script.commands {
        let mut roots = Vec::new();
        command.terms(store, &mut roots);
        let mut changed = false;
        for root in &mut roots {
            let new =
                if in_place { store.replace_in_place(*root, map) } else { store.substitute(*root, map) };
            let mut new = new.ok()?;
            if !renewed.is_empty() {
                new = calling(store, new, &renewed)?;
            }
            changed |= new != *root;
            *root = new;
        }
        commands.push(if changed {
            with_roots(store, command, &roots, &mut renewed)?
        } else {
            command.clone()
        });
    }
    Some(Script { commands })
}

/// Whether a replacement means the same under all binders that a term may stand under: it has no variables that the term
/// has not, and no new symbols with the name of a variable.
fn fits_in_place(store: &Store, old: Term, new: Term) -> bool {
    let free = store.free_vars(old);
    if !store.free_vars(new).iter().all(|var| free.contains(var)) {
        return false;
    }
    let names = |root: Term| -> Vec<Symbol> {
        let funs = store.subterms(&[root]).into_iter().filter_map(|term| match store.head(term) {
            Head::Fun(fun) => Some(store.fun(fun).name),
            _ => None,
        });
        funs.collect()
    };
    let new_names = names(new);
    let bound = |name: &&Symbol| store.all_vars().any(|var| store.var_name(var) == **name);
    let clashes: Vec<&Symbol> = new_names.iter().filter(bound).collect();
    clashes.is_empty() || {
        let known = names(old);
        clashes.iter().all(|name| known.contains(name))
    }
}

/// The script with calls of other functions in place of some.
fn recalled(store: &mut Store, script: &Script, mut renewed: FxHashMap<Fun, Fun>) -> Option<Script> {
    let mut commands = Vec::with_capacity(script.commands.len());
    for command in &script.commands {
        let mut roots = Vec::new();
        command.terms(store, &mut roots);
        let old = roots.clone();
        for root in &mut roots {
            *root = calling(store, *root, &renewed)?;
        }
        commands.push(if old == roots {
            command.clone()
        } else {
            with_roots(store, command, &roots, &mut renewed)?
        });
    }
    Some(Script { commands })
}

/// The term with calls of other functions in place of some.
pub fn calling(store: &mut Store, root: Term, funs: &FxHashMap<Fun, Fun>) -> Option<Term> {
    let mut done: FxHashMap<Term, Term> = FxHashMap::default();
    for term in store.subterms(&[root]) {
        let args: Vec<Term> = store.args(term).iter().map(|arg| done[arg]).collect();
        let new = match store.head(term) {
            Head::Fun(fun) if funs.contains_key(&fun) => store.call(funs[&fun], &args).ok()?,
            _ if args == store.args(term) => term,
            _ => store.rebuild(term, &args).ok()?,
        };
        done.insert(term, new);
    }
    done.get(&root).copied()
}

/// The command with other terms, in the order of [`Command::terms`]. A definition with another body is another
/// function; it is added to `renewed`.
pub fn with_roots(
    store: &mut Store,
    command: &Command,
    roots: &[Term],
    renewed: &mut FxHashMap<Fun, Fun>,
) -> Option<Command> {
    let first = || roots.first().copied();
    Some(match command {
        Command::Assert(_) => Command::Assert(first()?),
        Command::Minimize(_, rest) => Command::Minimize(first()?, rest.clone()),
        Command::Maximize(_, rest) => Command::Maximize(first()?, rest.clone()),
        Command::AssertSoft(_, rest) => Command::AssertSoft(first()?, rest.clone()),
        Command::Simplify(_, rest) => Command::Simplify(first()?, rest.clone()),
        Command::Eval(_, rest) => Command::Eval(first()?, rest.clone()),
        Command::CheckSatAssuming(_) => Command::CheckSatAssuming(roots.to_vec()),
        Command::GetValue(_) => Command::GetValue(roots.to_vec()),
        Command::DefineFun(fun) => Command::DefineFun(redefined(store, *fun, first()?, renewed)?),
        Command::DefineConst(fun) => Command::DefineConst(redefined(store, *fun, first()?, renewed)?),
        Command::DefineFunRec(fun) => Command::DefineFunRec(redefined(store, *fun, first()?, renewed)?),
        // Several bodies that call each other: left alone.
        _ => return None,
    })
}

/// A function like this one with another body. Recursive calls go to the new one.
fn redefined(store: &mut Store, fun: Fun, body: Term, renewed: &mut FxHashMap<Fun, Fun>) -> Option<Fun> {
    let decl = store.fun(fun).clone();
    let definition = decl.definition?;
    let new = store.declare_fun(decl.name, &decl.params, decl.result);
    let mut body = body;
    if definition.recursive {
        body = calling(store, body, &[(fun, new)].into_iter().collect())?;
    }
    store.define(new, Definition { body, ..definition });
    renewed.insert(fun, new);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, Release, parse, print};

    fn read(store: &mut Store, text: &str) -> Script {
        parse(store, text.as_bytes(), Mode::Tolerant).expect("a script").script
    }

    fn text(store: &Store, script: &Script) -> String {
        print::print(store, script, Release::STANDARD)
    }

    #[test]
    fn several_arguments_of_one_operator_are_left_out_at_once() {
        let mut store = Store::new();
        let script = read(&mut store, "(declare-const a Bool)(declare-const b Bool)(assert (and a b a b))");
        let term = script.assertions().next().expect("an assertion");
        let edits = [Edit::DropArg(term, 0), Edit::DropArg(term, 1), Edit::DropArg(term, 2)];
        let smaller = applied(&mut store, &script, &edits).expect("applied");
        assert!(text(&store, &smaller).ends_with("(assert b)\n"));
    }

    #[test]
    fn bodies_of_definitions_change_with_their_calls() {
        let mut store = Store::new();
        let script = read(
            &mut store,
            "(define-fun f ((x Int)) Int (+ x 1))(declare-const y Int)(assert (> (f y) 0))(check-sat)",
        );
        let body = script.terms(&store)[0];
        let param = store.args(body)[0];
        let smaller = applied(&mut store, &script, &[Edit::Term(body, param)]).expect("applied");
        assert!(text(&store, &smaller).contains("(define-fun f ((x Int)) Int x)"));
        let call = smaller.assertions().next().expect("an assertion");
        let inlined = store.inline_definitions(call).expect("inlined");
        assert_eq!(store.term_text(inlined), "(> y 0)");
    }

    #[test]
    fn a_new_constant_is_declared_before_its_use() {
        let mut store = Store::new();
        let script =
            read(&mut store, "(set-logic QF_LIA)(declare-const y Int)(assert (> (+ y 1) 0))(check-sat)");
        let sum = store.args(script.assertions().next().expect("an assertion"))[0];
        let name = store.fresh_name("v");
        let fun = store.declare_fun(name, &[], smtlib::Sort::INT);
        let smaller = applied(&mut store, &script, &[Edit::Fresh(sum, fun)]).expect("applied");
        let text = text(&store, &smaller);
        assert!(text.contains("(declare-const v!1 Int)\n(assert (> v!1 0))"), "{text}");
    }

    #[test]
    fn variables_stay_bound_and_symbols_are_not_captured() {
        let mut store = Store::new();
        let script = read(
            &mut store,
            "(declare-const y Int)(declare-const c Int)(assert (forall ((y Int)) (> (+ y c) 0)))(assert (= y y))",
        );
        let terms = script.terms(&store);
        let sum = store.args(store.args(terms[0])[0])[0];
        let (variable, constant, other) = (store.args(sum)[0], store.args(sum)[1], store.args(terms[1])[0]);
        let smaller = applied(&mut store, &script, &[Edit::Term(sum, variable)]).expect("applied");
        assert!(text(&store, &smaller).contains("(forall ((y Int)) (> y 0))"), "{}", text(&store, &smaller));
        // The constant y is another one.
        let smaller = applied(&mut store, &script, &[Edit::Term(constant, other)]).expect("applied");
        assert!(text(&store, &smaller).contains("(> (+ y!1 y) 0)"), "{}", text(&store, &smaller));
    }

    #[test]
    fn one_place_changes_and_the_other_stays() {
        let mut store = Store::new();
        let script = read(&mut store, "(declare-const y Int)(assert (> (+ y 1) (+ y 1)))");
        let root = script.assertions().next().expect("an assertion");
        let y = store.args(store.args(root)[0])[0];
        let smaller = applied(&mut store, &script, &[Edit::At(1, 0, vec![1], y)]).expect("applied");
        assert!(text(&store, &smaller).contains("(> (+ y 1) y)"));
    }
}
