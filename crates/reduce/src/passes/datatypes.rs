//! Smaller datatypes: without some of their constructors, and constructors without some of their fields.
//!
//! A datatype with other constructors is another sort, so all terms over it would have to be made anew. It is simpler to
//! change the text and read it again: what mentions something that has gone is not well-sorted, and no candidate.

use eval::model_text::write_model;
use rustc_hash::FxHashMap;
use smtlib::{Command, Release, print};

use super::Pass;
use crate::driver::Reduction;
use crate::error::ReduceError;
use crate::outline::{Change, Outline};

/// Leaves out constructors and fields.
pub struct Datatypes;

impl Pass for Datatypes {
    fn name(&self) -> &'static str {
        "datatypes"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let declares = |command: &Command| matches!(command, Command::DeclareDatatypes(_));
        // After a success there are other parts in the same places.
        let mut next = 0;
        while reduction.bench.draft.script.commands.iter().any(declares) && !reduction.over() {
            let bench = &mut reduction.bench;
            let script = bench.draft.script.clone();
            let text = print::print(&bench.store, &script, Release::STANDARD);
            let model = match &bench.draft.model {
                Some(model) => write_model(&mut bench.store, &script, model).ok(),
                None => None,
            };
            let Some(outline) = Outline::of(text.as_bytes()) else { return Ok(()) };
            let parts = parts(&outline);
            let Some(part) = parts.get(next) else { return Ok(()) };
            let model = model.and_then(|model| fitting(&model, part));
            if !reduction.renewed(&without(&outline, part), model.as_deref())? {
                next += 1;
            }
        }
        Ok(())
    }
}

/// What can be left out of a declaration.
enum Part {
    /// One of several constructors, by its node.
    Constructor(usize),
    Field {
        node: usize,
        /// Its constructor's name, its place, and how many there are.
        of: String,
        place: usize,
        count: usize,
    },
}

/// All parts of all datatypes, constructors first.
fn parts(outline: &Outline) -> Vec<Part> {
    let (mut constructors, mut fields) = (Vec::new(), Vec::new());
    for root in &outline.roots {
        let [head, _, bodies] = outline.children(*root) else { continue };
        if !outline.flat(*head).starts_with("declare-") || !outline.flat(*head).ends_with("datatypes") {
            continue;
        }
        for body in outline.children(*bodies) {
            // (par (X) (constructors...))
            let own = match outline.children(*body) {
                [par, _, own] if outline.flat(*par) == "par" => *own,
                _ => *body,
            };
            let all = outline.children(own);
            if all.len() > 1 {
                constructors.extend(all.iter().map(|node| Part::Constructor(*node)));
            }
            for constructor in all {
                let Some((name, own)) = outline.children(*constructor).split_first() else { continue };
                let of = outline.flat(*name);
                fields.extend(own.iter().enumerate().map(|(place, node)| Part::Field {
                    node: *node,
                    of: of.clone(),
                    place,
                    count: own.len(),
                }));
            }
        }
    }
    constructors.extend(fields);
    constructors
}

/// The script without a part of a datatype.
fn without(outline: &Outline, part: &Part) -> String {
    let mut changes = applications(outline, part);
    let (Part::Constructor(node) | Part::Field { node, .. }) = part;
    changes.insert(*node, Change::Drop);
    outline.text(&|node| changes.get(&node).copied().unwrap_or(Change::Keep))
}

/// The model with its values changed alike.
fn fitting(model: &str, part: &Part) -> Option<String> {
    let outline = Outline::of(model.as_bytes())?;
    let changes = applications(&outline, part);
    Some(outline.text(&|node| changes.get(&node).copied().unwrap_or(Change::Keep)))
}

/// Applications and patterns of a field's constructor lose an argument.
fn applications(outline: &Outline, part: &Part) -> FxHashMap<usize, Change> {
    let mut changes = FxHashMap::default();
    let Part::Field { of, place, count, .. } = part else { return changes };
    for node in outline.levels().concat() {
        let Some((head, args)) = outline.children(node).split_first() else { continue };
        if args.len() != *count || outline.is_list(*head) || outline.flat(*head) != *of {
            continue;
        }
        if *count == 1 {
            changes.insert(node, Change::By(*head));
        } else {
            changes.insert(args[*place], Change::Drop);
        }
    }
    // In the declaration itself the field goes, and a constructor without fields stays a list.
    if let Part::Field { node, .. } = part {
        let declares = |(parent, _): &(&usize, &Change)| outline.children(**parent).contains(node);
        let parent = changes.iter().find(declares).map(|(parent, _)| *parent);
        if let Some(parent) = parent {
            changes.remove(&parent);
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, Store};

    /// What is left of a script without each of its parts, where that is well-sorted.
    fn drafts(text: &str) -> Vec<String> {
        let outline = Outline::of(text.as_bytes()).expect("balanced");
        let texts = parts(&outline).into_iter().map(|part| without(&outline, &part));
        let sorted = |text: &String| smtlib::parse(&mut Store::new(), text.as_bytes(), Mode::Strict).is_ok();
        texts.filter(sorted).collect()
    }

    #[test]
    fn fields_go_with_their_arguments() {
        let found = drafts(
            "(declare-datatypes ((P 0)) (((mk (a Int) (b Bool)))))(declare-const p P)\
             (assert (and (= p (mk 1 true)) (> (a p) 0)))(check-sat)",
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("((mk (a Int)))") && found[0].contains("(= p (mk 1))"), "{}", found[0]);
    }

    #[test]
    fn a_constructor_without_fields_is_a_name() {
        let found = drafts(
            "(declare-datatypes ((B 0)) (((box (content Int)))))(declare-const b B)(assert (= b (box 3)))(check-sat)",
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("((box))") && found[0].contains("(= b box)"), "{}", found[0]);
    }

    #[test]
    fn constructors_that_nothing_mentions_go() {
        let found = drafts(
            "(declare-datatypes ((L 0)) (((nil) (cons (h Int) (t L)))))(declare-const x L)\
             (assert (distinct x nil))(check-sat)",
        );
        assert!(found.iter().any(|text| text.contains("(((nil)))")), "{found:?}");
        assert!(found.iter().any(|text| text.contains("(cons (h Int))")), "{found:?}");
    }
}
