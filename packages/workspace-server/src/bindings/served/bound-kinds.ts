import { ApiError, type GroupResource, type ObjectKey, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest, ServedResource } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import type { APIBinding } from "@virtual-workspaces/kcp";
import { VALIDATE_NAME_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { PersistentOptions, Store } from "@virtual-workspaces/store";
import type { CrdSpec } from "../../crds/definition/definition.ts";
import { KindTable } from "../../crds/served/kind-table.ts";
import { LiveKind } from "../../crds/served/live-kind.ts";
import { whileTerminating } from "../../crds/served/terminating.ts";
import { boundKeySpace } from "../../state/key-spaces.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { type BoundCrds, namesOf } from "./bound-crds.ts";
import {
  type BoundKind,
  type BoundPair,
  boundPairs,
  type FindOwnKind,
  pairsOf,
  pairText,
  type ServeElsewhere,
  servedElsewhere,
  servedOwn,
} from "./own-kind.ts";

/** Options of {@link BoundKinds}. */
export interface BoundKindsOptions extends Pick<PersistentOptions, "history" | "linger" | "now" | "onError"> {
  readonly state: Pick<ShardState, "apiBindings">;
  readonly crds: BoundCrds;
  readonly store: Store;
  /** Called before every write of a bound object. @default none */
  readonly admit?: Admit | undefined;
  /** Compiled kinds. @default a table of its own */
  readonly kinds?: KindTable | undefined;
  /** Returns kinds that the server implements itself. @default none */
  readonly own?: FindOwnKind | undefined;
  /** Serves resources that views store. @default they are not served */
  readonly elsewhere?: ServeElsewhere | undefined;
  /** Called for definitions that cannot be served. */
  readonly onFault: (error: unknown, crd: string) => void;
}

const NOTHING: readonly ServedResource[] = Object.freeze([]);
/** Number of recently used logical clusters whose list is cached. */
const RECENT = 1024;

/** A bound resource of a logical cluster, and whether its binding is being deleted. */
interface Bound {
  readonly pair: BoundPair;
  readonly leaving: boolean;
}

interface Counted {
  readonly pair: BoundPair;
  bindings: number;
  live: BoundKind | undefined;
}

/**
 * Served resources of all bindings. Logical clusters with equal bindings share one list, and all share the kinds in it.
 * Memory: one kind and collection for each bound schema and identity of the shard, none for each workspace.
 */
export class BoundKinds implements Disposable {
  readonly #options: BoundKindsOptions;
  readonly #kinds: KindTable;
  readonly #pairs = new Map<string, Counted>();
  /** Entries by group and resource. */
  readonly #named = new Map<string, Set<Counted>>();
  readonly #lists = new Map<string, WeakRef<readonly ServedResource[]>>();
  readonly #recent = new Map<string, readonly ServedResource[]>();
  readonly #gone = new FinalizationRegistry<string>((text) => {
    if (this.#lists.get(text)?.deref() === undefined) this.#lists.delete(text);
  });
  readonly #listening: Disposable;

  constructor(options: BoundKindsOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? new KindTable();
    this.#listening = options.state.apiBindings.mirror({
      added: (binding, { key }) => this.#changed(key, undefined, binding),
      updated: (binding, before, { key }) => this.#changed(key, before, binding),
      deleted: (binding, { key }) => this.#changed(key, binding, undefined),
    });
  }

  /**
   * Returns the resources that a logical cluster has by its bindings, each by plural and by identity. For `*`, those of
   * all logical clusters by identity alone. The same list while nothing changes.
   */
  servedIn(cluster: string): readonly ServedResource[] {
    const known = this.#recent.get(cluster);
    if (known !== undefined) {
      this.#recent.delete(cluster);
      this.#recent.set(cluster, known);
      return known;
    }
    const list = cluster === WILDCARD ? this.#everywhere() : this.#interned(this.#boundIn(cluster));
    this.#recent.set(cluster, list);
    if (this.#recent.size > RECENT) this.#recent.delete(this.#recent.keys().next().value ?? "");
    return list;
  }

  /** Returns the bound resources of a logical cluster, each once, sorted. */
  pairsIn(cluster: string): BoundPair[] {
    return this.#boundIn(cluster).map(({ pair }) => pair);
  }

  #boundIn(cluster: string): Bound[] {
    const found = new Map<string, Bound>();
    for (const binding of this.#options.state.apiBindings.store.list(cluster)) {
      const leaving = binding.metadata.deletionTimestamp !== undefined;
      for (const pair of boundPairs(binding)) found.set(`${pair.group}/${pair.resource}`, { pair, leaving });
    }
    return [...found.values()].sort((one, other) => (pairText(one.pair) < pairText(other.pair) ? -1 : 1));
  }

  /** Returns what is served of a bound resource; `undefined` if its definition is missing or cannot be served. */
  liveOf(pair: BoundPair): BoundKind | undefined {
    const counted = this.#pairs.get(pairText(pair));
    if (counted === undefined) return this.#made(pair);
    counted.live ??= this.#made(pair);
    return counted.live;
  }

  /** Returns the schemas and identities by which a resource is bound on the shard. */
  boundAs(resource: GroupResource): BoundPair[] {
    return [...(this.#named.get(nameOf(resource)) ?? [])].map(({ pair }) => pair);
  }

  /** Returns a resource that the server implements itself, as served where it is bound. */
  ownKind(resource: GroupResource): ServedResource | undefined {
    const own = this.boundAs(resource).find((pair) => this.#options.own?.(pair) !== undefined);
    return own && this.liveOf(own)?.served[0];
  }

  /** Returns whether a resource is namespaced, by its first bound schema. */
  scopeOf(resource: GroupResource): CrdSpec["scope"] | undefined {
    for (const { pair } of this.#named.get(nameOf(resource)) ?? []) {
      const crd = this.#options.crds.get(pair.uid);
      if (crd !== undefined) return crd.spec.scope;
    }
    return undefined;
  }

  /** Reports whether any binding of the shard lists a schema. */
  isBound(uid: string): boolean {
    return [...this.#pairs.values()].some(({ pair }) => pair.uid === uid);
  }

  /** Drops cached results after a definition was created. */
  defined(uid: string): void {
    for (const counted of this.#pairs.values()) if (counted.pair.uid === uid) counted.live = undefined;
    this.#recent.clear();
    this.#lists.clear();
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #changed({ cluster }: ObjectKey, before: APIBinding | undefined, binding: APIBinding | undefined): void {
    const [was, is] = [before, binding].map((each) => (each === undefined ? [] : boundPairs(each)));
    const texts = (pairs: readonly BoundPair[] = []): string => pairs.map(pairText).join();
    if (texts(was) === texts(is)) {
      if (before?.metadata.deletionTimestamp !== binding?.metadata.deletionTimestamp) this.#recent.delete(cluster);
      return;
    }
    const count = this.#pairs.size;
    let added = false;
    for (const pair of is ?? []) added = this.#count(pair) || added;
    for (const pair of was ?? []) this.#uncount(pair);
    this.#recent.delete(cluster);
    if (added || this.#pairs.size !== count) this.#recent.delete(WILDCARD);
  }

  #count(pair: BoundPair): boolean {
    const text = pairText(pair);
    const there = this.#pairs.get(text);
    if (there !== undefined) {
      there.bindings++;
      return false;
    }
    const counted = { pair, bindings: 1, live: undefined };
    this.#pairs.set(text, counted);
    const named = this.#named.get(nameOf(pair)) ?? new Set();
    this.#named.set(nameOf(pair), named.add(counted));
    return true;
  }

  #uncount(pair: BoundPair): void {
    const text = pairText(pair);
    const there = this.#pairs.get(text);
    if (there === undefined) return;
    there.bindings--;
    if (there.bindings > 0) return;
    this.#pairs.delete(text);
    const named = this.#named.get(nameOf(pair));
    named?.delete(there);
    if (named?.size === 0) this.#named.delete(nameOf(pair));
  }

  #interned(bound: readonly Bound[]): readonly ServedResource[] {
    if (bound.length === 0) return NOTHING;
    const text = bound.map(({ pair, leaving }) => `${pairText(pair)}${leaving ? " leaving" : ""}`).join();
    const known = this.#lists.get(text)?.deref();
    if (known !== undefined) return known;
    const lives = bound.flatMap(({ pair, leaving }) => {
      const live = this.liveOf(pair);
      if (live === undefined) return [];
      const as = (resources: readonly ServedResource[]): readonly ServedResource[] =>
        leaving ? resources.map(whileTerminating) : resources;
      return [{ served: as(live.served), identified: as(live.identified) }];
    });
    const list = Object.freeze([
      ...lives.flatMap(({ served }) => served),
      ...lives.flatMap(({ identified }) => identified),
    ]);
    this.#lists.set(text, new WeakRef(list));
    this.#gone.register(list, text);
    return list;
  }

  /** If several schemas of one identity and resource are bound, the one bound last counts. */
  #everywhere(): readonly ServedResource[] {
    const found = new Map<string, BoundPair>();
    for (const { pair } of this.#pairs.values()) found.set(`${pair.group}/${pair.resource}/${pair.identity}`, pair);
    return Object.freeze([...found.values()].flatMap((pair) => this.liveOf(pair)?.identified ?? []));
  }

  #made(pair: BoundPair): BoundKind | undefined {
    const { crds, elsewhere, onFault, store, history, linger, now, onError } = this.#options;
    const own = this.#options.own?.(pair);
    if (own !== undefined) return servedOwn(own, pair.identity, this.#admit);
    const crd = crds.get(pair.uid);
    if (crd === undefined) return undefined;
    try {
      const { group, scope, versions } = crd.spec;
      const anyName = crd.metadata.annotations?.[VALIDATE_NAME_ANNOTATION] === "path-segment";
      const objectNames = anyName ? ({ objectNames: "segment" } as const) : {};
      const kind = this.#kinds.of({ group, scope, versions, names: namesOf(crd), ...objectNames });
      if (!pair.stored) return elsewhere && servedElsewhere(kind, pair, elsewhere);
      return new LiveKind(kind, {
        garbageCollected: true,
        ...(history && { history }),
        ...(linger !== undefined && { linger }),
        ...(now && { now }),
        ...(onError && { onError }),
        store,
        keySpace: boundKeySpace(pair, pair.identity),
        identity: pair.identity,
        admit: this.#admit,
      });
    } catch (error) {
      onFault(error, pair.uid);
      return undefined;
    }
  }

  /** Rejects new objects of a resource whose binding is being deleted. */
  readonly #admit: Admit = (request) => {
    if (request.operation === "CREATE" && this.#isLeaving(request)) {
      const message = "create not allowed while custom resource definition is terminating";
      const name = request.object?.metadata.name;
      throw ApiError.forbidden({ resource: groupResourceOf(request.definition), name, message });
    }
    return this.#options.admit?.(request);
  };

  #isLeaving({ definition, params }: AdmitRequest): boolean {
    const { group, plural } = definition;
    return this.#options.state.apiBindings.store
      .list(params["cluster"])
      .some(
        (binding) =>
          binding.metadata.deletionTimestamp !== undefined &&
          pairsOf(binding).some((pair) => pair.group === group && pair.resource === plural),
      );
  }
}

function nameOf({ group, resource }: GroupResource): string {
  return `${resource}.${group}`;
}
