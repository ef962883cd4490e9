//! The README says what is so.
