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
        let before = self.written()?;
        let mut all = young(before.clone());
        if missing {
            all.insert(place.to_string(), now_ms());
        } else {
            all.remove(place);
        }
        if all == before {
            return Ok(());
        }
        let path = self.layout.not_installed();
        let bytes = serde_json::to_vec(&all)
            .map_err(|error| store::Error::at("write", &path)(error.into()))?;
        atomic::replace(&path, &bytes)
    }

    fn missing(&self) -> Result<Missing, StoreError> {
        Ok(young(self.written()?))
    }

    /// A file that cannot be understood is an empty one.
    fn written(&self) -> Result<Missing, StoreError> {
        let path = self.layout.not_installed();
        let bytes = present(std::fs::read(&path)).map_err(store::Error::at("read", &path))?;
        Ok(bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default())
    }
}

fn young(mut all: Missing) -> Missing {
    let now = now_ms();
    all.retain(|_, at| u128::from(now.abs_diff(*at)) < REMEMBERED.as_millis());
    all
}
