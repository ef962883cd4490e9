//! What clients demand of the whole table.

use super::*;

#[test]
fn descriptions_fit_every_client() {
    for entry in SETS.iter().flat_map(|(_, entries)| entries.iter()) {
        let tool = (entry.tool)();
        assert_eq!(entry.name, tool.name);
        assert_eq!(crate::mcp::schema::tests::faults(&tool), [] as [String; 0]);
        assert!(tool.description.chars().count() < 2_048, "{}", tool.name);
    }
}
