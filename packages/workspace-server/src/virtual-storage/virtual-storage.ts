import { ApiError, type GroupResource, isApiError, type KubeObject, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { RawRequest, ServedResource } from "@virtual-workspaces/framework";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import type { ForwardingHandlers } from "@virtual-workspaces/framework/resource";
import { type APIExport, clusterOf, ROOT_CLUSTER, ROOT_SHARD } from "@virtual-workspaces/kcp";
import type { ConfiguredAdmission } from "../admission/admission.ts";
import { Exports, placeOf } from "../bindings/exports/exports.ts";
import type { BoundPair, ElsewhereKind } from "../bindings/served/own-kind.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import type { ShardContext } from "../state/context.ts";
import { notRunning } from "../state/unavailable.ts";
import { type Backend, Backends, discoveredVerbs, type OtherServers } from "./backends.ts";
import { chosenURL, endpointsOf, NoEndpoints } from "./endpoints.ts";
import { ViewObjects } from "./view-objects.ts";

type Storage = NonNullable<NonNullable<APIExport["spec"]>["resources"]>[number]["storage"];
type Virtual = NonNullable<NonNullable<Storage>["virtual"]>;

/** Connections to views that store resources of exports. */
export interface VirtualStorageOptions {
  /** Views at other servers. @default none */
  readonly others?: OtherServers | undefined;
}

/** Options of {@link VirtualStorage}. */
export interface VirtualStorageSettings extends VirtualStorageOptions {
  /** Admission by configurations of the exporter. */
  readonly admission: Pick<ConfiguredAdmission, "bound" | "mayJudge">;
}

/** Verbs that admission judges. */
const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);
/** Subresources whose writes it judges; "" for the object. */
const JUDGED: ReadonlySet<string> = new Set(["", "status", "scale"]);

/**
 * Serves resources of exports that a view stores (`spec.resources[].storage.virtual`). Authorized requests in a workspace
 * with the binding are forwarded to the view as the caller, and the view authorizes them again. Each request reads the view's
 * endpoint from the object that the export refers to, in the export's workspace. Writes that webhooks or policies may judge
 * are read, changed and judged here first; the view gets the resulting object.
 */
export class VirtualStorage implements AsyncDisposable {
  readonly #shard: ShardContext;
  readonly #exports: Exports;
  readonly #backends: Backends;
  readonly #admission: VirtualStorageSettings["admission"];

  constructor(shard: ShardContext, { others, admission }: VirtualStorageSettings) {
    this.#admission = admission;
    this.#shard = shard;
    this.#exports = new Exports(shard);
    const listeners = (): Set<OwnServices | undefined> =>
      new Set([shard, ...shard.registry.shards].map(({ services }) => services));
    this.#backends = new Backends({
      own: () => [...listeners()].flatMap((services) => services ?? []),
      others,
      onError: this.#failed,
    });
  }

  /** Returns a bound resource in one version. @param identity as in `ServeOptions` */
  serve({ resource: kind, versions }: ElsewhereKind, pair: BoundPair, identity = ""): ServedResource {
    const { bound: admit, mayJudge } = this.#admission;
    const backend = (cluster: string): Promise<Backend> => this.#backendOf(pair, cluster);
    const passed = async <R extends RawRequest<Readonly<Record<string, string>>>>(request: R) => {
      const { cluster = "" } = request.params;
      const { relay, path } = await backend(cluster);
      const target = deriveRequest(request, {
        prefix: `${path}/clusters/${cluster}`,
        tail: withoutIdentity(request.tail, { plural: kind.plural, identity }),
      });
      return { relay, target };
    };
    const judged = kind.serve(new ViewObjects(kind, { versions, backend, onError: this.#failed }), { admit, identity });
    const handlers: ForwardingHandlers = {
      handle: async (req, res, request) => {
        const { relay, target } = await passed(request);
        await relay.handle(req, res, target);
      },
      upgrade: async (req, socket, request) => {
        const { relay, target } = await passed(request);
        await relay.upgrade(req, socket, target);
      },
      discover: async ({ params: { cluster = "" }, signal }) => discoveredVerbs(await backend(cluster), kind, signal),
      instead: ({ verb, subresource, params }) => {
        const isWrite = WRITES.has(verb) && JUDGED.has(subresource);
        return isWrite && mayJudge({ params, definition: kind }) ? judged : undefined;
      },
    };
    return kind.forwardTo(handlers, { identity });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#backends[Symbol.asyncDispose]();
  }

  readonly #failed = (error: unknown): void =>
    this.#shard.log({
      level: "warn",
      message: "a view that stores resources fails",
      shard: this.#shard.name,
      error: String(error),
    });

  /** @throws ApiError 500 when the view is unknown, 503 while a shard that may know it does not run */
  async #backendOf(pair: BoundPair, cluster: string): Promise<Backend> {
    const resource = `${pair.resource}.${pair.group}`;
    try {
      const { exported, virtual } = await this.#storageOf(pair, cluster);
      const endpoints = endpointsOf(await this.#referred(clusterOf(exported), virtual.reference));
      const { name, urls } = this.#shard;
      const url = chosenURL({ virtualWorkspaceURL: urls.virtualWorkspaceURL, labels: this.#labels(name) }, endpoints);
      return this.#backends.at(url);
    } catch (error) {
      if (isApiError(error) && error.code === 503) throw error;
      const why = error instanceof NoEndpoints ? "" : `: ${error instanceof Error ? error.message : String(error)}`;
      throw ApiError.internalError(
        `error resolving resource ${resource}${why}; please contact APIExport owner to resolve`,
      );
    }
  }

  /** Returns the storage of a bound resource, from its export. */
  async #storageOf(pair: BoundPair, cluster: string): Promise<{ exported: APIExport; virtual: Virtual }> {
    const candidates = cluster === WILDCARD ? await this.#exportsOf(pair) : [await this.#boundExport(pair, cluster)];
    for (const exported of candidates) {
      const virtual = exported.spec?.resources?.find(
        ({ group, name, storage }) => group === pair.group && name === pair.resource && storage?.virtual !== undefined,
      )?.storage?.virtual;
      if (virtual !== undefined) return { exported, virtual };
    }
    throw new Error("its APIExport no longer names the view that stores it");
  }

  async #exportsOf({ identity }: BoundPair): Promise<readonly APIExport[]> {
    await this.#shard.registry.whole();
    return this.#exports.withIdentity(identity);
  }

  async #boundExport({ group, resource }: GroupResource, cluster: string): Promise<APIExport> {
    const { state, registry } = this.#shard;
    const binding = state.apiBindings.store
      .list(cluster)
      .findLast(({ status }) =>
        status?.boundResources?.some((one) => one.group === group && one.resource === resource),
      );
    const reference = binding?.spec.reference.export;
    if (reference === undefined) throw new Error("it is no longer bound");
    const place = placeOf(reference, cluster);
    await registry.reach(place);
    const found = this.#exports.find(reference, cluster);
    if (found !== undefined) return found;
    if (registry.isAway(place)) throw notRunning();
    throw new Error(`apiexports.apis.kcp.io "${reference.name}" not found`);
  }

  /** Returns the object with the endpoints, of any kind, in the logical cluster of the export. */
  async #referred(cluster: string, { apiGroup = "", kind, name }: Virtual["reference"]): Promise<KubeObject> {
    const { registry } = this.#shard;
    await registry.load(cluster);
    const shard = registry.shardWith(cluster);
    if (shard === undefined) throw notRunning();
    const found = await shard.referred(cluster, { group: apiGroup, kind, name });
    if (found === undefined)
      throw new Error(`the workspace of its APIExport has no cluster-scoped kind ${kind} of the group "${apiGroup}"`);
    const { plural, object } = found;
    if (object === undefined) throw new Error(`${plural}.${apiGroup} "${name}" not found`);
    return object;
  }

  #labels(name: string): Readonly<Record<string, string>> {
    const root = this.#shard.registry.shard(ROOT_SHARD);
    return root?.state.shards.store.get({ cluster: ROOT_CLUSTER, namespace: "", name })?.metadata.labels ?? {};
  }
}

/**
 * Removes the resource's identity from a path (`widgets:3f2a`), which only shards and `system:masters` use. Object names may
 * contain a colon.
 */
function withoutIdentity(
  tail: string,
  { plural, identity }: { readonly plural: string; readonly identity: string },
): string {
  if (identity === "") return tail;
  const segments = tail.split("/");
  const at = segments.findIndex((segment) => decodeURIComponent(segment) === `${plural}:${identity}`);
  return at === -1 ? tail : segments.with(at, plural).join("/");
}
