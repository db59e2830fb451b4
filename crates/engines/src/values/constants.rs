//! Constants that every solver of the group can read: releases with strings of bytes know no character beyond 255.

use eval::sorts::Sorts;
use eval::{Model, Value, to_term};
use generate::Rng;
use smtlib::{Head, Literal, Sort, Store, Term};

/// A random constant without characters beyond the largest one.
pub fn random_constant(store: &mut Store, rng: &mut Rng, sort: Sort, largest: u32) -> Option<Term> {
    let value = Sorts::new(store, &Model::new()).random_value(sort, rng)?;
    written(store, sort, &value, largest)
}

/// The same as the paper's baseline draws: no value comes up more often than others.
pub fn uniform_constant(store: &mut Store, rng: &mut Rng, sort: Sort, largest: u32) -> Option<Term> {
    let value = Sorts::new(store, &Model::new()).uniform_value(sort, rng)?;
    written(store, sort, &value, largest)
}

fn written(store: &mut Store, sort: Sort, value: &Value, largest: u32) -> Option<Term> {
    let constant = to_term(store, sort, value)?;
    Some(match characters(store, constant) {
        Some(characters) if !within(characters, largest) => {
            let folded: Vec<u32> = characters.iter().map(|point| *point % (largest + 1)).collect();
            store.string(&folded)
        }
        _ => constant,
    })
}

/// Has the constant no character beyond the largest one?
pub fn is_readable(store: &Store, constant: Term, largest: u32) -> bool {
    characters(store, constant).is_none_or(|characters| within(characters, largest))
}

fn within(characters: &[u32], largest: u32) -> bool {
    characters.iter().all(|point| *point <= largest)
}

/// Those of a string.
fn characters(store: &Store, constant: Term) -> Option<&[u32]> {
    match store.head(constant) {
        Head::Literal(id) => match store.literal(id) {
            Literal::String(characters) => Some(characters),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use generate::rng;

    use super::*;

    #[test]
    fn random_strings_have_no_character_that_the_group_cannot_read() {
        let mut store = Store::new();
        let mut beyond = 0;
        for stream in 0..300 {
            let large = random_constant(&mut store, &mut rng::stream(5, stream), Sort::STRING, 0x2FFFF);
            let small = random_constant(&mut store, &mut rng::stream(5, stream), Sort::STRING, 0xFF);
            let (large, small) = (large.expect("a string"), small.expect("a string"));
            assert!(is_readable(&store, small, 0xFF));
            beyond += usize::from(!is_readable(&store, large, 0xFF));
            assert_eq!(large == small, is_readable(&store, large, 0xFF), "others stay as they are");
        }
        assert!(beyond > 0, "some are folded");
    }
}
