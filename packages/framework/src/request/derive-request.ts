import type { Cancellation } from "@virtual-workspaces/transport";
import { HandledRequest } from "./handled-request.ts";
import type { RawRequest, WorkspaceRequest } from "./raw-request.ts";

/**
 * Changes of a derived request: path, query, user, parameters, its end, or the head of an upgrade. A getter stays one and
 * runs on first read.
 */
export type RequestChanges = Partial<RawRequest<unknown>> & {
  readonly head?: Buffer;
  /** Ends with the changed `signal`, for those who can do without a signal. */
  readonly cancellation?: Cancellation;
};

/**
 * Derives a request with another path, query, user or cluster: `changes`, and all other members of `request`. Members made on
 * first read (`ending`, `via`) stay lazy in the derived request; do not spread it, which reads them.
 *
 * Security: a new `user` decides whom the upstream sees; `token` and `impersonation` stay the caller's unless they are
 * changed as well.
 */
export function deriveRequest<R extends WorkspaceRequest<unknown>, Changes extends object>(
  request: R,
  changes: Changes & RequestChanges,
): R & Changes {
  if (request instanceof HandledRequest) return request.derive(changes) as R & Changes;
  const derived: Record<string, unknown> = {};
  handOn(changes, changes, derived);
  // Own members win over those of the class.
  for (
    let holder: object = request;
    holder !== null && holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder)
  )
    handOn(request, holder, derived);
  return derived as R & Changes;
}

/** Copies members that the derived request lacks. Accessors run on `request`: they may read its private members. */
function handOn(request: object, holder: object, derived: Record<string, unknown>): void {
  for (const name of Object.getOwnPropertyNames(holder)) {
    if (name === "constructor" || Object.hasOwn(derived, name)) continue;
    const member = Object.getOwnPropertyDescriptor(holder, name);
    // Assignment takes a tenth of the time of a definition, and every forwarded request is derived.
    if (member?.get === undefined) derived[name] = member?.value;
    else {
      const get = (): unknown => Reflect.get(request, name);
      Object.defineProperty(derived, name, { enumerable: true, configurable: true, get });
    }
  }
}
