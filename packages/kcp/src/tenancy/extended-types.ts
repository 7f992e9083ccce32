import { clusterOf } from "../names/cluster-of.ts";
import type { WorkspaceType } from "./workspace-type.ts";

/** Finds the WorkspaceTypes of a key `<path or logical cluster>:<name>`. */
export type TypesOf = (key: string) => readonly WorkspaceType[];

/** A type cannot be found, or is there twice. */
export class TypeFault extends Error {
  override readonly name: string = "TypeFault";
}

/**
 * A WorkspaceType and all that it extends, bases first, each once.
 *
 * @param onFault what is wrong with one, which is left out if this returns. @default it throws
 * @throws TypeFault
 */
export function typesFrom(
  key: string,
  typesOf: TypesOf,
  onFault: (fault: TypeFault) => void = thrown,
): WorkspaceType[] {
  const found: WorkspaceType[] = [];
  const seen = new Set<string>();
  const visit = (each: string): void => {
    const [type, another] = typesOf(each);
    const named = `${each.slice(0, each.lastIndexOf(":"))}|${nameIn(each)}`;
    if (type === undefined || another !== undefined) {
      const why =
        another === undefined
          ? `workspacetypes.tenancy.kcp.io ${JSON.stringify(nameIn(each))} not found`
          : "multiple WorkspaceTypes found";
      onFault(new TypeFault(`error getting WorkspaceType ${named}: ${why}`));
      return;
    }
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

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf(":") + 1);
}

function thrown(fault: TypeFault): never {
  throw fault;
}
