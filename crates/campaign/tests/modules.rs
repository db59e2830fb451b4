//! The parts of this crate import each other in one direction only, and the table in docs/architecture.md says which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules by name with those they import.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn imports() -> Imports {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = Imports::new();
    let mut folders = vec![source.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
                false => {}
            }
        }
    }
    for file in files {
        let relative = file.strip_prefix(&source).expect("below src").to_string_lossy().into_owned();
        if relative == "lib.rs" {
            continue;
        }
        let module = relative.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&file).expect("UTF-8");
        // Tests may look anywhere.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let imported = imports.entry(module.clone()).or_default();
        for (place, _) in code.match_indices("crate::") {
            let rest = &code[place + "crate::".len()..];
            let names: Vec<String> = match rest.strip_prefix('{') {
                Some(list) => {
                    let list = list.split('}').next().unwrap_or_default();
                    list.split(',').map(|name| name.trim().to_owned()).collect()
                }
                None => vec![rest.to_owned()],
            };
            for name in names {
                let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if name != module && name.starts_with(char::is_lowercase) {
                    imported.insert(name);
                }
            }
        }
    }
    imports
}

/// The modules in an order in which each imports only earlier ones; those on a circle are left over.
fn layers(imports: &Imports) -> (Vec<String>, Vec<String>) {
    let mut order: Vec<String> = Vec::new();
    loop {
        let next = imports
            .iter()
            .find(|(module, needs)| !order.contains(module) && needs.iter().all(|need| order.contains(need)));
        match next {
            Some((module, _)) => order.push(module.clone()),
            None => break,
        }
    }
    let circle = imports.keys().filter(|module| !order.contains(module)).cloned().collect();
    (order, circle)
}

#[test]
fn imports_among_the_parts_have_no_circle() {
    let imports = imports();
    assert!(imports.len() >= 8, "{imports:?}");
    let (_, circle) = layers(&imports);
    let on_it: Vec<_> = imports.iter().filter(|(module, _)| circle.contains(module)).collect();
    assert!(circle.is_empty(), "a circle among {on_it:#?}");
}

#[test]
fn the_architecture_page_has_the_table_of_imports() {
    let imports = imports();
    let (order, _) = layers(&imports);
    let mut table = String::from("| part | imports |\n| --- | --- |\n");
    for module in &order {
        let needs: Vec<String> = imports[module].iter().map(|need| format!("`{need}`")).collect();
        let needs = if needs.is_empty() { "nothing of this crate".to_owned() } else { needs.join(", ") };
        table += &format!("| `{module}` | {needs} |\n");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains(&table), "docs/architecture.md should have this table:\n\n{table}");
}
