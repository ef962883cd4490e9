//! libc: the only unsafe code. One file per kind of call.
