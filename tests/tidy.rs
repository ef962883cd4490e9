//! Holds the layers and habits of the source tree.

#[test]
fn sources_exist() {
    assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs").is_file());
}
