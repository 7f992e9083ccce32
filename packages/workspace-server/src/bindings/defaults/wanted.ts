import { type APIBinding, type APIExport, clusterOf, type WorkspaceType } from "@virtual-workspaces/kcp";

/** An export that is bound by default. */
export interface DefaultExport {
  /** A workspace path, or the name of the logical cluster of the type. */
  readonly path: string;
  readonly name: string;
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
