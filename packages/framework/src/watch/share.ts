import type { Scope, Storage } from "../storage.ts";
import { everything } from "./selection.ts";

/**
 * Who may read the same stream of a source, as text. What the source says, and when it says nothing, the identity: a
 * stream is then shared only among requests of one and the same caller.
 */
export function shareOf(source: Pick<Storage, "shareKey">, scope: Scope): string {
  const { name, uid, groups, extra } = scope.identity;
  return JSON.stringify(source.shareKey?.(scope) ?? [name, uid, groups, extra]);
}

/** The scope of a stream that everybody with the same share key can use: nothing is left out of it. */
export function widened(scope: Scope): Scope {
  return { ...scope, namespace: "", labels: everything.labels, fields: everything.fields };
}
