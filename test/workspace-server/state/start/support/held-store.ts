// Why: simulates a store with so many workspaces that a complete read takes forever. It does not answer reads of all objects
// of a kind, but those of one logical cluster or object.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Store } from "@virtual-workspaces/store";

/** Key prefixes of the kinds with objects in every workspace. */
export const EVERYWHERE = [
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/roles",
  "rbac.authorization.k8s.io/rolebindings",
  "/namespaces",
  "core.kcp.io/logicalclusters",
  "apis.kcp.io/apibindings",
  "tenancy.kcp.io/workspaces",
] as const;

/**
 * A store where reads of all objects of some kinds wait until {@link HeldStore.release}. All others are answered in a later
 * tick, as over a network.
 */
export class HeldStore {
  readonly store: Store;
  readonly #held: ReadonlySet<string>;
  readonly #release = Promise.withResolvers<void>();
  /** Number of waiting reads. */
  waiting = 0;

  constructor(inner: Store, kinds: readonly string[]) {
    this.#held = new Set(kinds.map((kind) => `${kind}/`));
    const range: Store["range"] = async (asked, options) => {
      if (this.#held.has(asked.from)) {
        this.waiting += 1;
        await this.#release.promise;
        this.waiting -= 1;
      }
      await nextTurn();
      return inner.range(asked, options);
    };
    const get: Store["get"] = async (key, options) => {
      await nextTurn();
      return inner.get(key, options);
    };
    this.store = new Proxy(inner, {
      get: (target, name) => {
        if (name === "range") return range;
        if (name === "get") return get;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  release(): void {
    this.#release.resolve();
  }
}
