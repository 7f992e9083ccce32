import { ApiError, type GroupResource, type ObjectKey, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest, ServedResource } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import type { APIBinding } from "@virtual-workspaces/kcp";
import { VALIDATE_NAME_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { PersistentOptions, Store } from "@virtual-workspaces/store";
import type { CrdSpec } from "../../crds/definition/definition.ts";
import { KindTable } from "../../crds/served/kind-table.ts";
import { LiveKind } from "../../crds/served/live-kind.ts";
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

/** What serving bound resources needs. */
export interface BoundKindsOptions extends Pick<PersistentOptions, "history" | "linger" | "now" | "onError"> {
  readonly state: Pick<ShardState, "apiBindings">;
  readonly crds: BoundCrds;
  readonly store: Store;
  /** Asked before every write of a bound object. @default nobody */
  readonly admit?: Admit | undefined;
  /** @default one of its own */
  readonly kinds?: KindTable | undefined;
  /** What of it the server keeps itself. @default nothing */
  readonly own?: FindOwnKind | undefined;
  /** Serves what views keep. @default it is not served */
  readonly elsewhere?: ServeElsewhere | undefined;
  /** Told of definitions that cannot be served. */
  readonly onFault: (error: unknown, crd: string) => void;
}

const NOTHING: readonly ServedResource[] = Object.freeze([]);
/** Of how many logical clusters, those last asked for, it is known at once what is served. */
const RECENT = 1024;

interface Counted {
  readonly pair: BoundPair;
  bindings: number;
  live: BoundKind | undefined;
}

/**
 * What is served of what is bound. Logical clusters with equal bindings share one list, and all of them the kinds in it: a
 * kind and its collection for each schema and identity that is bound on the shard, none for a workspace.
 */
export class BoundKinds implements Disposable {
  readonly #options: BoundKindsOptions;
  readonly #kinds: KindTable;
  readonly #pairs = new Map<string, Counted>();
  /** The same by group and resource. */
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
   * What a logical cluster has by its bindings: each resource by its plural and by its identity. For `*`, all resources of
   * all logical clusters by their identity alone. The same list while nothing of it changes.
   */
  servedIn(cluster: string): readonly ServedResource[] {
    const known = this.#recent.get(cluster);
    if (known !== undefined) {
      this.#recent.delete(cluster);
      this.#recent.set(cluster, known);
      return known;
    }
    const list = cluster === WILDCARD ? this.#everywhere() : this.#interned(this.pairsIn(cluster));
    this.#recent.set(cluster, list);
    if (this.#recent.size > RECENT) this.#recent.delete(this.#recent.keys().next().value ?? "");
    return list;
  }

  /** The resources that are bound in a logical cluster, each once, in order. */
  pairsIn(cluster: string): BoundPair[] {
    const found = new Map<string, BoundPair>();
    for (const binding of this.#options.state.apiBindings.store.list(cluster))
      for (const pair of boundPairs(binding)) found.set(`${pair.group}/${pair.resource}`, pair);
    return [...found.values()].sort((one, other) => (pairText(one) < pairText(other) ? -1 : 1));
  }

  /** What is made of a resource of an identity, by the schema that is bound; `undefined` where nothing is bound so. */
  liveOf(pair: BoundPair): BoundKind | undefined {
    const counted = this.#pairs.get(pairText(pair));
    if (counted === undefined) return this.#made(pair);
    counted.live ??= this.#made(pair);
    return counted.live;
  }

  /** All that is bound of a resource on the shard, by whatever schema and identity. */
  boundAs(resource: GroupResource): BoundPair[] {
    return [...(this.#named.get(nameOf(resource)) ?? [])].map(({ pair }) => pair);
  }

  /** Of a resource that the server keeps itself: it as it is served where it is bound. */
  ownKind(resource: GroupResource): ServedResource | undefined {
    const own = this.boundAs(resource).find((pair) => this.#options.own?.(pair) !== undefined);
    return own && this.liveOf(own)?.served[0];
  }

  /** Whether objects of a resource are in namespaces, as the first schema says by which it is bound. */
  scopeOf(resource: GroupResource): CrdSpec["scope"] | undefined {
    for (const { pair } of this.#named.get(nameOf(resource)) ?? []) {
      const crd = this.#options.crds.get(pair.uid);
      if (crd !== undefined) return crd.spec.scope;
    }
    return undefined;
  }

  /** Whether any binding of the shard lists a schema. */
  isBound(uid: string): boolean {
    return [...this.#pairs.values()].some(({ pair }) => pair.uid === uid);
  }

  /** A definition has come: what could not be served may be. */
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
    if (texts(was) === texts(is)) return;
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

  #interned(pairs: readonly BoundPair[]): readonly ServedResource[] {
    if (pairs.length === 0) return NOTHING;
    const text = pairs.map(pairText).join();
    const known = this.#lists.get(text)?.deref();
    if (known !== undefined) return known;
    const lives = pairs.flatMap((pair) => this.liveOf(pair) ?? []);
    const list = Object.freeze([
      ...lives.flatMap(({ served }) => served),
      ...lives.flatMap(({ identified }) => identified),
    ]);
    this.#lists.set(text, new WeakRef(list));
    this.#gone.register(list, text);
    return list;
  }

  /** Of several schemas of one identity and resource, the one that was bound last. */
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

  /** A resource whose binding is being deleted takes no more objects. */
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
