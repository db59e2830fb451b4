//! Walking and changing terms without recursion: sub-terms, positions, replacement, substitution, free variables,
//! polarity.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::infer::SortError;
use crate::sort::Sort;
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::*;
use crate::theory::Op;

/// Stores with more terms than this are walked with a set instead of marks.
const MOST_MARKED: usize = 1 << 20;

thread_local! {
    static MARKS: RefCell<Marks> = const { RefCell::new(Marks { stamps: Vec::new(), now: 0 }) };
}

/// Which terms a walk has met, by number: a mark is valid for one walk, so that none has to be taken away.
struct Marks {
    stamps: Vec<u32>,
    now: u32,
}

impl Marks {
    fn begin(&mut self, terms: usize) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.stamps.clear();
            self.now = 1;
        }
        if self.stamps.len() < terms {
            self.stamps.resize(terms, 0);
        }
    }

    /// Whether it is marked for the first time.
    fn set(&mut self, term: Term) -> bool {
        std::mem::replace(&mut self.stamps[term.index()], self.now) != self.now
    }
}

impl Store {
    /// All distinct sub-terms of the roots, children before parents.
    pub fn subterms(&self, roots: &[Term]) -> Vec<Term> {
        let mut found = if self.term_count() <= MOST_MARKED {
            MARKS.with_borrow_mut(|marks| {
                marks.begin(self.term_count());
                self.reached_from(roots, |term| marks.set(term))
            })
        } else {
            let mut seen = FxHashSet::default();
            self.reached_from(roots, |term| seen.insert(term))
        };
        // A term is always made after its children.
        found.sort_unstable();
        found
    }

    /// All terms below the roots that are new to `first_sight`.
    fn reached_from(&self, roots: &[Term], mut first_sight: impl FnMut(Term) -> bool) -> Vec<Term> {
        let mut stack: Vec<Term> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(term) = stack.pop() {
            if first_sight(term) {
                found.push(term);
                stack.extend_from_slice(self.args(term));
            }
        }
        found
    }

    /// The number of nodes of the term written out as a tree, saturating.
    pub fn tree_size(&self, root: Term) -> u64 {
        self.fold_up(root, |sizes| sizes.iter().fold(1u64, |sum, size| sum.saturating_add(*size)))
    }

    /// The number of nodes on the longest way down.
    pub fn depth(&self, root: Term) -> u64 {
        self.fold_up(root, |depths| 1 + depths.iter().copied().max().unwrap_or(0))
    }

    fn fold_up(&self, root: Term, step: impl Fn(&[u64]) -> u64) -> u64 {
        let mut results: FxHashMap<Term, u64> = FxHashMap::default();
        let mut inputs = Vec::new();
        for term in self.subterms(&[root]) {
            inputs.clear();
            inputs.extend(self.args(term).iter().map(|arg| results[arg]));
            results.insert(term, step(&inputs));
        }
        results[&root]
    }

    /// The sub-term at a path, if there is one.
    pub fn at(&self, root: Term, path: &[u32]) -> Option<Term> {
        path.iter().try_fold(root, |term, child| self.args(term).get(*child as usize).copied())
    }

    /// The term with the sub-term at `path` replaced; only the way to the root is rebuilt.
    pub fn replace_at(&mut self, root: Term, path: &[u32], new: Term) -> Result<Term, SortError> {
        let mut spine = Vec::with_capacity(path.len());
        let mut here = root;
        for child in path {
            spine.push(here);
            here = match self.args(here).get(*child as usize) {
                Some(next) => *next,
                None => {
                    return Err(SortError::Count {
                        name: "path".to_owned(),
                        expected: self.args(here).len().to_string(),
                        found: *child as usize,
                    });
                }
            };
        }
        let mut new = new;
        let mut args = Vec::new();
        for (parent, child) in spine.iter().zip(path).rev() {
            args.clear();
            args.extend_from_slice(self.args(*parent));
            args[*child as usize] = new;
            new = self.rebuild(*parent, &args)?;
        }
        Ok(new)
    }

    /// Variables bound on the way to `path`, outermost first.
    pub fn scope_at(&self, root: Term, path: &[u32]) -> Vec<Var> {
        let mut scope = Vec::new();
        let mut here = root;
        for child in path {
            match self.head(here) {
                Head::Bind(_, vars) => scope.extend_from_slice(self.var_list(vars)),
                Head::Match(patterns) if *child > 0 => {
                    scope.extend(pattern_vars(&self.pattern_list(patterns)[*child as usize - 1]));
                }
                _ => {}
            }
            match self.args(here).get(*child as usize) {
                Some(next) => here = *next,
                None => break,
            }
        }
        scope
    }

    /// The free bound-variables of a term, in order of first occurrence by term number.
    pub fn free_vars(&self, root: Term) -> Vec<Var> {
        if !self.mentions_vars(root) {
            return Vec::new();
        }
        let mut free = FreeVars::default();
        free.of(self, root).to_vec()
    }

    /// The polarity of the Boolean position at `path`, for a term asserted as true.
    pub fn polarity_at(&self, root: Term, path: &[u32]) -> Polarity {
        let mut polarity = Polarity::Positive;
        let mut here = root;
        for child in path {
            polarity = match self.child_polarity(here, *child as usize) {
                Some(true) => polarity,
                Some(false) => polarity.flip(),
                None => Polarity::Both,
            };
            here = self.args(here)[*child as usize];
        }
        polarity
    }

    /// Is a Boolean term monotone in this child? `Some(true)` rising, `Some(false)` falling.
    pub fn child_polarity(&self, term: Term, child: usize) -> Option<bool> {
        let args = self.args(term);
        if self.sort_of(args[child]) != Sort::BOOL {
            return None;
        }
        match self.head(term) {
            Head::Op(op, _) => match op {
                Op::And | Op::Or => Some(true),
                Op::Not => Some(false),
                Op::Implies => Some(child + 1 == args.len()),
                Op::Ite if child > 0 && self.sort_of(term) == Sort::BOOL => Some(true),
                Op::AtLeast => Some(true),
                Op::AtMost => Some(false),
                _ => None,
            },
            Head::Bind(Binder::Forall | Binder::Exists, _) => Some(true),
            Head::Match(_) if child > 0 => Some(true),
            Head::Annotated(_) if child == 0 => Some(true),
            _ => None,
        }
    }

    /// Replaces terms where they stand by terms of the same sort, at once: a variable that both mention is the same one,
    /// whoever binds it there. Replacements must not mention other variables than what they replace; for those there is
    /// [`Store::substitute`].
    pub fn replace_in_place(&mut self, root: Term, map: &FxHashMap<Term, Term>) -> Result<Term, SortError> {
        self.substitute_in(root, map, None)
    }

    /// Replaces terms by terms of the same sort everywhere, at once, without capturing variables.
    pub fn substitute(&mut self, root: Term, map: &FxHashMap<Term, Term>) -> Result<Term, SortError> {
        let mut used = FxHashSet::default();
        let values: Vec<Term> = map.values().copied().collect();
        for term in self.subterms(&values) {
            match self.head(term) {
                Head::Var(var) => {
                    used.insert(self.var_name(var));
                }
                Head::Fun(fun) => {
                    used.insert(self.fun(fun).name);
                }
                _ => {}
            }
        }
        self.substitute_in(root, map, Some(&used))
    }

    /// With the names that the replacements mention, binders make way for them; without, they stay as they are.
    fn substitute_in(
        &mut self,
        root: Term,
        map: &FxHashMap<Term, Term>,
        used: Option<&FxHashSet<Symbol>>,
    ) -> Result<Term, SortError> {
        let mut done: FxHashMap<Term, Term> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        let mut args = Vec::new();
        while let Some((term, expanded)) = stack.pop() {
            if done.contains_key(&term) {
                continue;
            }
            if let Some(new) = map.get(&term) {
                done.insert(term, *new);
                continue;
            }
            if !expanded {
                let renamed = match used {
                    Some(used) => self.rename_binder(term, map, used)?,
                    None => None,
                };
                if let Some(renamed) = renamed {
                    done.insert(term, renamed);
                    continue;
                }
                stack.push((term, true));
                stack.extend(self.args(term).iter().map(|arg| (*arg, false)));
                continue;
            }
            args.clear();
            args.extend(self.args(term).iter().map(|arg| done[arg]));
            let new = if args == self.args(term) { term } else { self.rebuild(term, &args)? };
            done.insert(term, new);
        }
        Ok(done[&root])
    }

    /// A binder whose variables clash with the substitution is done apart: its own variables are taken out of
    /// the map, and renamed if a replacement mentions them.
    fn rename_binder(
        &mut self,
        term: Term,
        map: &FxHashMap<Term, Term>,
        used: &FxHashSet<Symbol>,
    ) -> Result<Option<Term>, SortError> {
        if let Head::Match(patterns) = self.head(term) {
            return self.rename_match(term, patterns, map, used);
        }
        let Head::Bind(binder, vars) = self.head(term) else { return Ok(None) };
        let vars = self.var_list(vars).to_vec();
        let bound: Vec<Term> = vars.iter().map(|var| self.var_term(*var)).collect();
        let clashes = vars.iter().any(|var| used.contains(&self.var_name(*var)));
        if !clashes && !bound.iter().any(|var| map.contains_key(var)) {
            return Ok(None);
        }
        let mut inner = map.clone();
        let new_vars = self.fresh_vars(&vars, &mut inner, used);
        let children = self.args(term).to_vec();
        let children =
            children.iter().map(|child| self.substitute(*child, &inner)).collect::<Result<Vec<_>, _>>()?;
        let new_vars = self.vars(&new_vars);
        self.bind(binder, new_vars, &children).map(Some)
    }

    /// Takes bound variables out of a substitution, renaming those whose name a replacement mentions.
    fn fresh_vars(
        &mut self,
        vars: &[Var],
        map: &mut FxHashMap<Term, Term>,
        used: &FxHashSet<Symbol>,
    ) -> Vec<Var> {
        let mut new_vars = Vec::with_capacity(vars.len());
        for var in vars {
            let as_term = self.var_term(*var);
            map.remove(&as_term);
            if used.contains(&self.var_name(*var)) {
                let fresh = self.fresh_symbol(self.var_name(*var));
                let sort = self.var_sort(*var);
                let new_var = self.var(fresh, sort);
                let new_term = self.var_term(new_var);
                map.insert(as_term, new_term);
                new_vars.push(new_var);
            } else {
                new_vars.push(*var);
            }
        }
        new_vars
    }

    /// The same for the variables of a `match`: each case is a scope of its own.
    fn rename_match(
        &mut self,
        term: Term,
        patterns: Patterns,
        map: &FxHashMap<Term, Term>,
        used: &FxHashSet<Symbol>,
    ) -> Result<Option<Term>, SortError> {
        let list = self.pattern_list(patterns).to_vec();
        let vars: Vec<Var> = list.iter().flat_map(pattern_vars).collect();
        let bound: Vec<Term> = vars.iter().map(|var| self.var_term(*var)).collect();
        let clashes = vars.iter().any(|var| used.contains(&self.var_name(*var)));
        if !clashes && !bound.iter().any(|var| map.contains_key(var)) {
            return Ok(None);
        }
        let children = self.args(term).to_vec();
        let mut new_children = vec![self.substitute(children[0], map)?];
        let mut new_patterns = Vec::with_capacity(list.len());
        for (pattern, body) in list.iter().zip(&children[1..]) {
            let mut inner = map.clone();
            let new_vars = self.fresh_vars(&pattern_vars(pattern), &mut inner, used);
            new_patterns.push(match pattern {
                Pattern::Var(_) => Pattern::Var(new_vars[0]),
                Pattern::Constructor(number, _) => Pattern::Constructor(*number, new_vars.into()),
            });
            new_children.push(self.substitute(*body, &inner)?);
        }
        let patterns = self.patterns(new_patterns);
        self.match_term(patterns, &new_children).map(Some)
    }

    /// A name that the store has not seen, made from another one.
    pub fn fresh_symbol(&mut self, base: Symbol) -> Symbol {
        let base = self.name(base).to_owned();
        self.fresh_name(&base)
    }

    /// A name that the store has not seen, starting with `base`.
    pub fn fresh_name(&mut self, base: &str) -> Symbol {
        let stem = base.split_once('!').map_or(base, |(stem, _)| stem);
        let stem_symbol = self.symbol(stem);
        let mut number = self.fresh_from.get(&stem_symbol).copied().unwrap_or(1);
        loop {
            let name = format!("{stem}!{number}");
            number += 1;
            if self.known_symbol(&name).is_none() {
                self.fresh_from.insert(stem_symbol, number);
                return self.symbol(&name);
            }
        }
    }

    /// Replaces calls of defined (non-recursive) functions and named terms by their bodies, and drops
    /// annotations.
    pub fn inline_definitions(&mut self, root: Term) -> Result<Term, SortError> {
        let mut done: FxHashMap<Term, Term> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        let mut args = Vec::new();
        while let Some((term, expanded)) = stack.pop() {
            if done.contains_key(&term) {
                continue;
            }
            if !expanded {
                stack.push((term, true));
                stack.extend(self.args(term).iter().map(|arg| (*arg, false)));
                continue;
            }
            args.clear();
            args.extend(self.args(term).iter().map(|arg| done[arg]));
            let new = match self.head(term) {
                Head::Annotated(_) => args[0],
                Head::Fun(fun) => match &self.fun(fun).definition {
                    Some(definition) if !definition.recursive && definition.vars.len() == args.len() => {
                        let (vars, body) = (definition.vars.clone(), definition.body);
                        let map: FxHashMap<Term, Term> =
                            vars.iter().zip(&args).map(|(var, arg)| (self.var_term(*var), *arg)).collect();
                        let body = self.inline_definitions(body)?;
                        self.substitute(body, &map)?
                    }
                    _ => self.rebuild(term, &args)?,
                },
                _ if args == self.args(term) => term,
                _ => self.rebuild(term, &args)?,
            };
            done.insert(term, new);
        }
        Ok(done[&root])
    }
}

/// The variables a pattern binds.
pub(crate) fn pattern_vars(pattern: &Pattern) -> Vec<Var> {
    match pattern {
        Pattern::Var(var) => vec![*var],
        Pattern::Constructor(_, vars) => vars.to_vec(),
    }
}

/// Free variables of many terms, each computed once.
#[derive(Default)]
pub(crate) struct FreeVars {
    known: FxHashMap<Term, Vec<Var>>,
}

impl FreeVars {
    pub(crate) fn of(&mut self, store: &Store, root: Term) -> &[Var] {
        let mut stack = vec![(root, false)];
        while let Some((term, expanded)) = stack.pop() {
            if self.known.contains_key(&term) || !store.mentions_vars(term) {
                continue;
            }
            if !expanded {
                stack.push((term, true));
                stack.extend(store.args(term).iter().map(|arg| (*arg, false)));
                continue;
            }
            let mut free: Vec<Var> = Vec::new();
            let mut add = |vars: &[Var], without: &[Var]| {
                for var in vars {
                    if !without.contains(var) && !free.contains(var) {
                        free.push(*var);
                    }
                }
            };
            let args = store.args(term);
            match store.head(term) {
                Head::Var(var) => add(&[var], &[]),
                Head::Bind(_, vars) => {
                    for arg in args {
                        add(self.get(*arg), store.var_list(vars));
                    }
                }
                Head::Match(patterns) => {
                    add(self.get(args[0]), &[]);
                    for (pattern, arg) in store.pattern_list(patterns).iter().zip(&args[1..]) {
                        add(self.get(*arg), &pattern_vars(pattern));
                    }
                }
                _ => {
                    for arg in args {
                        add(self.get(*arg), &[]);
                    }
                }
            }
            self.known.insert(term, free);
        }
        self.get(root)
    }

    fn get(&self, term: Term) -> &[Var] {
        self.known.get(&term).map_or(&[], Vec::as_slice)
    }
}
