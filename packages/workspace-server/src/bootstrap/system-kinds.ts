import type { Admit, Resource } from "@virtual-workspaces/framework";
import type { FindOwnKind } from "../bindings/served/own-kind.ts";
import type { ShardObjects } from "../state/objects.ts";
import { systemExports } from "./system-exports.ts";

/** What serving kcp's own kinds needs. */
export interface SystemKindsOptions {
  readonly objects: ShardObjects;
  /** The hashes of the exports in `root`, by name, as soon as they are known. */
  readonly identities: () => ReadonlyMap<string, string>;
  /** The rules about each kind, by plural, asked before those about all that is bound. */
  readonly admit: (plural: string) => Admit;
}

interface Known {
  readonly kind: Resource;
  readonly exported: string;
}

/**
 * kcp's own kinds where they are bound: the very objects that the server is run by, under its own schemas and rules. Only an
 * export with the identity of that in `root` leads to them; what others export under the same names is theirs.
 */
export function systemKinds({ objects, identities, admit }: SystemKindsOptions): FindOwnKind {
  const known = new Map<string, Known>();
  for (const { name, kinds } of systemExports)
    for (const kind of kinds) known.set(`${kind.plural}.${kind.group}`, { kind, exported: name });
  return ({ group, resource, identity }) => {
    const found = known.get(`${resource}.${group}`);
    if (found === undefined || identities().get(found.exported) !== identity) return undefined;
    return { kind: found.kind, objects: objects.of(found.kind), admit: admit(resource) };
  };
}
