import { API_BINDINGS_INITIALIZER, lifecycleName, type WorkspaceType } from "@virtual-workspaces/kcp";
import { clusterOf } from "./keys.ts";

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
