import type { APIBinding, APIExport, WorkspaceType } from "@virtual-workspaces/kcp";
import { clusterOf } from "../../exports.ts";

/** Finds the WorkspaceTypes of a key `<path or logical cluster>:<name>`. */
export type TypesOf = (key: string) => readonly WorkspaceType[];

/** An export that is bound by default. */
export interface DefaultExport {
  /** A workspace path, or the name of the logical cluster of the type. */
  readonly path: string;
  readonly name: string;
}

/** A type cannot be found, or is there twice. */
export class TypeFault extends Error {
  override readonly name: string = "TypeFault";
}

/** A WorkspaceType and all that it extends, bases first, each once. @throws TypeFault */
export function typesFrom(key: string, typesOf: TypesOf): WorkspaceType[] {
  const found: WorkspaceType[] = [];
  const seen = new Set<string>();
  const visit = (each: string): void => {
    const split = each.lastIndexOf(":");
    const [type, another] = typesOf(each);
    const named = `${each.slice(0, split)}|${each.slice(split + 1)}`;
    if (type === undefined)
      throw new TypeFault(
        `error getting WorkspaceType ${named}: workspacetypes.tenancy.kcp.io ${JSON.stringify(each.slice(split + 1))} not found`,
      );
    if (another !== undefined)
      throw new TypeFault(`error getting WorkspaceType ${named}: multiple WorkspaceTypes found`);
    const { uid = named } = type.metadata;
    if (seen.has(uid)) return;
    seen.add(uid);
    for (const { path = "", name } of type.spec?.extend?.with ?? [])
      visit(`${path === "" ? clusterOf(type) : path}:${name}`);
    found.push(type);
  };
  visit(key);
  return found;
}

/** The exports that types bind by default, each once; without a path it is one of the type's own workspace. */
export function defaultExports(types: readonly WorkspaceType[]): DefaultExport[] {
  const found = new Map<string, DefaultExport>();
  for (const type of types)
    for (const { path: given = "", export: name } of type.spec?.defaultAPIBindings ?? []) {
      const path = given === "" ? clusterOf(type) : given;
      found.set(`${path}|${name}`, { path, name });
    }
  return [...found.values()];
}

/**
 * All claims of an export accepted, as it proposes.
 *
 * @param own whether claims keep their own `defaultSelector`, as with kcp's initializer
 */
export function acceptedClaims({ spec }: APIExport, own: boolean): NonNullable<APIBinding["spec"]["permissionClaims"]> {
  return (spec?.permissionClaims ?? []).map(({ defaultSelector, ...claim }) => ({
    ...claim,
    ...(own && defaultSelector !== undefined && { defaultSelector }),
    selector: defaultSelector ?? { matchAll: true },
    state: "Accepted" as const,
  }));
}
