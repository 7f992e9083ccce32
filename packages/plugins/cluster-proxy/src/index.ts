/**
 * Tunnels that remote clusters dial themselves: the hub's end, through which connections go to them, and the agent's, which says to what.
 *
 * @module
 */

export {
  type AcceptedTarget,
  AgentEnd,
  type AgentEndOptions,
  type DialledTarget,
  type Target,
} from "./tunnel/agent-end.ts";
export type { TunnelEndOptions, TunnelStats } from "./tunnel/end.ts";
export type { HeartbeatOptions } from "./tunnel/heartbeat.ts";
export { HubEnd } from "./tunnel/hub-end.ts";
export { isTunnelError, TunnelError, type TunnelErrorCode } from "./tunnel/tunnel-error.ts";
export type { WindowOptions } from "./tunnel/windows.ts";
