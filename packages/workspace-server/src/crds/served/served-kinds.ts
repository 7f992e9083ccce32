import type { ServedResource } from "@virtual-workspaces/framework";
import { definedKeySpace } from "../../state/key-spaces.ts";
import type { CustomResourceDefinition } from "../definition/definition.ts";
import { hasCondition } from "../definition/definition.ts";
import { type CrdEntry, isServed } from "./entry.ts";
import { type CompiledKind, KindTable } from "./kind-table.ts";
import { LiveKind, type LiveKindOptions } from "./live-kind.ts";
import { whileTerminating } from "./terminating.ts";

/** Options of {@link ServedKinds}. */
export interface ServedKindsOptions extends Omit<LiveKindOptions, "keySpace"> {
  /** Number of recently used logical clusters whose list stays in memory. */
  readonly recent: number;
  /** Called for definitions that cannot be served. */
  readonly onFault: (error: unknown, crd: string) => void;
}

/** List of all logical clusters without definitions. */
const NOTHING: readonly ServedResource[] = Object.freeze([]);

interface Known {
  readonly list: WeakRef<readonly ServedResource[]>;
  /** Whether the list must be computed again. */
  stale: boolean;
}

/**
 * Served resources of the definitions of each logical cluster, created on first use. Recently used lists and those that
 * requests and watches hold stay in memory. All others are computed again from the objects.
 */
export class ServedKinds {
  readonly kinds: KindTable = new KindTable();
  readonly #options: ServedKindsOptions;
  readonly #known = new Map<string, Known>();
  /** Recently used lists, least recently used first. */
  readonly #recent = new Map<string, readonly ServedResource[]>();
  /** Keeps a kind alive as long as any of its resources. */
  readonly #lives = new WeakMap<ServedResource, LiveKind>();
  readonly #gone = new FinalizationRegistry<string>((cluster) => {
    if (this.#known.get(cluster)?.list.deref() === undefined) this.#known.delete(cluster);
  });

  constructor(options: ServedKindsOptions) {
    this.#options = options;
  }

  /** Returns the served resources of a logical cluster: the same list while nothing changes, a shared one if empty. */
  in(cluster: string, entries: Iterable<CrdEntry>): readonly ServedResource[] {
    const known = this.#known.get(cluster);
    const before = known?.list.deref();
    if (before !== undefined && known?.stale === false) return this.#used(cluster, before);
    const made = [...entries].flatMap((entry) => this.#servedBy(entry));
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

  /** Marks the list of a logical cluster as stale. */
  changed(cluster: string): void {
    const known = this.#known.get(cluster);
    if (known !== undefined) known.stale = true;
  }

  /** Returns the served kind of a definition; `undefined` if it is not established. */
  liveOf(entry: CrdEntry): LiveKind | undefined {
    try {
      const crd = entry.read();
      return isServed(crd) ? this.#live(entry, crd) : undefined;
    } catch (error) {
      this.#options.onFault(error, `${entry.name} in ${entry.cluster}`);
      return undefined;
    }
  }

  #servedBy(entry: CrdEntry): readonly ServedResource[] {
    const live = this.liveOf(entry);
    if (live === undefined) return NOTHING;
    if (!live.terminating) return live.served;
    return live.served.map((resource) => {
      const form = whileTerminating(resource);
      this.#lives.set(form, live);
      return form;
    });
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
