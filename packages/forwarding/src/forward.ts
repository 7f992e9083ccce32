import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition, ViewSource } from "@virtual-workspaces/framework";
import { causeOfFault, FailureStreaks } from "@virtual-workspaces/framework/proxy";
import {
  type CacheLease,
  type Encoded,
  type EncodedList,
  type GetOptions,
  type ListRequest,
  type Scope,
  SourceFeeds,
  type Storage,
} from "@virtual-workspaces/framework/storage";
import { Upstream } from "@virtual-workspaces/transport";
import type { ForwardOptions, Transform } from "./options.ts";
import { getObject } from "./reads/get.ts";
import { passList } from "./reads/list.ts";
import { type Show, ShownObject, transformedList } from "./reads/transformed.ts";
import { Readiness } from "./upstream/readiness.ts";
import { emptyIfUnserved, UpstreamResource } from "./upstream/upstream-resource.ts";
import { UpstreamSource } from "./watch/upstream-source.ts";
import { forwardedWrites } from "./writes/forwarded-writes.ts";

/** What a {@link Forwarded} is doing, for metrics. */
export interface ForwardedState {
  /** Watches of the other server that are kept up. */
  readonly watches: number;
  /** How many of them fail now, and are tried again. */
  readonly failing: number;
  /** Requests sent to the other server, of everybody who uses the same {@link Upstream}. */
  readonly requests: number;
}

/** The longest time between two attempts on a server that fails, ms: it is back within 15 s of its own return. */
const LONGEST_RETRY = 5_000;

/**
 * The objects of another API server, under its own resource versions. What it answers is passed on as bytes, unread
 * wherever the client wants JSON. Any number of watches here are one watch there for each identity it is asked as, place
 * and selection. Memory: the objects of those selections, encoded, and a ring of events for each.
 */
export class Forwarded<T extends object> implements Storage<ObjectOf<T>>, ViewSource<T>, AsyncDisposable {
  readonly resource: TypedDefinition<T>;
  readonly appliesSelectors = true;
  readonly lifecycle = "storage";
  /** What can be written: with a `transform` that has no `keep`, deletes alone. */
  declare readonly create?: NonNullable<Storage<ObjectOf<T>>["create"]>;
  declare readonly update?: NonNullable<Storage<ObjectOf<T>>["update"]>;
  declare readonly pass?: NonNullable<Storage<ObjectOf<T>>["pass"]>;
  declare readonly patch?: NonNullable<Storage<ObjectOf<T>>["patch"]>;
  declare readonly applies?: NonNullable<Storage<ObjectOf<T>>["applies"]>;
  declare readonly delete?: NonNullable<Storage<ObjectOf<T>>["delete"]>;
  declare readonly deleteCollection?: NonNullable<Storage<ObjectOf<T>>["deleteCollection"]>;
  /** The other server. */
  readonly upstream: Upstream;
  readonly #owned: boolean;
  readonly #there: UpstreamResource;
  readonly #show: Show | undefined;
  readonly #feeds: SourceFeeds;
  readonly #spells: FailureStreaks;
  readonly #readiness: Readiness;

  /** @throws Error on options of an upstream that cannot be used */
  constructor(options: ForwardOptions<T>) {
    const { resource, upstream, cluster = clusterHere, identity = "impersonate", transform } = options;
    this.resource = resource;
    this.#owned = !(upstream instanceof Upstream);
    this.upstream = upstream instanceof Upstream ? upstream : new Upstream(upstream);
    const { labels, resourceIdentity, unserved } = options;
    if (labels !== undefined && transform !== undefined)
      throw new Error(`forward of ${resource.plural}: give it labels or transform: together they are not supported`);
    const onError = options.onError ?? warning(resource, this.upstream.url);
    const place = { definition: resource, upstream: this.upstream, cluster, identity, onError };
    this.#there = new UpstreamResource({ ...place, labels, resourceIdentity, unserved });
    this.#show = transform?.show as Show | undefined;
    this.#spells = new FailureStreaks(onError);
    Object.assign(this, forwardedWrites(this.#there, transform));
    this.#readiness = new Readiness(this.#there.upstream);
    this.#feeds = new SourceFeeds({
      definition: resource,
      source: new UpstreamSource({
        resource: this.#there,
        show: this.#show,
        renewEvery: options.renewEvery ?? 10_000,
        onAnswer: (scope) => {
          if (this.#spells.failing > 0) this.#spells.answered(this.shareKey(scope));
        },
      }),
      history: options.history,
      linger: options.linger,
      longestRetry: LONGEST_RETRY,
      onError: (error, key) => this.#spells.failed(causeOfFault(error) ?? error, key),
    });
  }

  /** For metrics; costs nothing. */
  get state(): ForwardedState {
    const { requests } = this.upstream.stats;
    return { watches: this.#feeds.size, failing: this.#spells.failing, requests };
  }

  /** @throws ApiError what the other server says, 503 when it says nothing */
  get(scope: Scope, key: ObjectKey, options: GetOptions): Promise<ObjectOf<T> | Encoded | undefined> {
    const found = this.#there.told(getObject(this.#there, { scope, key }, options));
    const show = this.#show;
    return show === undefined ? found : found.then((object) => object && new ShownObject(object, show));
  }

  /** @throws as {@link get} */
  list(scope: Scope, options: ListRequest): Promise<EncodedList> {
    const show = this.#show;
    const there = this.#there;
    if (show === undefined)
      return there.told(passList(there, scope, options)).catch((error) => emptyIfUnserved(error, there));
    const list = there.told(transformedList(there, scope, { ...options, show }));
    return list.catch((error) => emptyIfUnserved(error, there));
  }

  /** A share in what watches of this scope, and views, read. @throws as {@link get} */
  async cache(scope: Scope): Promise<CacheLease> {
    const settled = this.#there.settled(scope);
    return this.#feeds.lease(settled, this.#there.shareKey(settled));
  }

  /** Whoever is asked for as the same identity, in the same place, with the same selectors, shares. */
  shareKey(scope: Scope): string {
    return this.#there.shareKey(scope);
  }

  /**
   * For `ready` of a virtual workspace: resolves while the other server answers, whatever it answers to strangers. Asks it
   * at most every other second, and waits 5 s at most.
   *
   * @throws Error that names the other server and says what is wrong: for logs, no client is told
   */
  readonly ready = (): Promise<void> => this.#readiness.check();

  /** Ends all watches of the other server, and the connections to it if they were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#feeds[Symbol.asyncDispose]();
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }
}

/** A {@link Forwarded} that writes too, so that writable views can be made of it. */
export type WritableForwarded<T extends object> = Forwarded<T> &
  Required<Pick<Storage<ObjectOf<T>>, "create" | "update" | "delete">>;

/**
 * A kind of another API server, served here: all verbs, as it answers them. With a `transform` that has no way back, what is
 * written is deletes alone.
 *
 * @throws Error on options that cannot be used
 *
 * @example
 * ```ts
 * import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
 * import { forward, type Workspaces } from "@virtual-workspaces/forwarding";
 *
 * const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
 *
 * export default ({ upstream }: Workspaces) =>
 *   defineVirtualWorkspace({
 *     name: "config",
 *     path: "/clusters/:cluster",
 *     authorize: authenticated(),
 *     resources: [ConfigMap.serve(forward({ resource: ConfigMap, upstream }))],
 *   });
 * ```
 * @see docs/how-to/forwarding.md
 * @see docs/how-to/forwarding-identity.md
 */
export function forward<T extends object>(
  options: ForwardOptions<T> & { readonly transform?: Required<Transform<T>> },
): WritableForwarded<T>;
export function forward<T extends object>(options: ForwardOptions<T>): Forwarded<T>;
export function forward<T extends object>(options: ForwardOptions<T>): Forwarded<T> {
  return new Forwarded(options);
}

function clusterHere({ cluster }: Scope): string {
  return cluster;
}

function warning({ plural }: { readonly plural: string }, url: string): (error: unknown) => void {
  return (error) => process.emitWarning(`${plural} of ${url}: ${String(error)}`, "ForwardingWarning");
}
