import type { Scope, Storage } from "../storage.ts";

/**
 * Who may read the same stream of a source, as text. What the source says, and when it says nothing, the identity: a
 * stream is then shared only among requests of one and the same caller.
 */
export function shareOf(source: Pick<Storage, "shareKey">, scope: Scope): string {
  const { name, uid, groups, extra } = scope.identity;
  return JSON.stringify(source.shareKey?.(scope) ?? [name, uid, groups, extra]);
}
