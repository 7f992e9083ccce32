import type { RawRequest, WorkspaceRequest } from "./raw-request.ts";

/**
 * What of a request is another for whoever it goes to: its path, query, user, parameters, when it ends, or the head of an
 * upgrade. A getter stays one: it is asked when somebody reads that part.
 */
export type RequestChanges = Partial<RawRequest<unknown>> & { readonly head?: Buffer };

/**
 * The request as it goes on under another path, query, user or cluster: `changes`, and else all that `request` has, whoever made
 * it. Nothing is read that is made when it is asked for (`ending`, `via`): that is so of the derived request as well. Read
 * what is derived instead of spreading it, or it is made then.
 *
 * Security: whoever gives another `user` says on whose behalf the server behind is asked; `token` and `impersonation` stay
 * the caller's unless they are changed as well.
 */
export function deriveRequest<R extends WorkspaceRequest<unknown>, Changes extends object>(
  request: R,
  changes: Changes & RequestChanges,
): R & Changes {
  const derived: Record<string, unknown> = {};
  handOn(changes, changes, derived);
  // What it says itself wins over what the class says that made it, if one did.
  for (
    let holder: object = request;
    holder !== null && holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder)
  )
    handOn(request, holder, derived);
  return derived as R & Changes;
}

/** Gives the derived request what it does not have yet. Accessors are asked of `request`: they may read what is private to it. */
function handOn(request: object, holder: object, derived: Record<string, unknown>): void {
  for (const name of Object.getOwnPropertyNames(holder)) {
    if (name === "constructor" || Object.hasOwn(derived, name)) continue;
    const member = Object.getOwnPropertyDescriptor(holder, name);
    // Assigned, which takes a tenth of the time of a definition: every request that is passed on is derived.
    if (member?.get === undefined) derived[name] = member?.value;
    else {
      const get = (): unknown => Reflect.get(request, name);
      Object.defineProperty(derived, name, { enumerable: true, configurable: true, get });
    }
  }
}
