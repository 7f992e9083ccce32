/**
 * Remote clusters in the tree of workspaces: the views of a hub, its agents, and the tunnels between them.
 *
 * @module
 */

// The agent
export { Agent } from "./agent/agent.ts";
export type { AgentEvent, AgentOptions, KeptByAgent, NamedHub } from "./agent/options.ts";
// The hub
export { type ClusterProxyManifestsOptions, clusterProxy, clusterProxyManifests } from "./cluster-proxy.ts";
export type { ClusterProxyOptions } from "./hub/hub.ts";
export type { HubAddress } from "./peers/lease.ts";
export {
  AgentCertificate,
  type AgentCertificateContent,
  AgentHub,
  type AgentHubContent,
  AgentToken,
  type AgentTokenContent,
} from "./protocol/agent-kinds.ts";
export { AGENTS_VIEW } from "./protocol/wire.ts";
// Tunnels
export {
  type AcceptedTarget,
  AgentEnd,
  type AgentEndOptions,
  type DialledTarget,
  type Target,
} from "./tunnel/agent-end.ts";
export type { TunnelEndOptions, TunnelStats } from "./tunnel/end.ts";
export type { HeartbeatOptions } from "./tunnel/heartbeat.ts";
export { HubEnd, type HubEndOptions } from "./tunnel/hub-end.ts";
export { isTunnelError, TunnelError, type TunnelErrorCode } from "./tunnel/tunnel-error.ts";
export type { WindowOptions } from "./tunnel/windows.ts";
