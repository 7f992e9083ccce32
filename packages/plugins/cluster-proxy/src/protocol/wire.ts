// What agents and hubs say to each other before there is a tunnel.
/** Where tunnels are left, below the view of agents. */
export const TUNNEL_PATH = "/tunnel";
/** What the connection is from then on. */
export const TUNNEL_PROTOCOL = "virtual-workspaces-tunnel.v1";
/** Which of the agents of one identity it is: as the hub has told it, and in what the hub says. */
export const EPOCH_HEADER = "x-virtual-workspaces-epoch";
/** The agent's version. */
export const VERSION_HEADER = "x-virtual-workspaces-agent-version";
/** Which hub it is, in what a hub says to an agent that dials. */
export const HUB_HEADER = "x-virtual-workspaces-hub";
/** How many others there are that can be dialled. */
export const OTHERS_HEADER = "x-virtual-workspaces-other-hubs";
/** Where one hub asks another for a connection through a tunnel, below the view of agents, and what that is. */
export const STREAM_PATH = "/stream";
export const STREAM_PROTOCOL = "virtual-workspaces-stream.v1";
/** To which of the agent's targets. */
export const TARGET_HEADER = "x-virtual-workspaces-target";
/** Who talks TLS with the remote API server, as the agent was started: `Agent`, or `EndToEnd`. */
export const TLS_HEADER = "x-virtual-workspaces-tls";
/** What agents call the API server that they are for: as they ask it themselves, and as bytes that a hub talks TLS in. */
export const API_TARGET = "api";
export const TLS_TARGET = "tls";

/** Where ClusterProxies are served, below `/services`. */
export const CLUSTER_PROXY_VIEW = "clusterproxy";
/** Where agents go, below `/services`, as {@link clusterProxy} has it. */
export const AGENTS_VIEW = "clusterproxy-agents";
