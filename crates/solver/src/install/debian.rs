//! The distribution's packages, unpacked without root: `apt-get download`, then `dpkg-deb -x`.

use std::path::Path;
use std::time::Duration;

use super::error::InstallError;
use super::process::{command, run};

const DOWNLOAD: Duration = Duration::from_secs(900);
const UNPACK: Duration = Duration::from_secs(300);

/// Unpacks a package and those it needs below `into`. A needed package may be missing under its name: other releases of
/// the distribution call it otherwise, and the system may have it; the trial run that follows decides.
pub(super) fn unpack(package: &str, needs: &[String], into: &Path) -> Result<(), InstallError> {
    let archives = into.join(".archives");
    std::fs::create_dir_all(&archives).map_err(|source| InstallError::disk(&archives, source))?;
    download(package, &archives)?;
    for needed in needs {
        match download(needed, &archives) {
            Ok(()) | Err(InstallError::Debian { .. }) => {}
            Err(error) => return Err(error),
        }
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

fn download(package: &str, into: &Path) -> Result<(), InstallError> {
    let finished = run(command("apt-get").args(["download", "-qq", package]).current_dir(into), DOWNLOAD)
        .map_err(|source| InstallError::NoApt { package: package.to_string(), source })?;
    if finished.success {
        return Ok(());
    }
    Err(InstallError::Debian { package: package.to_string(), said: finished.last_words() })
}
