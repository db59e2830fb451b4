//! The entry point: from what the user wrote to solvers that run.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize;
use smtlib::Family;

use super::error::InstallError;
use super::home::Home;
use super::release::{self, Step};
use super::{How, Installed, Source, hash, identify, pip};
use crate::adapter::{Adapter, Adapters, Package, Registry};
use crate::screen::Screen;
use crate::solver::Solver;
use crate::spec::{Spec, Wanted, Which};
use crate::version::Version;

/// Told what an installation does: the release (`z3@5.4.0`) and the step.
pub type Progress<'a> = &'a dyn Fn(&str, Step);

/// All solvers this machine has or could have.
#[derive(Debug)]
pub struct Solvers {
    adapters: Adapters,
    shared: Vec<Arc<Adapter>>,
    screen: Arc<Screen>,
    home: Home,
}

/// One line of `osprey solvers list`.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// The adapter's name.
    pub name: String,
    /// The name its authors write.
    pub title: String,
    /// What is on this machine.
    pub installed: Vec<Installed>,
    /// What could be.
    pub available: Available,
}

/// What could be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Available {
    /// These, newest first.
    Releases(Vec<Version>),
    /// The registry was not asked or did not answer.
    Unknown {
        /// Why.
        why: String,
    },
    /// The user has to bring it.
    Bring,
}

impl Solvers {
    /// With these adapters and this data directory.
    pub fn new(adapters: Adapters, home: Home) -> Self {
        let shared = adapters.iter().cloned().map(Arc::new).collect();
        let screen = Arc::new(Screen::new(&adapters));
        Solvers { adapters, shared, screen, home }
    }

    /// The adapters in force.
    pub fn adapters(&self) -> &Adapters {
        &self.adapters
    }

    /// The data directory.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The solvers a `-s` value names, installed on the way where need be.
    pub fn resolve(&self, text: &str, progress: Progress) -> Result<Vec<Solver>, InstallError> {
        let mut solvers = Vec::new();
        for spec in Spec::parse(text)? {
            for installed in self.find(&spec.which, progress)? {
                solvers.push(self.ready(installed, spec.options.clone())?.ask_what_it_lacks(&self.home));
            }
        }
        Ok(solvers)
    }

    /// Installs what a spec names, all releases of a range too. What is there already is given back as it is.
    pub fn install(&self, text: &str, progress: Progress) -> Result<Vec<Installed>, InstallError> {
        let mut all = Vec::new();
        for spec in Spec::parse(text)? {
            match &spec.which {
                // Asked to install, a bare name means the newest release and not what happens to be on PATH.
                Which::Name(name) => {
                    let adapter = self.adapter(name)?;
                    all.extend(self.releases(&adapter, &Wanted::Latest, progress)?);
                }
                which => all.extend(self.find(which, progress)?),
            }
        }
        Ok(all)
    }

    /// What is installed and what could be. With `ask` the registries are asked; without, what they last said counts.
    pub fn list(&self, ask: bool) -> Vec<Listed> {
        let installed = release::all_installed(&self.home);
        self.shared
            .iter()
            .filter(|adapter| adapter.name != self.adapters.any_command().name)
            .map(|adapter| {
                let on_path = self.on_path(adapter).into_iter().filter(|found| found.name == adapter.name);
                let mine = installed.iter().filter(|release| release.name == adapter.name).cloned();
                Listed {
                    name: adapter.name.clone(),
                    title: adapter.title.clone(),
                    installed: mine.chain(on_path).collect(),
                    available: self.available(adapter, ask),
                }
            })
            .collect()
    }

    /// The newest release of each line of solvers that is on this machine, those that answer most scripts first. Nothing
    /// is installed.
    pub fn newest_of_each_line(&self) -> Vec<Solver> {
        let here = self.list(false).into_iter().flat_map(|listed| listed.installed);
        let mut solvers: Vec<Solver> = here
            // A build of nobody knows which release has no age.
            .filter(|installed| installed.version.is_some())
            .filter_map(|installed| self.ready(installed, Vec::new()).ok())
            // Its `sat` is about a weaker script, and what is not known is of no line.
            .filter(|solver| !matches!(solver.lineage(), Family::DReal | Family::Other | Family::Standard))
            .collect();
        let past = |solver: &Solver| solver.lineage() != solver.release().family;
        solvers.sort_by(|a, b| {
            (a.lineage(), past(a), Reverse(a.version())).cmp(&(b.lineage(), past(b), Reverse(b.version())))
        });
        solvers.dedup_by_key(|solver| solver.lineage());
        solvers.into_iter().map(|solver| solver.ask_what_it_lacks(&self.home)).collect()
    }

    fn available(&self, adapter: &Adapter, ask: bool) -> Available {
        if adapter.packages.is_empty() {
            return Available::Bring;
        }
        if ask {
            return match self.offered(adapter, None) {
                Ok(offers) => {
                    let named = offers.iter().map(|(version, package)| package.user_name(version));
                    Available::Releases(named.collect())
                }
                Err(error) => Available::Unknown { why: error.to_string() },
            };
        }
        let mut known = Vec::new();
        for package in &adapter.packages {
            known.extend(match package.registry {
                Registry::Debian => package.carries.clone(),
                Registry::Pypi => pip::remembered_versions(&self.home, &package.name),
            });
        }
        let named = |version: Version| Some(adapter.package_for(&version)?.user_name(&version));
        let mut known: Vec<Version> = known.into_iter().filter_map(named).collect();
        newest_first(&mut known);
        if known.is_empty() {
            return Available::Unknown { why: "the registry has not been asked yet".into() };
        }
        Available::Releases(known)
    }

    fn ready(&self, installed: Installed, options: Vec<String>) -> Result<Solver, InstallError> {
        let adapter = self.adapter(&installed.name)?;
        let solver = Solver::new(installed, adapter, self.adapters.common_messages(), options);
        Ok(Solver { screen: Arc::clone(&self.screen), ..solver })
    }

    fn adapter(&self, name: &str) -> Result<Arc<Adapter>, InstallError> {
        let found = self.shared.iter().find(|adapter| adapter.name == name);
        found.cloned().ok_or_else(|| InstallError::UnknownSolver {
            name: name.to_string(),
            nearest: self.adapters.nearest_names(name),
        })
    }

    fn find(&self, which: &Which, progress: Progress) -> Result<Vec<Installed>, InstallError> {
        match which {
            Which::Path(path) => Ok(vec![self.executable(identify::executable(path)?, Source::Given)]),
            Which::Name(name) => self.by_name(name, progress).map(|found| vec![found]),
            Which::Release(name, wanted) => {
                let adapter = self.adapter(name)?;
                self.releases(&adapter, wanted, progress)
            }
        }
    }

    fn executable(&self, path: std::path::PathBuf, origin: Source) -> Installed {
        let identity = identify::identify(&self.home, &self.adapters, &path);
        // What cannot be read can still be run; it is known by its path and version then.
        let sha256 = hash::sha256(&path).ok();
        Installed {
            name: identity.name,
            version: identity.version,
            how: How::Executable { path },
            env: Vec::new(),
            origin,
            sha256,
        }
    }

    /// A bare name: what is on PATH, then the newest that is installed, then the newest there is.
    fn by_name(&self, name: &str, progress: Progress) -> Result<Installed, InstallError> {
        if let Some(path) = identify::on_path(name) {
            return Ok(self.executable(path, Source::OnPath));
        }
        let adapter = self.adapter(name)?;
        if let Some(found) = self.on_path(&adapter).into_iter().find(|found| found.name == adapter.name) {
            return Ok(found);
        }
        let mine =
            release::all_installed(&self.home).into_iter().filter(|release| release.name == adapter.name);
        if let Some(version) = mine.filter_map(|release| release.version).max() {
            // By its number, so that a damaged one is noticed.
            return self
                .releases(&adapter, &Wanted::Version(version), progress)?
                .pop()
                .ok_or_else(|| self.not_installable(&adapter));
        }
        self.releases(&adapter, &Wanted::Latest, progress)?
            .pop()
            .ok_or_else(|| self.not_installable(&adapter))
    }

    fn on_path(&self, adapter: &Adapter) -> Vec<Installed> {
        let paths = adapter.executables.iter().filter_map(|name| identify::on_path(name));
        paths.map(|path| self.executable(path, Source::OnPath)).collect()
    }

    /// `name@...`: what is installed, what is on PATH, then the registries.
    fn releases(
        &self,
        adapter: &Arc<Adapter>,
        wanted: &Wanted,
        progress: Progress,
    ) -> Result<Vec<Installed>, InstallError> {
        let asking = || progress(&adapter.name, Step::Asking);
        match wanted {
            Wanted::Version(version) => {
                if let Some(found) = release::installed(&self.home, adapter, version) {
                    return Ok(vec![found]);
                }
                let here = self.on_path(adapter).into_iter().find(|found| {
                    found.name == adapter.name
                        && found.version.as_ref().is_some_and(|found| version.asks_for(found))
                });
                if let Some(found) = here {
                    return Ok(vec![found]);
                }
                if adapter.packages.is_empty() {
                    return Err(self.not_installable(adapter));
                }
                asking();
                let offers = self.offered(adapter, Some(version)).or_else(|error| {
                    // Offline, a prefix such as 4.8 may still be served from the cache.
                    let mine = self.installed_like(adapter, version);
                    if mine.is_empty() { Err(error) } else { Ok(mine) }
                })?;
                let Some((release, package)) = offers.iter().find(|(offer, _)| version.asks_for(offer))
                else {
                    return Err(unknown_version(adapter, version, &offers));
                };
                self.install_one(adapter, package, release, progress).map(|done| vec![done])
            }
            Wanted::Latest => {
                if adapter.packages.is_empty() {
                    return Err(self.not_installable(adapter));
                }
                asking();
                let offers = self.offered(adapter, None)?;
                let (release, package) = offers.first().ok_or_else(|| self.not_installable(adapter))?;
                self.install_one(adapter, package, release, progress).map(|done| vec![done])
            }
            Wanted::Range(first, last) => {
                asking();
                let offers = self.offered(adapter, None)?;
                let inside = offers.iter().filter(|(release, _)| {
                    *release >= *first && (*release <= *last || last.asks_for(release))
                });
                let mut installed = Vec::new();
                for (release, package) in inside.rev() {
                    installed.push(self.install_one(adapter, package, release, progress)?);
                }
                if installed.is_empty() {
                    return Err(unknown_version(adapter, last, &offers));
                }
                Ok(installed)
            }
        }
    }

    fn install_one(
        &self,
        adapter: &Arc<Adapter>,
        package: &Package,
        version: &Version,
        progress: Progress,
    ) -> Result<Installed, InstallError> {
        let shown = format!("{}@{}", adapter.name, package.user_name(version));
        release::install(&self.home, adapter, package, version, &|step| progress(&shown, step))
    }

    /// All releases the registries offer for this machine, newest first, each with its package.
    fn offered<'a>(
        &self,
        adapter: &'a Adapter,
        wanted: Option<&Version>,
    ) -> Result<Vec<(Version, &'a Package)>, InstallError> {
        let mut offers: Vec<(Version, &Package)> = Vec::new();
        let mut asked: Vec<&str> = Vec::new();
        for package in &adapter.packages {
            let versions = match package.registry {
                Registry::Debian => package.carries.clone(),
                Registry::Pypi if asked.contains(&package.name.as_str()) => {
                    pip::remembered_versions(&self.home, &package.name)
                }
                Registry::Pypi => {
                    asked.push(&package.name);
                    let carried =
                        |known: &(Version, &Package)| wanted.is_some_and(|wanted| *wanted == known.0);
                    if offers.iter().any(carried) {
                        pip::remembered_versions(&self.home, &package.name)
                    } else {
                        pip::versions(&self.home, &package.name, wanted)?
                    }
                }
            };
            offers
                .extend(versions.into_iter().filter(|version| package.holds(version)).map(|v| (v, package)));
        }
        offers.sort_by_key(|(version, _)| Reverse(*version));
        Ok(offers)
    }

    fn installed_like<'a>(&self, adapter: &'a Adapter, wanted: &Version) -> Vec<(Version, &'a Package)> {
        let mine =
            release::all_installed(&self.home).into_iter().filter(|release| release.name == adapter.name);
        let versions = mine.filter_map(|release| release.version).filter(|version| wanted.asks_for(version));
        let mut known: Vec<Version> = versions.collect();
        newest_first(&mut known);
        known.into_iter().filter_map(|version| Some((version, adapter.package_for(&version)?))).collect()
    }

    fn not_installable(&self, adapter: &Adapter) -> InstallError {
        InstallError::NotInstallable {
            title: adapter.title.clone(),
            executable: adapter.executables.first().unwrap_or(&adapter.name).clone(),
        }
    }
}

fn newest_first(versions: &mut Vec<Version>) {
    versions.sort_by(|a, b| b.cmp(a));
    versions.dedup();
}

/// The releases around the one that does not exist: the two before and the two after it.
fn unknown_version(adapter: &Adapter, wanted: &Version, offers: &[(Version, &Package)]) -> InstallError {
    let mut all: Vec<Version> = offers.iter().map(|(version, _)| *version).collect();
    all.sort();
    let split = all.partition_point(|version| version < wanted);
    let nearest = all[split.saturating_sub(2)..(split + 2).min(all.len())].to_vec();
    InstallError::UnknownVersion { name: adapter.name.clone(), wanted: wanted.to_string(), nearest }
}
