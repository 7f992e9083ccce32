import type { Store } from "./store.ts";

/** What a server has for the views that it hosts: `virtual-workspaces dev` calls a module's function with it. */
export interface Host {
  /** Where objects can be kept, {@link persistent}ly; which engine it is, the command line says. The host closes it. */
  readonly store: Store;
}
