/**
 * Parsed and derived requests, for raw handlers and for servers that forward requests.
 *
 * @module
 */

export { type ReadBodyOptions, readBody } from "../body/read.ts";
export { deriveRequest, type RequestChanges } from "../request/derive-request.ts";
export type { DispatchedRequest } from "../request/dispatched.ts";
export { cancellationOf } from "../request/handled-request.ts";
export type { PeerForwarder, PeerQuestion, Peers } from "../request/raw-request.ts";
export {
  HOPS_HEADER,
  MOST_HOPS,
  pathInfo,
  type RequestInfo,
  type RequestTarget,
  requestInfo,
} from "../request/request-info.ts";
