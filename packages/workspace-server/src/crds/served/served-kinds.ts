import type { ServedResource } from "@virtual-workspaces/framework";
import { definedKeySpace } from "../../state/key-spaces.ts";
import type { CustomResourceDefinition } from "../definition/definition.ts";
import { hasCondition } from "../definition/definition.ts";
import { type CrdEntry, isServed } from "./entry.ts";
import { type CompiledKind, KindTable } from "./kind-table.ts";
import { LiveKind, type LiveKindOptions } from "./live-kind.ts";

/** What is served of definitions, and how long it is kept. */
export interface ServedKindsOptions extends Omit<LiveKindOptions, "keySpace"> {
  /** Of how many logical clusters, those last asked for, what is served is kept ready. */
  readonly recent: number;
  /** Told of definitions that cannot be served. */
  readonly onFault: (error: unknown, crd: string) => void;
}

/** Of clusters without definitions, all of them. */
const NOTHING: readonly ServedResource[] = Object.freeze([]);

interface Known {
  readonly list: WeakRef<readonly ServedResource[]>;
  /** Whether it is to be worked out anew. */
  stale: boolean;
}

/**
 * What is served of the definitions of each logical cluster. It is made when somebody asks, and dropped when nobody uses
 * it: what is kept is what was asked for last and what requests and open watches hold. The rest is found in the objects.
 */
export class ServedKinds {
  readonly kinds: KindTable = new KindTable();
  readonly #options: ServedKindsOptions;
  readonly #known = new Map<string, Known>();
  /** The last ones, in the order of use. */
  readonly #recent = new Map<string, readonly ServedResource[]>();
  /** A kind lives as long as anything that is served of it. */
  readonly #lives = new WeakMap<ServedResource, LiveKind>();
  readonly #gone = new FinalizationRegistry<string>((cluster) => {
    if (this.#known.get(cluster)?.list.deref() === undefined) this.#known.delete(cluster);
  });

  constructor(options: ServedKindsOptions) {
    this.#options = options;
  }

  /** The same list as before if nothing has changed, and the same for all clusters that have nothing. */
  in(cluster: string, entries: Iterable<CrdEntry>): readonly ServedResource[] {
    const known = this.#known.get(cluster);
    const before = known?.list.deref();
    if (before !== undefined && known?.stale === false) return this.#used(cluster, before);
    const made = [...entries].flatMap((entry) => this.liveOf(entry)?.served ?? []);
    if (made.length === 0) {
      this.#forget(cluster);
      return NOTHING;
    }
    const same = before?.length === made.length && made.every((one, at) => one === before[at]);
    const list = same ? before : Object.freeze(made);
    this.#known.set(cluster, { list: new WeakRef(list), stale: false });
    if (!same) this.#gone.register(list, cluster);
    return this.#used(cluster, list);
  }

  /** A definition of the cluster has changed. */
  changed(cluster: string): void {
    const known = this.#known.get(cluster);
    if (known !== undefined) known.stale = true;
  }

  /** What is made of a definition; `undefined` when it is not established. */
  liveOf(entry: CrdEntry): LiveKind | undefined {
    try {
      const crd = entry.read();
      return isServed(crd) ? this.#live(entry, crd) : undefined;
    } catch (error) {
      this.#options.onFault(error, `${entry.name} in ${entry.cluster}`);
      return undefined;
    }
  }

  #live(entry: CrdEntry, crd: CustomResourceDefinition): LiveKind {
    const kind = this.#kindOf(crd);
    const before = entry.live;
    const { recent: _recent, onFault: _onFault, ...options } = this.#options;
    const keySpace = definedKeySpace(entry.resource, entry.uid);
    const live = before?.kind.hash === kind.hash ? before : new LiveKind(kind, { ...options, keySpace });
    live.terminating = crd.metadata.deletionTimestamp !== undefined || hasCondition(crd.status, "Terminating");
    if (live !== before) {
      entry.live = live;
      for (const served of live.served) this.#lives.set(served, live);
    }
    return live;
  }

  #kindOf({ spec, status }: CustomResourceDefinition): CompiledKind {
    const { group, scope, versions, names } = spec;
    return this.kinds.of({ group, scope, versions, names: status?.acceptedNames ?? names });
  }

  #used(cluster: string, list: readonly ServedResource[]): readonly ServedResource[] {
    this.#recent.delete(cluster);
    this.#recent.set(cluster, list);
    if (this.#recent.size > this.#options.recent) this.#recent.delete(this.#recent.keys().next().value ?? "");
    return list;
  }

  #forget(cluster: string): void {
    this.#known.delete(cluster);
    this.#recent.delete(cluster);
  }
}
