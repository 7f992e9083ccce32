import type { Socket } from "node:net";
import { createServer, type Server, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { type Listening, type ListenOptions, type MetricFamily, metrics } from "@virtual-workspaces/framework/server";
import { inClusterUrl } from "@virtual-workspaces/kcp/users";
import { identityHeaderGuard, unknownCallers, withGroupFilter } from "./callers.ts";
import { Routes } from "./forwarding/routes.ts";
import { CLUSTERS_PATH, type Mapping } from "./mapping/mapping.ts";
import type { FrontProxyOptions } from "./options.ts";
import { PathMappings } from "./path-mappings/path-mappings.ts";
import { type ClustersPath, clustersOf } from "./views/clusters-path.ts";
import type { Destinations } from "./views/destinations.ts";
import { mappedViews } from "./views/mapped-views.ts";

/** Single address for the workspaces of all shards and for servers of virtual workspaces. See {@link createFrontProxy}. */
export class FrontProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #routes: Routes;
  readonly #clusters: ClustersPath | undefined;
  readonly #objects: PathMappings | undefined;
  #closed: Promise<void> | undefined;

  /** @throws Error for an invalid mapping, or invalid options of a server */
  constructor(options: FrontProxyOptions) {
    const { mapping, authentication, groups = {}, log, virtualWorkspaces = [], metrics: read, ...rest } = options;
    const { shards: _, workspaceAuthentication: __, pathMappings: followed, pages, ...listener } = rest;
    const routes = new Routes(mapping, log);
    const clusters = clustersOf(options, routes);
    this.#routes = routes;
    this.#clusters = clusters;
    const objects = followed && new PathMappings({ ...followed, routes, log });
    this.#objects = objects;
    this.#server = createServer({
      ...listener,
      // The shards authenticate users of workspaces; sign-ins need them here.
      ...(pages && {
        pages: { ...pages, ...(clusters && { authenticationAt: ({ cluster = "" }) => clusters.loginsOf(cluster) }) },
      }),
      ...(clusters && { retarget: (request) => inClusterTarget(request, { routes, virtualWorkspaces }) }),
      virtualWorkspaces: [
        ...virtualWorkspaces,
        ...(clusters === undefined ? [] : [clusters.view]),
        ...mappedViews(routes, (path) => [
          ...(clusters?.loginsOf(routes.of(path)?.clusterIn(path) ?? "") ?? []),
          unknownCallers,
        ]),
      ],
      authentication: [
        ...authentication.map((one) => withGroupFilter(one, groups)),
        identityHeaderGuard(headersOf(mapping)),
      ],
      ...(read && {
        metrics: metrics({
          ...read,
          families: () => [...proxyFamilies(clusters, routes), ...(read.families?.() ?? [])],
        }),
      }),
      checks: {
        ...(clusters && { shards: () => clusters.places.check() }),
        ...(objects && { "path-mappings": () => objects.check() }),
      },
      log,
    });
  }

  /** Resolves after the first attempt to read shards and PathMappings. Rejects if the proxy is closed before. */
  get started(): Promise<void> {
    return Promise.all([this.#clusters?.places.started, this.#objects?.tried]).then(() => undefined);
  }

  /** Listens. Requests for workspaces are 503 until the shards have been read. @throws the listener's errors */
  listen(options: ListenOptions): Promise<Listening> {
    return this.#server.listen(options);
  }

  /** Prepares to serve connections of {@link accept}, without listening. Resolves after the first attempt to read PathMappings. */
  async start(): Promise<void> {
    await this.#server.start();
    await this.#objects?.tried;
  }

  /** Serves a connection that another process has accepted, after {@link start}. */
  accept(connection: Socket): void {
    this.#server.accept(connection);
  }

  /** Returns the metrics of this process; empty without the option `metrics`. */
  families(): Promise<readonly MetricFamily[]> {
    return this.#server.families();
  }

  /** Counts a failed authentication at another process behind the same address: see `authenticationFailures.onFailure`. */
  countAuthenticationFailure(network: string): void {
    this.#server.countAuthenticationFailure(network);
  }

  /**
   * Maps a path while the proxy runs. Disposing the result removes it at once: pending requests may take a minute, watches
   * end. Security: its identity headers must be `X-Remote-*`, or those of a mapping in the options; the proxy strips no
   * others from clients.
   *
   * @throws Error for an invalid mapping, for `/clusters/`, and for a path that is already mapped
   */
  add(mapping: Mapping): AsyncDisposable {
    if (mapping.path === CLUSTERS_PATH) throw new Error(`cannot add ${CLUSTERS_PATH}: set it in the option mapping`);
    const added = this.#routes.add(mapping);
    this.#objects?.look();
    return {
      [Symbol.asyncDispose]: async () => {
        const over = added[Symbol.asyncDispose]();
        this.#objects?.look();
        await over;
      },
    };
  }

  /** Closes the proxy gracefully: watches end cleanly, and pending requests finish. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#server.close();
    await this.#objects?.[Symbol.asyncDispose]();
    await Promise.all([
      this.#routes[Symbol.asyncDispose](),
      this.#clusters?.servers[Symbol.asyncDispose](),
      this.#clusters?.places[Symbol.asyncDispose](),
    ]);
  }
}

/** Creates a front proxy; it serves once `listen` has resolved. @throws Error for an invalid mapping, or invalid options of a server */
export function createFrontProxy(options: FrontProxyOptions): FrontProxy {
  return new FrontProxy(options);
}

/**
 * Returns the target of a request without a workspace from a client in a cluster, which uses `KUBERNETES_SERVICE_HOST`: the
 * workspace of its service account token. Paths of mappings and views stay; kcp's proxy directs these to the workspace too.
 */
function inClusterTarget(
  request: Parameters<typeof inClusterUrl>[0],
  { routes, virtualWorkspaces }: { readonly routes: Routes; readonly virtualWorkspaces: readonly VirtualWorkspace[] },
): string | undefined {
  const target = inClusterUrl(request);
  if (target === undefined) return undefined;
  const [path = ""] = (request.url ?? "").split("?", 1);
  const isView = virtualWorkspaces.some(({ prefix = "/" }) => path === prefix || path.startsWith(`${prefix}/`));
  // A mapping of `/` takes only what no other path has.
  const isMapped = !routes.isRead || (routes.of(path)?.segments.length ?? 0) > 0;
  return isView || isMapped ? undefined : target;
}

function headersOf(mapping: readonly Mapping[]): readonly string[] {
  return mapping.flatMap(({ headers }) => {
    if (headers === undefined) return [];
    return [headers.user, headers.uid, headers.group, `${headers.extraPrefix}*`];
  });
}

/** Returns the metrics of the index (among them kcp's `kcp_indexed_logicalclusters`) and of the backends. */
function proxyFamilies(clusters: ClustersPath | undefined, routes: Routes): readonly MetricFamily[] {
  const indexed = clusters && [...clusters.places.families(), refusedFamily(clusters.destinations)];
  return [...(indexed ?? []), backendFamily(routes)];
}

function refusedFamily({ refused }: Destinations): MetricFamily {
  return {
    name: "virtual_workspaces_unreachable_requests_total",
    type: "counter",
    help: "Requests for paths without a workspace: unknown, not ready yet (pending), or deleted (gone).",
    labelNames: ["kind"],
    samples: Object.entries(refused).map(([kind, value]) => ({ labels: [kind], value })),
  };
}

function backendFamily(routes: Routes): MetricFamily {
  return {
    name: "virtual_workspaces_backend_ready",
    type: "gauge",
    help: "Whether a backend is ready, for paths with several backends.",
    labelNames: ["path", "backend"],
    samples: routes.all.flatMap(({ path, states }) =>
      states.map(({ url, isReady }) => ({ labels: [path, url], value: isReady ? 1 : 0 })),
    ),
  };
}
