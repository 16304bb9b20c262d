//! Real MCP peers in both generations of the protocol.
