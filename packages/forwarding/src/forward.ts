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

/** State of a {@link Forwarded}, for metrics. */
export interface ForwardedState {
  /** Open watches of the upstream. */
  readonly watches: number;
  /** Number of them that fail and are retried. */
  readonly failing: number;
  /** Requests sent to the upstream by all users of the same {@link Upstream}. */
  readonly requests: number;
}

/** Maximum backoff, in ms: a recovered upstream is in use within 15 s. */
const LONGEST_RETRY = 5_000;

/**
 * Objects of another API server, with its resource versions. Responses are forwarded as bytes, without decoding if the client
 * wants JSON. Any number of watches here share one upstream watch per identity, place and selectors. Memory: the encoded
 * objects of these watches, and a ring of events for each.
 */
export class Forwarded<T extends object> implements Storage<ObjectOf<T>>, ViewSource<T>, AsyncDisposable {
  readonly resource: TypedDefinition<T>;
  readonly appliesSelectors = true;
  readonly keepsOptions = true;
  readonly lifecycle = "storage";
  /** Write methods: only deletes for a `transform` without `keep`. */
  declare readonly create?: NonNullable<Storage<ObjectOf<T>>["create"]>;
  declare readonly update?: NonNullable<Storage<ObjectOf<T>>["update"]>;
  declare readonly pass?: NonNullable<Storage<ObjectOf<T>>["pass"]>;
  declare readonly patch?: NonNullable<Storage<ObjectOf<T>>["patch"]>;
  declare readonly applies?: NonNullable<Storage<ObjectOf<T>>["applies"]>;
  declare readonly delete?: NonNullable<Storage<ObjectOf<T>>["delete"]>;
  declare readonly deleteCollection?: NonNullable<Storage<ObjectOf<T>>["deleteCollection"]>;
  /** Upstream API server. */
  readonly upstream: Upstream;
  readonly #owned: boolean;
  readonly #there: UpstreamResource;
  readonly #show: Show | undefined;
  readonly #feeds: SourceFeeds;
  readonly #spells: FailureStreaks;
  readonly #readiness: Readiness;

  /** @throws Error for invalid options of an upstream */
  constructor(options: ForwardOptions<T>) {
    const { resource, upstream, cluster = clusterHere, identity = "impersonate", transform } = options;
    this.resource = resource;
    this.#owned = !(upstream instanceof Upstream);
    this.upstream = upstream instanceof Upstream ? upstream : new Upstream(upstream);
    const { labels, resourceIdentity, unserved } = options;
    if (labels !== undefined && transform !== undefined)
      throw new Error(`forward of ${resource.plural}: labels and transform are both set: remove one`);
    const onError = options.onError ?? warning(resource, this.upstream.url);
    const place = { definition: resource, upstream: this.upstream, cluster, identity, onError };
    const { headers, path } = options;
    this.#there = new UpstreamResource({ ...place, labels, resourceIdentity, unserved, headers, path });
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

  /** Current state. It is cheap to read. */
  get state(): ForwardedState {
    const { requests } = this.upstream.stats;
    return { watches: this.#feeds.size, failing: this.#spells.failing, requests };
  }

  /** @throws ApiError of the upstream, 503 if it does not answer */
  get(scope: Scope, key: ObjectKey, options: GetOptions): Promise<ObjectOf<T> | Encoded | undefined> {
    const found = this.#there.told(getObject(this.#there, { scope, key }, options));
    const show = this.#show;
    return show === undefined ? found : found.then((object) => object && new ShownObject(object, show, scope));
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

  /** Leases the cache that watches and views of this scope share. @throws as {@link get} */
  async cache(scope: Scope): Promise<CacheLease> {
    const settled = this.#there.settled(scope);
    return this.#feeds.lease(settled, this.#there.shareKey(settled));
  }

  /** Returns the same key for requests with the same outbound identity, place and selectors. */
  shareKey(scope: Scope): string {
    return this.#there.shareKey(scope);
  }

  /**
   * Readiness check of a virtual workspace (`ready`): resolves while the upstream answers anything, even an error for
   * anonymous users. Sends at most one request per 2 s, and waits at most 5 s.
   *
   * @throws Error that names the upstream and the fault: for logs, not for clients
   */
  readonly ready = (): Promise<void> => this.#readiness.check();

  /** Ends all upstream watches, and the connections if they were created here. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#feeds[Symbol.asyncDispose]();
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }
}

/** {@link Forwarded} with writes, for writable views. */
export type WritableForwarded<T extends object> = Forwarded<T> &
  Required<Pick<Storage<ObjectOf<T>>, "create" | "update" | "delete">>;

/**
 * Serves a kind of another API server with all verbs. With a `transform` without `keep`, the only writes are deletes.
 *
 * @throws Error for invalid options
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
