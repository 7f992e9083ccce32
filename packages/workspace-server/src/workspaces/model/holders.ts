import {
  API_BINDINGS_INITIALIZER,
  clusterOf,
  lifecycleName,
  ROOT_CLUSTER,
  type WorkspaceType,
} from "@virtual-workspaces/kcp";

/** The initializer of the type `universal`, and so of all that extend it. */
export const UNIVERSAL_INITIALIZER: string = lifecycleName({ cluster: ROOT_CLUSTER, name: "universal" });

/** Who has to set up a workspace of a type, by all that the type is: the types' own controllers, then the bindings. */
export function initializersOf(aliases: readonly WorkspaceType[]): string[] {
  const own = aliases.filter(({ spec }) => spec?.initializer === true).map(holderOf);
  const binds = aliases.some(({ spec }) => (spec?.defaultAPIBindings ?? []).length > 0);
  return binds ? [...own, API_BINDINGS_INITIALIZER] : own;
}

/** Who has to clean it up before it is deleted. */
export function terminatorsOf(aliases: readonly WorkspaceType[]): string[] {
  return aliases.filter(({ spec }) => spec?.terminator === true).map(holderOf);
}

/** By the name of the logical cluster, not by its path. */
function holderOf(type: WorkspaceType): string {
  return lifecycleName({ cluster: clusterOf(type), name: type.metadata.name ?? "" });
}
