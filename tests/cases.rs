//! Cases from public reports.
