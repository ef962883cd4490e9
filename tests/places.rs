//! Places: ssh to real hosts (an sshd of the test's own on loopback, with accounts of its own), containers and
//! sandboxes, other users, and what replies say of where a session is.

pub mod far;
mod hops;
mod integrate;
mod into;
mod odd;
mod ssh;
