/**
 * Virtual workspaces over other API servers: storages that forward, and authentication and authorization that ask elsewhere.
 *
 * @module
 */

export type { ForwardOptions, Transform } from "./options.ts";
export { impersonated, type OutboundIdentity } from "./outbound/identity.ts";
