//! Smaller numbers, bit patterns and strings.

use dashu_int::UBig;
use smtlib::{Head, Integer, Literal, Store, Term};

use super::Pass;
use super::operators::all_terms;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;

/// Replaces constants by simpler ones: zero, one, half, shorter.
pub struct Literals;

impl Pass for Literals {
    fn name(&self) -> &'static str {
        "constants"
    }

    fn is_cosmetic(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let mut rank = 0;
        loop {
            let mut edits = Vec::new();
            for term in all_terms(reduction) {
                let choices = simpler(&mut reduction.bench.store, term);
                edits.extend(choices.get(rank).map(|new| Edit::Term(term, *new)));
            }
            if edits.is_empty() || reduction.over() {
                return Ok(());
            }
            reduction.edits(edits)?;
            rank += 1;
        }
    }
}

/// Simpler constants for one; nothing for other terms.
pub fn simpler(store: &mut Store, term: Term) -> Vec<Term> {
    let Head::Literal(id) = store.head(term) else { return Vec::new() };
    let literals: Vec<Literal> = match store.literal(id).clone() {
        Literal::Int(value) => integers(&value).into_iter().map(Literal::Int).collect(),
        Literal::Real(value) => {
            let whole = value.floor();
            let mut all = vec![whole.clone()];
            all.extend(integers(&whole));
            all.into_iter().map(|value| Literal::Real(value.into())).collect()
        }
        Literal::BitVec(width, value) => {
            let halves = [UBig::ZERO, UBig::ONE, value.clone() >> 1];
            halves.into_iter().filter(|new| *new < value).map(|new| Literal::BitVec(width, new)).collect()
        }
        Literal::String(chars) => {
            strings(&chars).into_iter().map(|chars| Literal::String(chars.into())).collect()
        }
        Literal::Field(sort, value) => {
            let small = [UBig::ZERO, UBig::ONE];
            small.into_iter().filter(|new| *new < value).map(|new| Literal::Field(sort, new)).collect()
        }
    };
    let mut found = Vec::new();
    for literal in literals {
        let new = store.literal_term(literal);
        if new != term && !found.contains(&new) {
            found.push(new);
        }
    }
    found
}

fn integers(value: &Integer) -> Vec<Integer> {
    let tenth = value.div_euclid(&Integer::new(10)).unwrap_or_default();
    let less = value - &Integer::ONE;
    let candidates = [Integer::ZERO, Integer::ONE, Integer::new(2), value.shift_right(1), tenth, less];
    candidates.into_iter().filter(|new| new < value && !new.is_negative()).collect()
}

fn strings(chars: &[u32]) -> Vec<Vec<u32>> {
    let half = chars.len() / 2;
    let plain = vec![u32::from('A'); chars.len()];
    let first = chars.first().copied().into_iter().collect();
    let mut found = vec![Vec::new(), first, chars[..half].to_vec(), chars[half..].to_vec()];
    if chars.len() > 1 {
        found.push(chars[1..].to_vec());
        found.push(chars[..chars.len() - 1].to_vec());
    }
    found.push(plain);
    found.retain(|new| new != chars);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_get_simpler_and_never_larger() {
        let mut store = Store::new();
        let hundred = store.int(100);
        let found = simpler(&mut store, hundred);
        assert_eq!(found.first().map(|term| store.term_text(*term)).as_deref(), Some("0"));
        let texts: Vec<String> = found.iter().map(|term| store.term_text(*term)).collect();
        assert!(texts.contains(&"50".to_owned()) && texts.contains(&"99".to_owned()));
        let zero = store.int(0);
        assert!(simpler(&mut store, zero).is_empty());
        let text = store.string(&[97, 98, 99]);
        let found = simpler(&mut store, text);
        assert_eq!(store.term_text(found[0]), "\"\"");
    }
}
