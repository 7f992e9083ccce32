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
  const derived = {};
  // From the class that made it, if one did, up to what it says itself, which wins.
  for (const holder of holdersOf(request)) {
    const members = Object.getOwnPropertyDescriptors(holder);
    for (const name of Object.keys(members)) {
      if (name !== "constructor") Object.defineProperty(derived, name, handedOn(request, name, members[name]));
    }
  }
  return Object.defineProperties(derived, Object.getOwnPropertyDescriptors(changes)) as R & Changes;
}

/** The request and what it inherits from, the farthest first. */
function holdersOf(request: object): readonly object[] {
  const holders: object[] = [];
  for (let at: object | null = request; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    holders.unshift(at);
  return holders;
}

/** A part as the derived request has it. Accessors are asked of the request itself: they may read what is private to it. */
function handedOn(request: object, name: string, member: PropertyDescriptor | undefined): PropertyDescriptor {
  const own = { enumerable: true, configurable: true };
  if (member !== undefined && member.get === undefined) return { ...own, value: member.value };
  return { ...own, get: () => Reflect.get(request, name) };
}
