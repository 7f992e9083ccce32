// Constants of the handshake between agents and hubs.
/** Path of tunnels below the view of agents. */
export const TUNNEL_PATH = "/tunnel";
/** Protocol of the Upgrade header. */
export const TUNNEL_PROTOCOL = "virtual-workspaces-tunnel.v1";
/** Header with the epoch of an agent, which distinguishes agents with the same identity. The hub assigns it. */
export const EPOCH_HEADER = "x-virtual-workspaces-epoch";
/** Header with the agent's version. */
export const VERSION_HEADER = "x-virtual-workspaces-agent-version";
/** Header with the id of the hub, in its response. */
export const HUB_HEADER = "x-virtual-workspaces-hub";
/** Header with the number of other hubs that agents can dial. */
export const OTHERS_HEADER = "x-virtual-workspaces-other-hubs";
/** Path, below the view of agents, and protocol of streams that one hub opens in the tunnel of another. */
export const STREAM_PATH = "/stream";
export const STREAM_PROTOCOL = "virtual-workspaces-stream.v1";
/** Header with the target of the agent. */
export const TARGET_HEADER = "x-virtual-workspaces-target";
/** Header with the TLS mode of the agent, `Agent` or `EndToEnd`: the party that terminates TLS with the remote API server. */
export const TLS_HEADER = "x-virtual-workspaces-tls";
/** Header with the state of the remote API server when the agent dials, one of `API_STATES`; pings report changes. */
export const API_STATE_HEADER = "x-virtual-workspaces-api-state";
/** Names of an agent's targets: its API server through the agent, and as bytes for the hub's own TLS. */
export const API_TARGET = "api";
export const TLS_TARGET = "tls";

/** Name of the view of ClusterProxies below `/services`. */
export const CLUSTER_PROXY_VIEW = "clusterproxy";
/** Name of the view of agents below `/services`, for {@link clusterProxy}. */
export const AGENTS_VIEW = "clusterproxy-agents";
