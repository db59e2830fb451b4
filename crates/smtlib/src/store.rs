//! The store: all terms, sorts and names of one worker, hash-consed, with marks to go back to.
//!
//! A store belongs to one thread. Work on a mutant is bracketed by [`Store::mark`] and [`Store::reset`], so that a
//! campaign of days does not grow.

use std::hash::{BuildHasher, Hash, Hasher};

use dashu_int::UBig;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

use crate::intern::Interner;
use crate::literal::Literal;
use crate::sort::{Datatype, Sort, SortDecl, SortKind};
use crate::symbol::{Symbol, Symbols};
use crate::term::*;
use crate::theory::Op;

#[derive(Clone, Copy)]
struct Node {
    head: Head,
    args: u32,
    arity: u32,
    sort: Sort,
    flags: Flags,
    /// Nodes of the term written out, at most 255: most terms are small, and what is small needs no care.
    size: u8,
}

/// Facts about a term and everything below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flags(u8);

impl Flags {
    /// A bound variable occurs (free or bound).
    const VAR: Flags = Flags(1);
    const BINDER: Flags = Flags(2);
    /// Something opaque occurs.
    const OPAQUE: Flags = Flags(4);

    fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

/// Where a store stood; see [`Store::reset`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    nodes: usize,
    args: usize,
    symbols: usize,
    sorts: usize,
    literals: usize,
    indices: usize,
    vars: usize,
    var_lists: usize,
    patterns: usize,
    attributes: usize,
    funs: usize,
    sort_decls: usize,
    datatypes: usize,
}

/// A name and number of parameters of a declared sort.
type DeclaredSort = (Symbol, u32);

pub struct Store {
    nodes: Vec<Node>,
    args: Vec<Term>,
    lookup: HashTable<u32>,
    pub(crate) symbols: Symbols,
    sorts: Interner<SortKind>,
    literals: Interner<Literal>,
    indices: Interner<Box<[Index]>>,
    vars: Interner<(Symbol, Sort)>,
    var_lists: Interner<Box<[Var]>>,
    patterns: Interner<Box<[Pattern]>>,
    attributes: Interner<Box<[Attribute]>>,
    funs: Vec<FunDecl>,
    sort_decls: Vec<DeclaredSort>,
    datatypes: Vec<DatatypeDecl>,
    /// All smaller numbers behind this stem are taken: where the search for a fresh name starts.
    pub(crate) fresh_from: FxHashMap<Symbol, u32>,
}

impl Default for Store {
    fn default() -> Store {
        Store::new()
    }
}

impl Store {
    pub fn new() -> Store {
        let mut store = Store {
            nodes: Vec::new(),
            args: Vec::new(),
            lookup: HashTable::new(),
            symbols: Symbols::new(),
            sorts: Interner::new(),
            literals: Interner::new(),
            indices: Interner::new(),
            vars: Interner::new(),
            var_lists: Interner::new(),
            patterns: Interner::new(),
            attributes: Interner::new(),
            funs: Vec::new(),
            sort_decls: Vec::new(),
            datatypes: Vec::new(),
            fresh_from: FxHashMap::default(),
        };
        let unknown = store.symbol("?");
        // The order is that of the constants in `Sort`.
        for kind in [
            SortKind::Bool,
            SortKind::Int,
            SortKind::Real,
            SortKind::String,
            SortKind::RegLan,
            SortKind::RoundingMode,
            SortKind::Tuple(Box::new([])),
            SortKind::Opaque(unknown),
        ] {
            store.sorts.intern(kind);
        }
        store.indices.intern(Box::new([]));
        store
    }

    /// The present state, to come back to with [`Store::reset`].
    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            args: self.args.len(),
            symbols: self.symbols.len(),
            sorts: self.sorts.len(),
            literals: self.literals.len(),
            indices: self.indices.len(),
            vars: self.vars.len(),
            var_lists: self.var_lists.len(),
            patterns: self.patterns.len(),
            attributes: self.attributes.len(),
            funs: self.funs.len(),
            sort_decls: self.sort_decls.len(),
            datatypes: self.datatypes.len(),
        }
    }

    /// Forgets everything made since the mark. Ids made since then must not be used any more.
    pub fn reset(&mut self, mark: &Mark) {
        for id in (mark.nodes..self.nodes.len()).rev() {
            let hash = self.node_hash(id);
            if let Ok(entry) = self.lookup.find_entry(hash, |&i| i as usize == id) {
                entry.remove();
            }
        }
        self.nodes.truncate(mark.nodes);
        self.args.truncate(mark.args);
        if self.symbols.len() > mark.symbols {
            self.fresh_from.clear();
        }
        self.symbols.truncate(mark.symbols);
        self.sorts.truncate(mark.sorts);
        self.literals.truncate(mark.literals);
        self.indices.truncate(mark.indices);
        self.vars.truncate(mark.vars);
        self.var_lists.truncate(mark.var_lists);
        self.patterns.truncate(mark.patterns);
        self.attributes.truncate(mark.attributes);
        self.funs.truncate(mark.funs);
        self.sort_decls.truncate(mark.sort_decls);
        self.datatypes.truncate(mark.datatypes);
    }

    /// How many distinct terms the store holds: ids are below this number.
    pub fn term_count(&self) -> usize {
        self.nodes.len()
    }

    // Names.

    pub fn symbol(&mut self, name: &str) -> Symbol {
        self.symbols.intern(name)
    }

    /// The symbol of a name that the store has seen.
    pub fn known_symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name)
    }

    pub fn name(&self, symbol: Symbol) -> &str {
        self.symbols.name(symbol)
    }

    // Sorts.

    pub fn sort(&mut self, kind: SortKind) -> Sort {
        Sort(self.sorts.intern(kind))
    }

    #[inline]
    pub fn sort_kind(&self, sort: Sort) -> &SortKind {
        self.sorts.get(sort.0)
    }

    pub fn sort_count(&self) -> usize {
        self.sorts.len()
    }

    pub fn bitvec(&mut self, width: u32) -> Sort {
        self.sort(SortKind::BitVec(width))
    }

    pub fn float(&mut self, exponent: u32, significand: u32) -> Sort {
        self.sort(SortKind::Float(exponent, significand))
    }

    pub fn array(&mut self, index: Sort, element: Sort) -> Sort {
        self.sort(SortKind::Array(index, element))
    }

    /// The sort of functions; without parameters it is the result itself.
    pub fn function_sort(&mut self, params: &[Sort], result: Sort) -> Sort {
        if params.is_empty() {
            return result;
        }
        // (-> A (-> B C)) and (-> A B C) mean the same but are kept as written, because Z3 tells them apart;
        // see `compatible`.
        self.sort(SortKind::Fun(params.into(), result))
    }

    /// The sort of terms about which nothing is known.
    pub fn unknown_sort(&self) -> Sort {
        Sort::UNKNOWN
    }

    #[inline]
    pub fn is_opaque_sort(&self, sort: Sort) -> bool {
        sort.0 >= Sort::UNKNOWN.0 && matches!(self.sort_kind(sort), SortKind::Opaque(_))
    }

    pub fn declare_sort(&mut self, name: Symbol, arity: u32) -> SortDecl {
        self.sort_decls.push((name, arity));
        SortDecl(self.sort_decls.len() as u32 - 1)
    }

    /// Name and number of parameters.
    pub fn sort_decl(&self, decl: SortDecl) -> (Symbol, u32) {
        self.sort_decls[decl.0 as usize]
    }

    /// Adds a datatype without constructors; recursive ones need the id before their fields.
    pub fn declare_datatype(&mut self, name: Symbol, params: &[Symbol]) -> Datatype {
        self.datatypes.push(DatatypeDecl {
            name,
            params: params.into(),
            constructors: Vec::new(),
            codatatype: false,
        });
        Datatype(self.datatypes.len() as u32 - 1)
    }

    /// All datatypes of the store, in order of declaration.
    pub fn all_datatypes(&self) -> impl Iterator<Item = Datatype> + use<> {
        (0..self.datatypes.len() as u32).map(Datatype)
    }

    pub fn datatype(&self, datatype: Datatype) -> &DatatypeDecl {
        &self.datatypes[datatype.0 as usize]
    }

    pub(crate) fn datatype_mut(&mut self, datatype: Datatype) -> &mut DatatypeDecl {
        &mut self.datatypes[datatype.0 as usize]
    }

    /// Adds a constructor to a datatype just declared.
    pub fn add_constructor(&mut self, datatype: Datatype, constructor: ConstructorDecl) {
        self.datatype_mut(datatype).constructors.push(constructor);
    }

    /// The fields' sorts of a constructor for one instance of the datatype.
    pub fn field_sorts(&mut self, datatype: Datatype, constructor: u16, instance: Sort) -> Vec<Sort> {
        let decl = self.datatype(datatype);
        let sorts: Vec<Sort> =
            decl.constructors[usize::from(constructor)].fields.iter().map(|(_, sort)| *sort).collect();
        if decl.params.is_empty() {
            return sorts;
        }
        let params = decl.params.clone();
        let args = match self.sort_kind(instance) {
            SortKind::Datatype(_, args) => args.clone(),
            _ => return sorts,
        };
        sorts.into_iter().map(|sort| self.substitute_sort(sort, &params, &args)).collect()
    }

    /// Replaces sort parameters.
    pub fn substitute_sort(&mut self, sort: Sort, params: &[Symbol], args: &[Sort]) -> Sort {
        let kind = self.sort_kind(sort).clone();
        let mut map = |inner: Sort| self.substitute_sort(inner, params, args);
        let replaced = match kind {
            SortKind::Param(name) => {
                return params.iter().position(|param| *param == name).map_or(sort, |i| args[i]);
            }
            SortKind::Seq(s) => SortKind::Seq(map(s)),
            SortKind::Set(s) => SortKind::Set(map(s)),
            SortKind::Bag(s) => SortKind::Bag(map(s)),
            SortKind::Nullable(s) => SortKind::Nullable(map(s)),
            SortKind::Array(i, e) => SortKind::Array(map(i), map(e)),
            SortKind::Tuple(sorts) => SortKind::Tuple(sorts.iter().map(|s| map(*s)).collect()),
            SortKind::Fun(sorts, result) => {
                let params: Vec<Sort> = sorts.iter().map(|s| map(*s)).collect();
                let result = map(result);
                return self.function_sort(&params, result);
            }
            SortKind::Declared(decl, sorts) => {
                SortKind::Declared(decl, sorts.iter().map(|s| map(*s)).collect())
            }
            SortKind::Datatype(dt, sorts) => SortKind::Datatype(dt, sorts.iter().map(|s| map(*s)).collect()),
            _ => return sort,
        };
        self.sort(replaced)
    }

    // Functions and variables.

    pub fn declare_fun(&mut self, name: Symbol, params: &[Sort], result: Sort) -> Fun {
        self.funs.push(FunDecl { name, params: params.into(), result, definition: None });
        Fun(self.funs.len() as u32 - 1)
    }

    /// Gives a declared function its body.
    pub fn define(&mut self, fun: Fun, definition: Definition) {
        self.funs[fun.index()].definition = Some(definition);
    }

    #[inline]
    pub fn fun(&self, fun: Fun) -> &FunDecl {
        &self.funs[fun.index()]
    }

    pub fn fun_count(&self) -> usize {
        self.funs.len()
    }

    /// All functions of the store, in order of declaration.
    pub fn all_funs(&self) -> impl Iterator<Item = Fun> + use<> {
        (0..self.funs.len() as u32).map(Fun)
    }

    pub fn var(&mut self, name: Symbol, sort: Sort) -> Var {
        Var(self.vars.intern((name, sort)))
    }

    pub fn var_name(&self, var: Var) -> Symbol {
        self.vars.get(var.0).0
    }

    pub fn var_sort(&self, var: Var) -> Sort {
        self.vars.get(var.0).1
    }

    pub fn vars(&mut self, vars: &[Var]) -> Vars {
        Vars(self.var_lists.intern(vars.into()))
    }

    pub fn var_list(&self, vars: Vars) -> &[Var] {
        self.var_lists.get(vars.0)
    }

    /// All bound variables the store has seen.
    pub fn all_vars(&self) -> impl Iterator<Item = Var> + use<> {
        (0..self.vars.len() as u32).map(Var)
    }

    // Parts of heads.

    pub fn literal_id(&mut self, literal: Literal) -> LiteralId {
        LiteralId(self.literals.intern(literal))
    }

    #[inline]
    pub fn literal(&self, id: LiteralId) -> &Literal {
        self.literals.get(id.0)
    }

    pub fn indices(&mut self, indices: &[Index]) -> Indices {
        if indices.is_empty() { Indices::NONE } else { Indices(self.indices.intern(indices.into())) }
    }

    pub fn index_list(&self, indices: Indices) -> &[Index] {
        self.indices.get(indices.0)
    }

    /// The number at a place of an index list.
    pub fn index_number(&self, indices: Indices, place: usize) -> Option<u32> {
        match self.index_list(indices).get(place)? {
            Index::Number(n) => Some(*n),
            _ => None,
        }
    }

    pub fn patterns(&mut self, patterns: Vec<Pattern>) -> Patterns {
        Patterns(self.patterns.intern(patterns.into()))
    }

    pub fn pattern_list(&self, patterns: Patterns) -> &[Pattern] {
        self.patterns.get(patterns.0)
    }

    pub fn attributes(&mut self, attributes: Vec<Attribute>) -> Attributes {
        Attributes(self.attributes.intern(attributes.into()))
    }

    pub fn attribute_list(&self, attributes: Attributes) -> &[Attribute] {
        self.attributes.get(attributes.0)
    }

    // Terms.

    #[inline]
    pub fn head(&self, term: Term) -> Head {
        self.nodes[term.index()].head
    }

    #[inline]
    pub fn args(&self, term: Term) -> &[Term] {
        let node = &self.nodes[term.index()];
        &self.args[node.args as usize..(node.args + node.arity) as usize]
    }

    #[inline]
    pub fn sort_of(&self, term: Term) -> Sort {
        self.nodes[term.index()].sort
    }

    /// How many nodes the term has where it is written out without sharing; 255 stands for more.
    #[inline]
    pub fn written_size(&self, term: Term) -> u8 {
        self.nodes[term.index()].size
    }

    /// A bound variable occurs somewhere below, free or not.
    pub fn mentions_vars(&self, term: Term) -> bool {
        self.nodes[term.index()].flags.has(Flags::VAR)
    }

    /// A quantifier, lambda, match or other binder occurs.
    pub fn has_binder(&self, term: Term) -> bool {
        self.nodes[term.index()].flags.has(Flags::BINDER)
    }

    /// An unknown operator or sort occurs.
    pub fn is_opaque(&self, term: Term) -> bool {
        self.nodes[term.index()].flags.has(Flags::OPAQUE)
    }

    /// The operator at the head.
    #[inline]
    pub fn op_of(&self, term: Term) -> Option<Op> {
        match self.head(term) {
            Head::Op(op, _) => Some(op),
            _ => None,
        }
    }

    /// Hash-conses a node whose sort has been checked.
    pub(crate) fn node(&mut self, head: Head, args: &[Term], sort: Sort) -> Term {
        let hash = hash_node(head, args, sort);
        let (nodes, pool) = (&self.nodes, &self.args);
        let found = self.lookup.find(hash, |&i| {
            let node = &nodes[i as usize];
            node.head == head
                && node.sort == sort
                && node.arity as usize == args.len()
                && pool[node.args as usize..][..args.len()] == *args
        });
        if let Some(&found) = found {
            return Term(found);
        }
        let mut flags = args.iter().fold(0, |flags, arg| flags | self.nodes[arg.index()].flags.0);
        flags |= match head {
            Head::Var(_) => Flags::VAR.0,
            Head::Bind(..) | Head::Match(_) => Flags::BINDER.0,
            Head::Opaque(_) => Flags::OPAQUE.0,
            _ => 0,
        };
        if self.is_opaque_sort(sort) {
            flags |= Flags::OPAQUE.0;
        }
        let size = args.iter().fold(1u8, |size, arg| size.saturating_add(self.nodes[arg.index()].size));
        let id = self.nodes.len() as u32;
        let start = self.args.len() as u32;
        self.args.extend_from_slice(args);
        self.nodes.push(Node {
            head,
            args: start,
            arity: args.len() as u32,
            sort,
            flags: Flags(flags),
            size,
        });
        let (nodes, pool) = (&self.nodes, &self.args);
        self.lookup.insert_unique(hash, id, |&i| {
            let node = &nodes[i as usize];
            hash_node(node.head, &pool[node.args as usize..][..node.arity as usize], node.sort)
        });
        Term(id)
    }

    fn node_hash(&self, id: usize) -> u64 {
        let term = Term(id as u32);
        hash_node(self.head(term), self.args(term), self.sort_of(term))
    }

    /// The order of a finite field sort.
    pub fn field_order(&self, sort: Sort) -> Option<&UBig> {
        match self.sort_kind(sort) {
            SortKind::FiniteField(order) => Some(order),
            _ => None,
        }
    }
}

fn hash_node(head: Head, args: &[Term], sort: Sort) -> u64 {
    let mut hasher: FxHasher = FxBuildHasher.build_hasher();
    head.hash(&mut hasher);
    hasher.write_u32(sort.0);
    for arg in args {
        hasher.write_u32(arg.0);
    }
    hasher.finish()
}
