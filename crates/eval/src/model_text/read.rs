//! From statements to a model.

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Command, Fun, Head, Index, Op, Release, Script, Session, SortKind, Store, Term};

use super::plan::{Piece, Plan, Role, Target, declared_sorts};
use super::tokens::Tokens;
use super::{ModelError, Note, ReadModel, ReadValues, items};
use crate::algebraic::Real;
use crate::evaluate::{Budget, Evaluator, Mode};
use crate::model::{Model, Open, OpenFunction, Universe};
use crate::value::{Closure, Value};

/// Definitions that cannot be read are passed over, up to this number; beyond it the text is no model.
const MAX_UNREADABLE: usize = 64;

/// What a constant's value may cost while the model is read. One that takes more, mostly because of a quantifier, stays a
/// term: whoever evaluates under the model has limits of their own.
const AT_HAND: u64 = 20_000;

/// Reads a model that a solver of the given release printed for a script.
///
/// A definition that cannot be understood leaves its symbol without interpretation, so that whatever depends on
/// it is unknown, and is noted. A symbol that the text does not mention gets a default value.
pub fn read_model(
    store: &mut Store,
    script: &Script,
    text: &[u8],
    release: Release,
) -> Result<ReadModel, ModelError> {
    let tokens = Tokens::new(text)?;
    let (items, present) = items::items(&tokens)?;
    if !present {
        return Err(ModelError::Empty);
    }
    let sorts = declared_sorts(store, script);
    let plan = Plan::new(store, script, text, &tokens, release, sorts).model(items)?;
    let mut reader = Reader::new(plan.notes);
    for (funs, value) in plan.values {
        funs.iter().for_each(|fun| reader.model.assign(*fun, value.clone()));
    }
    if !plan.pieces.is_empty() {
        let commands = reader.parse(store, script, &plan.pieces)?;
        reader.declare(store, &plan.pieces, &commands);
        reader.define(store, script, &plan.pieces, &commands);
    }
    Ok(reader.finish(store, script))
}

/// Reads terms with their values, as `get-value` prints them.
pub fn read_values(
    store: &mut Store,
    script: &Script,
    text: &[u8],
    release: Release,
) -> Result<ReadValues, ModelError> {
    let tokens = Tokens::new(text)?;
    let (items, present) = items::items(&tokens)?;
    if !present {
        return Err(ModelError::Empty);
    }
    let declared = declared_sorts(store, script);
    let terms = Plan::new(store, script, text, &tokens, release, declared.clone()).terms(&items)?;
    let mut reader = Reader::new(terms.notes);
    let bodies = |store: &Store, commands: &[(usize, Command)]| -> Vec<(usize, Term)> {
        let body = |command: &Command| match command {
            Command::DefineFun(fun) => store.fun(*fun).definition.as_ref().map(|definition| definition.body),
            _ => None,
        };
        commands.iter().filter_map(|(piece, command)| Some((*piece, body(command)?))).collect()
    };
    let commands = reader.parse(store, script, &terms.pieces)?;
    let terms = bodies(store, &commands);
    let sorts: Vec<_> = terms.iter().map(|(item, term)| (*item, store.sort_of(*term))).collect();
    let values = Plan::new(store, script, text, &tokens, release, declared).values(&items, &sorts)?;
    let commands = reader.parse(store, script, &values.pieces)?;
    reader.declare(store, &values.pieces, &commands);
    let values: FxHashMap<usize, Term> = bodies(store, &commands)
        .into_iter()
        .filter_map(|(piece, body)| match values.pieces[piece].role {
            Role::Body(Target::Value(pair)) => Some((pair, body)),
            _ => None,
        })
        .collect();
    let pairs =
        terms.iter().enumerate().filter_map(|(pair, (_, term))| Some((*term, *values.get(&pair)?))).collect();
    Ok(ReadValues { pairs, model: reader.model })
}

struct Reader {
    model: Model,
    notes: Vec<Note>,
    auxiliary: FxHashMap<String, Fun>,
    /// Symbols whose definition could not be read.
    unreadable: FxHashSet<Fun>,
}

impl Reader {
    fn new(notes: Vec<Note>) -> Reader {
        Reader {
            model: Model::new(),
            notes,
            auxiliary: FxHashMap::default(),
            unreadable: FxHashSet::default(),
        }
    }

    fn note(&mut self, offset: usize, message: impl Into<String>) {
        self.notes.push(Note { offset, message: message.into() });
    }

    /// Hands the pieces to the reader of scripts. Each command comes with the number of its piece.
    fn parse(
        &mut self,
        store: &mut Store,
        script: &Script,
        pieces: &[Piece],
    ) -> Result<Vec<(usize, Command)>, ModelError> {
        let mark = store.mark();
        let mut dropped = FxHashSet::default();
        loop {
            let mut text = String::new();
            let mut starts = Vec::new();
            for (number, piece) in pieces.iter().enumerate() {
                if !dropped.contains(&number) {
                    starts.push((text.len(), number));
                    text.push_str(&piece.text);
                    text.push('\n');
                }
            }
            let error = match Session::new(store, script, text.as_bytes()).script() {
                Ok(parsed) if parsed.commands.len() == starts.len() => {
                    return Ok(starts.iter().map(|(_, number)| *number).zip(parsed.commands).collect());
                }
                Ok(_) => return Err(ModelError::text(0, "the statements of this model run into each other")),
                Err(error) => error,
            };
            store.reset(&mark);
            let place = starts.partition_point(|(start, _)| *start <= error.offset).saturating_sub(1);
            let Some((_, number)) = starts.get(place).copied() else {
                return Err(ModelError::text(0, error.message));
            };
            let piece = &pieces[number];
            let Role::Body(target) = &piece.role else {
                return Err(ModelError::text(piece.offset, error.message));
            };
            if dropped.len() >= MAX_UNREADABLE {
                return Err(ModelError::text(piece.offset, error.message));
            }
            dropped.insert(number);
            if let Target::Script(funs) = target {
                self.unreadable.extend(funs.iter().copied());
            }
            self.note(piece.offset, format!("passed over: {}", error.message));
        }
    }

    /// Gives meaning to the constants, and closes universes.
    fn declare(&mut self, store: &Store, pieces: &[Piece], commands: &[(usize, Command)]) {
        let mut closed = Vec::new();
        for (piece, command) in commands {
            let Command::DeclareFun(fun) = command else { continue };
            let sort = store.fun(*fun).result;
            match &pieces[*piece].role {
                Role::Element(name) => {
                    if matches!(store.sort_kind(sort), SortKind::Declared(..)) {
                        let value = self.model.element(sort, name);
                        self.model.assign(*fun, value);
                    }
                }
                Role::Number(Some(value)) => self.model.assign(*fun, Value::Real(Real::clone(value))),
                Role::Number(None) => {}
                Role::Universe(elements) => closed.push((piece, sort, elements)),
                Role::Auxiliary(name) => _ = self.auxiliary.insert(name.clone(), *fun),
                Role::Body(_) => {}
            }
        }
        for (piece, sort, elements) in closed {
            if !matches!(store.sort_kind(sort), SortKind::Declared(..)) {
                continue;
            }
            let universe = self.model.universe(sort);
            let told: FxHashSet<&str> = elements.iter().map(String::as_str).collect();
            let named = |universe: &Universe| told.iter().all(|name| universe.find(name).is_some());
            // A model that uses elements beside those it lists, or lists what is none, does not say how many there are.
            if !told.is_empty() && universe.is_some_and(|known| known.len() == told.len() && named(known)) {
                self.model.close_universe(sort);
            } else {
                let offset = pieces[*piece].offset;
                self.note(offset, "passed over: these are not all elements of the sort that the model names");
            }
        }
    }

    fn define(
        &mut self,
        store: &mut Store,
        script: &Script,
        pieces: &[Piece],
        commands: &[(usize, Command)],
    ) {
        let mut definitions: Vec<(usize, Vec<Fun>, Fun)> = Vec::new();
        for (piece, command) in commands {
            let (Role::Body(target), Command::DefineFun(read)) = (&pieces[*piece].role, command) else {
                continue;
            };
            match target {
                Target::Script(funs) => definitions.push((*piece, funs.clone(), *read)),
                Target::Auxiliary(name) => {
                    definitions.push((
                        *piece,
                        self.auxiliary.get(name).copied().into_iter().collect(),
                        *read,
                    ));
                }
                Target::Open(name) => {
                    if !self.fix_open_case(store, script, name, *read) {
                        let offset = pieces[*piece].offset;
                        self.note(offset, format!("passed over: '{name}' has no open case of this kind"));
                    }
                }
                Target::Value(_) => {}
            }
        }
        let circular = circular(store, &definitions);
        for (piece, funs, read) in &definitions {
            let Some(definition) = &store.fun(*read).definition else { continue };
            for fun in funs {
                if circular.contains(fun) {
                    self.unreadable.insert(*fun);
                    self.note(pieces[*piece].offset, "passed over: this definition refers to itself");
                } else {
                    self.model.define(*fun, &definition.vars, definition.body);
                }
            }
        }
        // Constants are better at hand as values; those without one stay as bodies, with their reason.
        let mut evaluator = Evaluator::new(Mode::Given, Budget { steps: AT_HAND, ..Budget::default() });
        for (_, funs, read) in &definitions {
            let Some(definition) = &store.fun(*read).definition else { continue };
            if !definition.vars.is_empty() || funs.iter().any(|fun| circular.contains(fun)) {
                continue;
            }
            if let Ok(value) = evaluator.evaluate(store, &self.model, definition.body)
                && value.is_definite()
            {
                for fun in funs {
                    self.model.assign(*fun, value.clone());
                }
            }
        }
    }

    /// Reads a definition of an operator or selector as its value where the standard leaves it open.
    fn fix_open_case(&mut self, store: &mut Store, script: &Script, name: &str, read: Fun) -> bool {
        let decl = store.fun(read).clone();
        let Some(definition) = &decl.definition else { return false };
        let Some(head) = open_head(store, script, name, &decl.params, decl.result) else { return false };
        let place = match head {
            Head::Op(op, _) => super::open::distinguishing(op),
            _ => 0,
        };
        let of = decl.params.get(place).copied().unwrap_or(decl.result);
        let closure = Closure::closed(&definition.vars, definition.body);
        self.model.open_mut().fix_all(Open { head, of }, OpenFunction::Body(closure.into()));
        true
    }

    fn finish(mut self, store: &Store, script: &Script) -> ReadModel {
        let mut defaulted = Vec::new();
        for fun in script.declared_funs() {
            if self.model.get(fun).is_none() && !self.unreadable.contains(&fun) {
                if self.model.give_default(store, fun) {
                    defaulted.push(fun);
                } else {
                    let name = store.name(store.fun(fun).name).to_owned();
                    self.note(0, format!("'{name}' is missing, and its sort has no default value"));
                }
            }
        }
        self.notes.sort_by_key(|note| note.offset);
        ReadModel { model: self.model, defaulted, notes: self.notes }
    }
}

/// The operator or selector whose open case a definition fixes.
fn open_head(
    store: &mut Store,
    script: &Script,
    name: &str,
    params: &[smtlib::Sort],
    result: smtlib::Sort,
) -> Option<Head> {
    for command in &script.commands {
        let Command::DeclareDatatypes(datatypes) = command else { continue };
        for datatype in datatypes {
            let of = params.first().map(|sort| store.sort_kind(*sort));
            if !matches!(of, Some(SortKind::Datatype(found, _)) if found == datatype) {
                continue;
            }
            for (c, constructor) in store.datatype(*datatype).constructors.iter().enumerate() {
                let field = constructor.fields.iter().position(|(field, _)| store.name(*field) == name);
                if let Some(f) = field {
                    return Some(Head::Selector(*datatype, c as u16, f as u16));
                }
            }
        }
    }
    super::open::operator(store, name, params, result)
}

/// The symbols whose definitions depend on themselves: no solver means them.
fn circular(store: &Store, definitions: &[(usize, Vec<Fun>, Fun)]) -> FxHashSet<Fun> {
    let mut uses: FxHashMap<Fun, Vec<Fun>> = FxHashMap::default();
    for (_, funs, read) in definitions {
        let Some(definition) = &store.fun(*read).definition else { continue };
        let mut used = Vec::new();
        for term in store.subterms(&[definition.body]) {
            match store.head(term) {
                Head::Fun(fun) => used.push(fun),
                Head::Op(Op::AsArray | Op::ArrayMap, indices) => {
                    used.extend(store.index_list(indices).iter().filter_map(|index| match index {
                        Index::Fun(fun) => Some(*fun),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        for fun in funs {
            uses.insert(*fun, used.clone());
        }
    }
    // Repeatedly removing what uses nothing but removed symbols leaves what a cycle is part of or leads to.
    let mut waiting: FxHashMap<Fun, usize> = FxHashMap::default();
    let mut users: FxHashMap<Fun, Vec<Fun>> = FxHashMap::default();
    for (fun, used) in &uses {
        let defined: FxHashSet<Fun> = used.iter().copied().filter(|used| uses.contains_key(used)).collect();
        waiting.insert(*fun, defined.len());
        for used in defined {
            users.entry(used).or_default().push(*fun);
        }
    }
    let mut free: Vec<Fun> = waiting.iter().filter(|(_, count)| **count == 0).map(|(fun, _)| *fun).collect();
    while let Some(fun) = free.pop() {
        waiting.remove(&fun);
        for user in users.get(&fun).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(user) {
                *count -= 1;
                if *count == 0 {
                    free.push(*user);
                }
            }
        }
    }
    waiting.into_keys().collect()
}
