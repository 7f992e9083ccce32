import { isApiError } from "@virtual-workspaces/apimachinery";
import {
  type Client,
  controller,
  type Endpoint,
  type EndpointFailure,
  endpointInformers,
  endpointUrls,
  type FollowedUrls,
  Informer,
  type ReconcileFailure,
} from "@virtual-workspaces/client";
import { LogicalCluster } from "../kinds/logical-cluster.ts";
import { WorkspaceType } from "../kinds/workspace-type.ts";
import { PATH_ANNOTATION } from "../names/annotations.ts";
import { LOGICAL_CLUSTER_NAME } from "../names/names.ts";

/** Workspace that waits for its type's initializer or terminator. */
export interface WaitingWorkspace {
  /** Name of the workspace's logical cluster, which is never reused. */
  readonly cluster: string;
  /** Workspace path, `root:org:team`. "" for a workspace without a path. */
  readonly path: string;
  /** LogicalCluster as the view shows it, with the workspace's owner and the other initializers or terminators. */
  readonly logicalCluster: LogicalCluster;
  /**
   * Client for the workspace, through the view. It has the type's `initializerPermissions` (`terminatorPermissions`), or acts as
   * the workspace's owner when they are not set. The view answers 403 once the workspace no longer waits.
   */
  readonly client: Client;
  /** Aborts when the controller stops or the shard is removed. Pass it to every call. */
  readonly signal: AbortSignal;
}

/** Work in a waiting workspace. */
export type WorkspaceWork = (workspace: WaitingWorkspace) => Promise<void>;

/** Options of {@link lifecycleController}. */
export interface LifecycleControllerOptions
  extends Pick<FollowedUrls<WorkspaceType>, "connect" | "rewrite" | "signal" | "clock"> {
  /**
   * Client for the type's workspace. Needs `get`, `list` and `watch` on the type, and `initialize` and `terminate`, which the views
   * require. The controller does not close it.
   */
  readonly client: Client;
  /** Name of the WorkspaceType. */
  readonly type: string;
  /**
   * Initializes a new workspace. Then the workspace no longer waits for this type. The controller calls it again after a failure, a
   * restart or a change, and several replicas may call it at once, so each step must be idempotent.
   *
   * @default new workspaces are not initialized
   */
  readonly initialize?: WorkspaceWork;
  /** Cleans up a deleted workspace before its content goes; otherwise like {@link initialize}. @default no cleanup */
  readonly terminate?: WorkspaceWork;
  /** Number of workspaces to work on at the same time, for each of the two hooks. @default 8 */
  readonly workers?: number;
  /** Receives every failure of a shard or a workspace. The controller retries it. */
  readonly onError: (failure: EndpointFailure | ReconcileFailure) => void;
}

/**
 * Runs the work of a workspace type's author on all shards. It initializes each new workspace of the type before it is Ready, and
 * cleans up each deleted one before its content goes. The views (`initializingworkspaces`, `terminatingworkspaces`) come from
 * `status.virtualWorkspaces` of the type. After the work it removes only the type's own entry from the workspace's
 * `status.initializers` (`terminators`). When the work fails, the workspace keeps waiting and the controller retries.
 *
 * ```ts
 * await using running = lifecycleController({
 *   client, type: "team", connect: (url) => ({ upstream: { url, credentials } }),
 *   initialize: async ({ client, signal }) => void (await client.resource(Namespace).apply({ metadata: { name: "team" } }, { signal })),
 *   onError: ({ error }) => console.error(error),
 * });
 * ```
 *
 * Security: a user who can write the type's status decides where the controller sends its credentials, unless `rewrite` restricts
 * the URLs. Memory: the waiting logical clusters, as in an informer.
 */
export function lifecycleController(options: LifecycleControllerOptions): LifecycleController {
  return new LifecycleController(options);
}

/** Phases of a workspace, by the `type` of their views, and the status field that lists the pending entries. */
const PHASES = [
  { type: "initializing", list: "initializers", work: "initialize" },
  { type: "terminating", list: "terminators", work: "terminate" },
] as const;

interface Waiting {
  readonly endpoint: Endpoint;
  readonly cluster: string;
  readonly found: LogicalCluster;
  readonly list: (typeof PHASES)[number]["list"];
  readonly signal: AbortSignal;
}

/** Entry in a list of initializers or terminators. */
interface ListEntry {
  readonly list: Waiting["list"];
  readonly own: string;
  readonly signal: AbortSignal;
}

/** Initializes and cleans up the workspaces of a type until it is disposed. Created by {@link lifecycleController}. */
export class LifecycleController implements AsyncDisposable {
  /** Resolves after reading the type and the workspaces of each reachable shard. Rejects when the controller stops before. */
  readonly started: Promise<void>;
  readonly #options: LifecycleControllerOptions;
  readonly #running = new AsyncDisposableStack();
  readonly #end = (): void => void this[Symbol.asyncDispose]();

  constructor(options: LifecycleControllerOptions) {
    this.#options = options;
    const { signal } = options;
    this.started = Promise.all(
      PHASES.map((phase) => {
        const work = options[phase.work];
        return work === undefined ? undefined : this.#run(phase, work);
      }),
    ).then(() => undefined);
    this.started.catch(() => undefined); // `onError` reports the failure as well
    signal?.addEventListener("abort", this.#end, { once: true });
    if (signal?.aborted === true) this.#end();
  }

  /** Waits for running work, then stops the controller. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#end);
    await this.#running.disposeAsync();
  }

  #run({ type, list }: (typeof PHASES)[number], work: WorkspaceWork): Promise<void> {
    const { client, type: name, connect, rewrite, clock, onError, workers = 8 } = this.#options;
    const { clusters } = this.#running.use(
      endpointInformers({
        resource: client.resource(WorkspaceType),
        name,
        urls: (found) => endpointUrls(found, { type }),
        connect,
        ...(rewrite && { rewrite }),
        ...(clock && { clock }),
        informers: {
          clusters: ({ client }) => new Informer({ resource: client.cluster("*").resource(LogicalCluster) }).start(),
        },
        onError,
      }),
    ).sources;
    return this.#running.use(
      controller({
        name: `${name}-${type}`,
        sources: [{ informer: clusters }],
        reconcile: async (key, { object: found, signal }) => {
          const endpoint = clusters.endpointOf(key);
          if (found !== undefined && endpoint !== undefined)
            await release({ endpoint, cluster: key.cluster, found, list, signal }, work);
        },
        workers,
        onError,
        ...(clock && { clock }),
      }),
    ).started;
  }
}

/** Does the work in a workspace, then removes the view's entry from the list. */
async function release({ endpoint, cluster, found, list, signal }: Waiting, work: WorkspaceWork): Promise<void> {
  // The server builds the end of the URL from the type's cluster and name.
  const own = decodeURIComponent(endpoint.url.slice(endpoint.url.lastIndexOf("/") + 1));
  if (found.status?.[list]?.includes(own) !== true) return;
  const client = endpoint.client.cluster(cluster);
  const path = found.metadata.annotations?.[PATH_ANNOTATION] ?? "";
  try {
    await work({ cluster, path, logicalCluster: found, client, signal });
    await leave(client, { list, own, signal });
  } catch (error) {
    if (signal.aborted || (await isWaiting(client, { list, own, signal }))) throw error;
  }
}

/** Maximum number of attempts to write the list. Each loses against a concurrent change. */
const TRIES = 10;

async function leave(client: Client, { list, own, signal }: ListEntry): Promise<void> {
  const clusters = client.resource(LogicalCluster);
  for (let tries = 1; ; tries++) {
    const { metadata, status } = await clusters.get(LOGICAL_CLUSTER_NAME, { signal });
    const others = { [list]: (status?.[list] ?? []).filter((one) => one !== own) };
    // A merge patch replaces the whole list, so it carries the version that was read.
    const change = { metadata: { resourceVersion: metadata.resourceVersion ?? "" }, status: others };
    try {
      await clusters.status.mergePatch(LOGICAL_CLUSTER_NAME, change, { signal });
      return;
    } catch (error) {
      // kcp validates the content of the list before it compares versions, so it may answer 422.
      if (tries === TRIES || !isApiError(error) || (error.code !== 409 && error.code !== 422)) throw error;
    }
  }
}

/**
 * Returns whether the workspace still waits. It is no failure when another replica was faster or the workspace was deleted. The
 * workspace leaves the view a little later than the list.
 */
async function isWaiting(client: Client, { list, own, signal }: ListEntry): Promise<boolean> {
  try {
    const { status } = await client.resource(LogicalCluster).get(LOGICAL_CLUSTER_NAME, { signal });
    return status?.[list]?.includes(own) === true;
  } catch (error) {
    return !isApiError(error) || error.code !== 404;
  }
}
