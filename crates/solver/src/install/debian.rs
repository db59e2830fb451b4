//! The distribution's packages, unpacked without root: `apt-get download`, then `dpkg-deb -x`.

use std::path::Path;
use std::time::Duration;

use super::error::InstallError;
use super::process::{command, run};

const LISTING: Duration = Duration::from_secs(120);
const DOWNLOAD: Duration = Duration::from_secs(900);
const UNPACK: Duration = Duration::from_secs(300);

/// Unpacks a package and those it needs below `into`. A needed package may be missing under its name: other releases of
/// the distribution call it otherwise, and the system may have it; the trial run that follows decides.
pub(super) fn unpack(package: &str, needs: &[String], into: &Path) -> Result<(), InstallError> {
    let archives = into.join(".archives");
    std::fs::create_dir_all(&archives).map_err(|source| InstallError::disk(&archives, source))?;
    let names: Vec<&str> = std::iter::once(package).chain(needs.iter().map(String::as_str)).collect();
    let known = known(package, &names)?;
    if !known.contains(&package) {
        return Err(InstallError::Debian {
            package: package.to_string(),
            said: "no such package here".into(),
        });
    }
    let finished =
        run(command("apt-get").args(["download", "-qq"]).args(&known).current_dir(&archives), DOWNLOAD)
            .map_err(|source| InstallError::NoApt { package: package.to_string(), source })?;
    if !finished.success {
        return Err(InstallError::Debian { package: package.to_string(), said: finished.last_words() });
    }
    for entry in std::fs::read_dir(&archives).map_err(|source| InstallError::disk(&archives, source))? {
        let path = entry.map_err(|source| InstallError::disk(&archives, source))?.path();
        let finished = run(command("dpkg-deb").arg("-x").arg(&path).arg(into), UNPACK)
            .map_err(|source| InstallError::NoApt { package: package.to_string(), source })?;
        if !finished.success {
            return Err(InstallError::Debian { package: package.to_string(), said: finished.last_words() });
        }
    }
    std::fs::remove_dir_all(&archives).map_err(|source| InstallError::disk(&archives, source))
}

/// Those of the packages the distribution has a version of.
fn known<'a>(package: &str, names: &[&'a str]) -> Result<Vec<&'a str>, InstallError> {
    let finished = run(command("apt-cache").arg("policy").args(names).env("LC_ALL", "C"), LISTING)
        .map_err(|source| InstallError::NoApt { package: package.to_string(), source })?;
    Ok(candidates(&finished.stdout, names))
}

/// Reads `apt-cache policy`: a line `name:`, then indented lines, one of them `Candidate: version`.
fn candidates<'a>(policy: &str, names: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut current = None;
    for line in policy.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            let name = name.split(':').next().unwrap_or(name);
            current = names.iter().find(|known| **known == name);
        } else if let (Some(version), Some(name)) = (line.trim().strip_prefix("Candidate: "), current)
            && version != "(none)"
        {
            found.push(*name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_a_candidate_are_left_out() {
        let policy = "cvc4:\n  Installed: 1.8-3\n  Candidate: 1.8-3\n  Version table:\n *** 1.8-3 500\n\
            libold:\n  Installed: (none)\n  Candidate: (none)\n  Version table:\nlibgmp10:amd64:\n  Candidate: 2:6.2\n";
        assert_eq!(candidates(policy, &["cvc4", "libold", "libgmp10", "libnever"]), ["cvc4", "libgmp10"]);
    }
}
