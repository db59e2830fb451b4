//! The mutator: a construct put into an input in the place of one of the same kind (the paper's section 3.2).

use std::collections::{BTreeMap, BTreeSet};

use generate::{Grammar, Insertion, Rng, Scope};
use rustc_hash::FxHashMap;
use smtlib::{Command, Fun, Head, Op, Script, Sort, SortKind, Store, Term};

use crate::construct::{Class, Construct, Kind, Question, Width};

/// Places of an input that are looked at; what has more is large anyway.
const PLACES: usize = 2_000;
/// Places that are tried before a mutation is given up.
const TRIES: usize = 8;
/// Constants drawn in search of one of a class.
const DRAWS: usize = 60;

/// What arms are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arms {
    /// Constructs.
    #[default]
    Constructs,
    /// Constructs below a certain other one.
    Pairs,
}

/// Puts constructs into inputs.
#[derive(Clone, Debug)]
pub struct Mutator {
    grammar: Grammar,
    constructs: Vec<Construct>,
    arms: Arms,
    /// Levels of operators that an assertion may have.
    depth: usize,
}

/// What can be done with an input: for each arm the construct and the places where it can go.
pub struct Choices {
    /// In the order of their names.
    pub arms: Vec<Choice>,
    places: Vec<Place>,
}

/// An arm that can be pulled.
pub struct Choice {
    pub name: String,
    construct: Construct,
    places: Vec<usize>,
}

/// An occurrence of a construct.
struct Place {
    /// The command of the script.
    command: usize,
    path: Vec<u32>,
    term: Term,
    kind: Kind,
    /// What it stands below.
    parent: Option<Term>,
}

impl Mutator {
    pub fn new(grammar: Grammar, arms: Arms, depth: usize) -> Mutator {
        let constructs = Construct::all(&grammar);
        Mutator { grammar, constructs, arms, depth }
    }

    /// The names of all constructs that can be put into inputs.
    pub fn constructs(&self) -> Vec<String> {
        self.constructs.iter().map(ToString::to_string).collect()
    }

    /// Which arms can be pulled on an input. An arm whose kind does not occur in it is no choice, so that nothing is
    /// rewarded or blamed for it.
    pub fn choices(&self, store: &Store, script: &Script) -> Choices {
        let places = self.places(store, script);
        let mut arms: BTreeMap<String, Choice> = BTreeMap::new();
        let mut add = |name: String, construct: Construct, place: Option<usize>| {
            let choice =
                arms.entry(name.clone()).or_insert_with(|| Choice { name, construct, places: Vec::new() });
            choice.places.extend(place);
        };
        for construct in &self.constructs {
            if matches!(construct, Construct::Sort(_) | Construct::Command(_)) {
                if applies(store, script, *construct) {
                    add(construct.to_string(), *construct, None);
                }
                continue;
            }
            for (number, place) in places.iter().enumerate() {
                if construct.fits(store, place.kind) && !is_there(store, *construct, place.term) {
                    let name = match self.arms {
                        Arms::Constructs => construct.to_string(),
                        Arms::Pairs => format!("{construct} below {}", parent_name(store, place.parent)),
                    };
                    add(name, *construct, Some(number));
                }
            }
        }
        Choices { arms: arms.into_values().collect(), places }
    }

    /// Pulls an arm: the input with the construct at one of its places, drawn uniformly. `None` if it can be put at
    /// none of those that were tried.
    pub fn mutate(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        script: &Script,
        choices: &Choices,
        arm: usize,
    ) -> Option<Script> {
        let choice = choices.arms.get(arm)?;
        let mutant = match choice.construct {
            Construct::Sort(width) => self.retyped(store, rng, script, width),
            Construct::Command(question) => asked(store, script, question),
            _ => {
                let mut left = choice.places.clone();
                (0..TRIES).find_map(|_| {
                    if left.is_empty() {
                        return None;
                    }
                    let number = left.swap_remove(rng.below(left.len()));
                    self.replaced(store, rng, script, choice.construct, &choices.places[number])
                })
            }
        }?;
        (mutant != *script).then_some(mutant)
    }

    fn places(&self, store: &Store, script: &Script) -> Vec<Place> {
        let mut places = Vec::new();
        for (command, root) in script.commands.iter().enumerate() {
            let Command::Assert(root) = root else { continue };
            let mut open: Vec<(Vec<u32>, Term, Option<Term>)> = vec![(Vec::new(), *root, None)];
            while let Some((path, term, parent)) = open.pop() {
                if places.len() >= PLACES {
                    break;
                }
                // Names of terms must go on standing for what they stand for.
                if matches!(store.head(term), Head::Annotated(_)) {
                    continue;
                }
                let free = match (parent, path.last()) {
                    (Some(parent), Some(child)) => self.grammar.may_replace(store, parent, *child as usize),
                    _ => true,
                };
                let kind = Kind::of(store, term);
                if !matches!(kind, Some(Kind::Constant(_))) {
                    for (child, arg) in store.args(term).iter().enumerate() {
                        let path = path.iter().copied().chain([child as u32]).collect();
                        open.push((path, *arg, Some(term)));
                    }
                }
                if let Some(kind) = kind.filter(|_| free) {
                    places.push(Place { command, path, term, kind, parent });
                }
            }
        }
        places
    }

    fn replaced(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        script: &Script,
        construct: Construct,
        place: &Place,
    ) -> Option<Script> {
        let Some(Command::Assert(root)) = script.commands.get(place.command) else { return None };
        let root = *root;
        // What is declared later is not known here.
        let before = Script { commands: script.commands[..place.command].to_vec() };
        let mut scope = Scope::of_script(store, &before);
        for var in store.scope_at(root, &place.path) {
            scope.bind(store, var);
        }
        let sort = store.sort_of(place.term);
        let new = match construct {
            Construct::Operator(op) => {
                let operands = store.args(place.term).to_vec();
                let depth = self.depth.saturating_sub(place.path.len() + 1);
                let insertion = Insertion { row: op.row(), operands: &operands, wanted: sort, depth };
                self.grammar.insert(store, rng, &mut scope, insertion)?
            }
            Construct::Constant(class) => self.constant(store, rng, sort, class, &mut scope)?,
            Construct::Sort(_) | Construct::Command(_) => return None,
        };
        let root = store.replace_at(root, &place.path, new).ok()?;
        let mut mutant = script.clone();
        mutant.commands[place.command] = Command::Assert(root);
        Some(mutant)
    }

    fn constant(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        sort: Sort,
        class: Class,
        scope: &mut Scope,
    ) -> Option<Term> {
        (0..DRAWS).find_map(|_| {
            let term = self.grammar.constant(store, rng, sort, scope)?;
            (Class::of(store, term) == Some(class)).then_some(term)
        })
    }

    /// The input with one sort of a family changed into another, wherever it occurs.
    fn retyped(&self, store: &mut Store, rng: &mut Rng, script: &Script, width: Width) -> Option<Script> {
        let new = match width {
            Width::Float(e, s) => store.float(e, s),
            Width::BitVec(width) => store.bitvec(width),
        };
        let olds: Vec<Sort> = variables(store, script).filter(|sort| beside(store, *sort, width)).collect();
        let old = *rng.pick(&olds)?;
        let mut funs: FxHashMap<Fun, Fun> = FxHashMap::default();
        let mut commands = Vec::with_capacity(script.commands.len());
        let mut terms: FxHashMap<Term, Term> = FxHashMap::default();
        let mut scope = Scope::new();
        for command in &script.commands {
            commands.push(match command {
                Command::DeclareConst(fun) | Command::DeclareFun(fun)
                    if store.fun(*fun).params.is_empty() && store.fun(*fun).result == old =>
                {
                    let name = store.fun(*fun).name;
                    let twin = store.declare_fun(name, &[], new);
                    funs.insert(*fun, twin);
                    Command::DeclareConst(twin)
                }
                Command::Assert(root) => {
                    for term in store.subterms(&[*root]) {
                        if terms.contains_key(&term) {
                            continue;
                        }
                        let twin = match (store.head(term), Class::of(store, term)) {
                            (Head::Fun(fun), _) if funs.contains_key(&fun) => {
                                store.call(funs[&fun], &[]).ok()?
                            }
                            (_, Some(class)) if store.sort_of(term) == old => {
                                self.constant(store, rng, new, class, &mut scope)?
                            }
                            _ => {
                                let args: Vec<Term> = store.args(term).iter().map(|arg| terms[arg]).collect();
                                if args == store.args(term) {
                                    term
                                } else {
                                    store.rebuild(term, &args).ok()?
                                }
                            }
                        };
                        terms.insert(term, twin);
                    }
                    Command::Assert(terms[root])
                }
                other => other.clone(),
            });
        }
        Some(Script { commands })
    }
}

/// The sorts of the free constants.
fn variables<'a>(store: &'a Store, script: &'a Script) -> impl Iterator<Item = Sort> + 'a {
    script.declared_funs().map(|fun| store.fun(fun)).filter(|fun| fun.params.is_empty()).map(|fun| fun.result)
}

/// Is it another sort of the same family?
fn beside(store: &Store, sort: Sort, width: Width) -> bool {
    match (store.sort_kind(sort), width) {
        (SortKind::Float(e, s), Width::Float(other, significand)) => (*e, *s) != (other, significand),
        (SortKind::BitVec(own), Width::BitVec(other)) => *own != other,
        _ => false,
    }
}

fn applies(store: &Store, script: &Script, construct: Construct) -> bool {
    match construct {
        Construct::Sort(width) => variables(store, script).any(|sort| beside(store, sort, width)),
        Construct::Command(_) => {
            let plain = |command: &&Command| matches!(command, Command::CheckSat);
            let named = |root: Term| matches!(store.head(root), Head::Annotated(_));
            !script.is_incremental()
                && script.commands.iter().filter(plain).count() == 1
                && script.assertions().count() > 1
                && !script.assertions().any(named)
        }
        Construct::Operator(_) | Construct::Constant(_) => false,
    }
}

/// Asks in another way than by one plain check.
fn asked(store: &mut Store, script: &Script, question: Question) -> Option<Script> {
    let last = script.commands.iter().rposition(|command| matches!(command, Command::Assert(_)))?;
    let Command::Assert(root) = script.commands[last] else { return None };
    let mut mutant = script.clone();
    match question {
        Question::Push => {
            mutant.commands.splice(last..last, [Command::CheckSat, Command::Push(1)]);
        }
        Question::Assuming => {
            let check = mutant.commands.iter().position(|command| matches!(command, Command::CheckSat))?;
            let name = store.fresh_name("assumed");
            let fun = store.declare_fun(name, &[], Sort::BOOL);
            let assumed = store.call(fun, &[]).ok()?;
            let implied = store.op(Op::Implies, &[assumed, root]).ok()?;
            mutant.commands[check] = Command::CheckSatAssuming(vec![assumed]);
            mutant.commands[last] = Command::Assert(implied);
            mutant.commands.insert(last, Command::DeclareConst(fun));
        }
    }
    Some(mutant)
}

/// Does a construct stand there already?
fn is_there(store: &Store, construct: Construct, term: Term) -> bool {
    match construct {
        Construct::Operator(op) => store.op_of(term) == Some(op),
        Construct::Constant(class) => Class::of(store, term) == Some(class),
        Construct::Sort(_) | Construct::Command(_) => false,
    }
}

/// Every operator and class of constants of a script with what it stands below.
pub fn pairs(store: &Store, script: &Script) -> BTreeSet<String> {
    let mut pairs = BTreeSet::new();
    let roots: Vec<Term> = script.assertions().collect();
    let mut add = |term: Term, parent: Option<Term>| {
        let construct = match (Class::of(store, term), store.op_of(term)) {
            (Some(class), _) => Construct::Constant(class),
            (None, Some(op)) => Construct::Operator(op),
            (None, None) => return,
        };
        pairs.insert(format!("{construct} below {}", parent_name(store, parent)));
    };
    for root in &roots {
        add(*root, None);
    }
    for term in store.subterms(&roots) {
        if Class::of(store, term).is_none() {
            store.args(term).iter().for_each(|arg| add(*arg, Some(term)));
        }
    }
    pairs
}

fn parent_name(store: &Store, parent: Option<Term>) -> String {
    let Some(parent) = parent else { return "assert".to_owned() };
    match (store.op_of(parent), store.head(parent)) {
        (Some(op), _) => Construct::Operator(op).to_string(),
        (None, Head::Bind(binder, _)) => binder.name().to_owned(),
        _ => "function".to_owned(),
    }
}
