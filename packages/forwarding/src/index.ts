/**
 * Virtual workspaces over other API servers: storages that forward, and authentication and authorization that ask elsewhere.
 *
 * @module
 */

export { Forwarded, type ForwardedState, forward } from "./forward.ts";
export type { ForwardOptions, Transform } from "./options.ts";
export type { OutboundIdentity } from "./outbound/identity.ts";
