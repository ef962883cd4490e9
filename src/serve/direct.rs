//! Tool calls from this very process: for scripts (`call`) and for showing what an agent would see (`demo`,
//! `doctor`).

use serde_json::{Map, Value};

use crate::config::Config;
use crate::mcp::{Call, Client, STATELESS, Service, Tool, ToolResult};
use crate::tools::Tools;

/// A private server without a client.
pub struct Direct {
    tools: Tools,
    /// Whose calls these are, as sessions name their agents.
    agent: &'static str,
}

impl Direct {
    pub fn new(config: &Config, agent: &'static str) -> Direct {
        Direct {
            tools: super::tools(config, None),
            agent,
        }
    }

    pub fn tools(&self) -> &[Tool] {
        self.tools.tools(None)
    }

    /// Calls one tool; nothing cancels it.
    pub fn call(&self, tool: &str, arguments: Map<String, Value>) -> ToolResult {
        let (_running, cancel) = crossbeam_channel::bounded(0);
        let client = Client {
            connection: STATELESS,
            actor: None,
            earlier: None,
            folder: None,
            name: Some(self.agent.into()),
            version: None,
            scope: None,
        };
        self.tools.call(Call {
            name: tool.into(),
            arguments,
            client,
            cancel,
            progress: None,
        })
    }
}
