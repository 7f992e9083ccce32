import { clusterOf, type LogicalCluster, TypeFault } from "@virtual-workspaces/kcp";
import { RESOURCE_BINDINGS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import {
  cleanedLocks,
  formatLocks,
  type HoldersOptions,
  holdersIn,
  takeLocks,
  waitsForBindings,
} from "../binding/locks.ts";
import type { Exports } from "../exports/exports.ts";
import { type BoundByDefault, nameOf } from "./default-bindings.ts";

/** Options of {@link ExpectedBindings}. */
export interface ExpectedBindingsOptions extends Omit<HoldersOptions, "expected"> {
  readonly state: HoldersOptions["state"] & {
    /** Returns a logical cluster. */
    logicalCluster(cluster: string): LogicalCluster | undefined;
  };
  readonly exports: Exports;
  readonly bound: Pick<BoundByDefault, "wantedBy">;
  readonly now: () => Date;
}

/**
 * Default bindings of logical clusters that are not initialized yet. The write that begins an initialization takes their locks,
 * and each is then created bound. Locks of bindings that were not created end with the initialization.
 */
export class ExpectedBindings {
  readonly #options: ExpectedBindingsOptions;

  constructor(options: ExpectedBindingsOptions) {
    this.#options = options;
  }

  /** Returns the names of the bindings that a logical cluster has or is about to get, [] once it is initialized. */
  namesIn(cluster: string): readonly string[] {
    const there = this.#options.state.logicalCluster(cluster);
    if (there === undefined || !waitsForBindings(there)) return [];
    return this.#wantedBy(there).map((wanted) => nameOf(cluster, wanted));
  }

  /** Returns a new logical cluster with the locks of its bindings; without those whose export is not complete. */
  locked(there: LogicalCluster): LogicalCluster {
    if (!waitsForBindings(there)) return there;
    const { exports, now } = this.#options;
    const cluster = clusterOf(there);
    const { annotations } = there.metadata;
    const wanted = this.#wantedBy(there).map((each) => ({
      name: nameOf(cluster, each),
      found: exports.find(each, cluster),
    }));
    const expected = (): readonly string[] => wanted.map(({ name }) => name);
    const holders = holdersIn(cluster, { ...this.#options, expected });
    let locks = cleanedLocks(annotations?.[RESOURCE_BINDINGS_ANNOTATION], holders, now());
    for (const { name, found } of wanted) {
      const resources = (found?.spec?.resources ?? []).map(({ group, name: resource }) => ({ group, resource }));
      if (found?.status?.identityHash)
        locks = takeLocks(locks, { name, resources }, { crds: holders.crds, now: now() }).locks;
    }
    const locked = { ...annotations, [RESOURCE_BINDINGS_ANNOTATION]: formatLocks(locks) };
    return { ...there, metadata: { ...there.metadata, annotations: locked } };
  }

  #wantedBy(there: LogicalCluster): readonly { readonly path: string; readonly name: string }[] {
    const wanted = this.#options.bound.wantedBy(there);
    return wanted instanceof TypeFault ? [] : wanted;
  }
}
