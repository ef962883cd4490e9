//! serve.
