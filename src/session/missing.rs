//! Places where the integration's files were not found, so that nothing is typed there in vain again and again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Sessions, StoreError, now_ms};
use crate::store::{self, atomic, present};

/// Long enough for a working day, short enough that an installation is found the next one.
const REMEMBERED: Duration = Duration::from_secs(12 * 60 * 60);

/// Milliseconds since the epoch, by place.
type Missing = BTreeMap<String, u64>;

impl Sessions {
    /// Whether the files were missing at this place within the last twelve hours.
    pub fn is_missing(&self, place: &str) -> bool {
        self.missing()
            .is_ok_and(|missing| missing.contains_key(place))
    }

    /// Remembers that the files are missing at a place, or forgets it.
    pub fn set_missing(&self, place: &str, missing: bool) -> Result<(), StoreError> {
        let mut all = self.missing()?;
        let changed = if missing {
            all.insert(place.to_string(), now_ms()).is_none()
        } else {
            all.remove(place).is_some()
        };
        if !changed {
            return Ok(());
        }
        let path = self.layout.not_installed();
        let bytes = serde_json::to_vec(&all)
            .map_err(|error| store::Error::at("write", &path)(error.into()))?;
        atomic::replace(&path, &bytes)
    }

    /// Those that are not too old. A file that cannot be understood is an empty one.
    fn missing(&self) -> Result<Missing, StoreError> {
        let path = self.layout.not_installed();
        let bytes = present(std::fs::read(&path)).map_err(store::Error::at("read", &path))?;
        let all: Missing = bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let now = now_ms();
        let young = |at: u64| u128::from(now.abs_diff(at)) < REMEMBERED.as_millis();
        Ok(all.into_iter().filter(|(_, at)| young(*at)).collect())
    }
}
