//! Imports the tools of MCP servers into a catalog.
