//! Which boot of the machine this is: what was written and not synced before another boot may be lost.

use std::sync::OnceLock;

/// The kernel's id of this boot (random(4)); empty where it cannot be read.
pub fn id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        id.unwrap_or_default().trim().to_string()
    })
}
