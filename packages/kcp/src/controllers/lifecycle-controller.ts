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

/** A workspace that waits for its type's initializer or terminator. */
export interface WaitingWorkspace {
  /** The name of its logical cluster, which no other ever has. */
  readonly cluster: string;
  /** Its path, `root:org:team`; "" where it has none. */
  readonly path: string;
  /** As it was read from the view, with whose workspace it is and who else it waits for. */
  readonly logicalCluster: LogicalCluster;
  /**
   * Reaches what is in it, through the view: for what the type's `initializerPermissions` (`terminatorPermissions`) say, or, where
   * they say nothing, as the workspace's owner. Refused (403) once the workspace does not wait any more.
   */
  readonly client: Client;
  /** Aborts when the controller ends, or the shard goes: give it to every call. */
  readonly signal: AbortSignal;
}

/** What is done in a workspace that waits. */
export type WorkspaceWork = (workspace: WaitingWorkspace) => Promise<void>;

/** What {@link lifecycleController} is given. */
export interface LifecycleControllerOptions
  extends Pick<FollowedUrls<WorkspaceType>, "connect" | "rewrite" | "signal" | "clock"> {
  /**
   * Of the workspace that the type is in. Needs `get`, `list` and `watch` of the type there, and `initialize` and `terminate`, which
   * the views ask for. Not closed.
   */
  readonly client: Client;
  /** The type's name. */
  readonly type: string;
  /**
   * Sets a new workspace up; then it no longer waits for this type. Called again, for what may have been done half or whole, after
   * a failure, an end or a change, and by several replicas at a time: each step must be harmless when it is done again.
   *
   * @default new workspaces are left alone
   */
  readonly initialize?: WorkspaceWork;
  /** Cleans a workspace up that is deleted, before its content is; otherwise as {@link initialize}. @default they are left alone */
  readonly terminate?: WorkspaceWork;
  /** How many workspaces are worked on at a time, of those that are set up and of those that are cleaned up. @default 8 */
  readonly workers?: number;
  /** Told of every failure, of a shard or of a workspace. What it is of is tried again. */
  readonly onError: (failure: EndpointFailure | ReconcileFailure) => void;
}

/**
 * The controller of a workspace type's author: does what is to be done in each new workspace of the type before it is Ready, and in
 * each that is deleted before its content is, on all shards, as `status.virtualWorkspaces` of the type lists their views
 * (`initializingworkspaces` and `terminatingworkspaces`). Afterwards it takes the type off the workspace's `status.initializers`
 * (`terminators`), and nobody else's name. A workspace whose work fails waits, and it is tried again.
 *
 * ```ts
 * await using running = lifecycleController({
 *   client, type: "team", connect: (url) => ({ upstream: { url, credentials } }),
 *   initialize: async ({ client, signal }) => void (await client.resource(Namespace).apply({ metadata: { name: "team" } }, { signal })),
 *   onError: ({ error }) => console.error(error),
 * });
 * ```
 *
 * Whoever can write the type's status decides where our credentials are sent, unless `rewrite` has a say. Memory: the logical clusters
 * that wait, as an informer has them.
 */
export function lifecycleController(options: LifecycleControllerOptions): LifecycleController {
  return new LifecycleController(options);
}

/** The two parts of a workspace's life, by the `type` of their views, and where it says whom it waits for. */
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

/** A name on a list of whom a workspace waits for. */
interface ListEntry {
  readonly list: Waiting["list"];
  readonly own: string;
  readonly signal: AbortSignal;
}

/** Sets up and cleans up the workspaces of a type until it is disposed of. Made by {@link lifecycleController}. */
export class LifecycleController implements AsyncDisposable {
  /** Resolves when the type has been read, and the workspaces of each shard that could be reached are known. Rejects when it ends before. */
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
    this.started.catch(() => undefined); // who does not wait for it is told by `onError`
    signal?.addEventListener("abort", this.#end, { once: true });
    if (signal?.aborted === true) this.#end();
  }

  /** Lets what is under way end, and ends. */
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

/** Does the work in a workspace, then takes the name of the view off the list of whom it waits for. */
async function release({ endpoint, cluster, found, list, signal }: Waiting, work: WorkspaceWork): Promise<void> {
  // As the URL says, which the server has made of the type's cluster and name.
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

/** So often others may have left the list between the time when it was read and when it was written. */
const TRIES = 10;

async function leave(client: Client, { list, own, signal }: ListEntry): Promise<void> {
  const clusters = client.resource(LogicalCluster);
  for (let tries = 1; ; tries++) {
    const { metadata, status } = await clusters.get(LOGICAL_CLUSTER_NAME, { signal });
    const others = { [list]: (status?.[list] ?? []).filter((one) => one !== own) };
    // With the version that was read: a list is replaced whole.
    const change = { metadata: { resourceVersion: metadata.resourceVersion ?? "" }, status: others };
    try {
      await clusters.status.mergePatch(LOGICAL_CLUSTER_NAME, change, { signal });
      return;
    } catch (error) {
      // kcp looks at what is in the list before it looks at the version.
      if (tries === TRIES || !isApiError(error) || (error.code !== 409 && error.code !== 422)) throw error;
    }
  }
}

/**
 * A replica that was faster, or a workspace that is deleted while it is set up, is no failure of ours. It leaves the view a little
 * later than the list.
 */
async function isWaiting(client: Client, { list, own, signal }: ListEntry): Promise<boolean> {
  try {
    const { status } = await client.resource(LogicalCluster).get(LOGICAL_CLUSTER_NAME, { signal });
    return status?.[list]?.includes(own) === true;
  } catch (error) {
    return !isApiError(error) || error.code !== 404;
  }
}
