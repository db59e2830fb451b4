//! Local copies of campaigns that are kept on a server.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use campaign::store::{CampaignStore, Place, StoreError};
use campaign::{CampaignError, findings, hash};
use solver::Home;

use crate::output;

/// The output folder of a campaign: as it is named, or a copy of the one at an address, fetched now.
pub fn folder(named: &Path) -> Result<PathBuf> {
    let text = named.to_string_lossy();
    if !campaign::store::is_meant_as_address(&text) {
        return Ok(named.to_owned());
    }
    let place = Place::named(&text, Path::new("")).map_err(CampaignError::from)?;
    let Some(campaign) = place.campaign().map_err(CampaignError::from)? else {
        return Err(CampaignError::from(StoreError::Missing(place.shown())).into());
    };
    let home = Home::of_user().context("a folder for the copy")?;
    let out = home.root().join("campaigns").join(hash::name(campaign.as_bytes()));
    Place::named(&text, &out).and_then(|place| place.settle()).map_err(CampaignError::from)?;
    fetch(&out)?;
    Ok(out)
}

/// Brings a copy up to date; another folder stays as it is.
pub fn fetch(out: &Path) -> Result<()> {
    let place = Place::of(out).map_err(CampaignError::from)?;
    if !place.is_shared() {
        return Ok(());
    }
    let bugs = out.join("bugs");
    output::folder(&bugs)?;
    let mut store = place.read().map_err(CampaignError::from)?;
    store.archive().map_or(Ok(()), |archive| findings::fetch(archive, &bugs))?;
    Ok(())
}

/// The store of a campaign whose folders of findings are on a server; nothing for one that is in this folder.
pub fn archived(out: &Path) -> Result<Option<Box<dyn CampaignStore>>, CampaignError> {
    let place = Place::of(out)?;
    Ok(if place.is_shared() { Some(place.open()?) } else { None })
}
