// Why: a store with so many workspaces that a server takes for ever to read them is a store that does not answer who reads all
// objects of a kind. Whoever reads those of one logical cluster, or one object, is answered.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Store } from "@virtual-workspaces/store";

/** The kinds of which every workspace has objects, as keys in a store begin with them. */
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
 * A store as it is, but for who reads all of some kinds: they wait until {@link HeldStore.release}. All others are answered
 * in a turn of their own, as by a store across a network.
 */
export class HeldStore {
  readonly store: Store;
  readonly #held: ReadonlySet<string>;
  readonly #release = Promise.withResolvers<void>();
  /** How many wait. */
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
