//! JSON-RPC and MCP, both eras. Knows no terminals, files or tmux.
#![forbid(unsafe_code)]
