//! What clients demand of the whole table.

use super::*;

#[test]
fn descriptions_fit_every_client() {
    for entry in TABLE.iter().chain(DEVICES) {
        let tool = (entry.tool)();
        assert_eq!(entry.name, tool.name);
        assert!(tool.description.chars().count() < 2_048, "{}", tool.name);
    }
}
