import { isApiError, type ObjectKey, parseApiVersion, WILDCARD } from "@virtual-workspaces/apimachinery";
import { Client, type Controller, controller, Informer, keyOf, type ReconcileResult } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { clusterOf, type Holds, Workspace } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import { MountFinder } from "./mount-finder.ts";
import { identifyingMetadata } from "./mount-object.ts";
import { verdictOf, write } from "./workspace-status.ts";

/** Name of kcp's controller, and field manager of its writes. */
const NAME = "kcp-workspace-mounts";
/** Number of Workspaces to reconcile at the same time. */
const WORKERS = 8;
/** Time limit for running work at shutdown, in ms. */
const GRACE = 2000;

/** Options of {@link WorkspaceController}. */
export interface WorkspaceControllerOptions {
  readonly upstream: Upstream;
  /** Identity of Workspaces. */
  readonly identity: string;
  readonly requireAnnotation: boolean;
  readonly onError: (error: unknown) => void;
}

/** Watches the Workspaces of a shard, and reconciles the mounted ones. */
export class WorkspaceController implements AsyncDisposable {
  readonly started: Promise<void>;
  readonly #options: WorkspaceControllerOptions;
  readonly #client: Client;
  readonly #workspaces: Informer<Holds<typeof Workspace>>;
  readonly #finder: MountFinder;
  readonly #controller: Controller<Workspace>;

  constructor(options: WorkspaceControllerOptions) {
    const { upstream, identity, onError } = options;
    this.#options = options;
    const client = new Client({ upstream, cluster: WILDCARD, fieldManager: NAME });
    this.#client = client;
    this.#workspaces = new Informer<Holds<typeof Workspace>>({
      resource: client.resource(Workspace, { identity }),
      transform: kept,
      indexers: { cluster: mountedIn, object: mountedBy },
    });
    this.#workspaces.on({
      lifecycle: (event) => {
        // No workspace of the shard has bound Workspaces yet: the informer retries every few seconds.
        if (event.type === "error" && !isNotThere(event.error)) onError(event.error);
      },
    });
    const keys = (index: string, text: string): readonly ObjectKey[] =>
      this.#workspaces.store.byIndex(index, text).map((workspace) => keyOf(workspace, client));
    this.#finder = new MountFinder({
      client,
      mountedIn: (cluster) => keys("cluster", cluster),
      mountedBy: (group, object) => keys("object", objectText(group, object)),
      again: (workspaces) => {
        for (const key of workspaces) this.#controller.add(key);
      },
      onError,
    });
    this.#controller = controller<Workspace>({
      name: NAME,
      workers: WORKERS,
      grace: GRACE,
      sources: [{ informer: this.#workspaces }],
      reconcile: (key, { object, signal }) => this.#reconcile(key, object, signal),
      onError: ({ error }) => onError(error),
    });
    this.started = this.#controller.started;
    this.#workspaces.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller.stop();
    await Promise.all([this.#workspaces.stop(), this.#finder[Symbol.asyncDispose]()]);
  }

  async #reconcile(
    key: ObjectKey,
    workspace: Workspace | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const ref = workspace?.spec.mount?.ref;
    if (workspace === undefined || ref === undefined || workspace.metadata.deletionTimestamp !== undefined) {
      this.#finder.letGo(key);
      return undefined;
    }
    const found = await this.#finder.find(key, ref);
    const workspaces = this.#client.cluster(key.cluster).resource(Workspace);
    await write(workspace, verdictOf(ref, found, this.#options), { workspaces, now: new Date(), signal }).catch(
      (error: unknown) => {
        // The Workspace is gone; its DELETED event follows.
        if (!isNotThere(error)) throw error;
      },
    );
    return found.kind === "unserved" ? { requeueAfter: this.#finder.patience(key, ref) } : undefined;
  }
}

/** Reduces Workspaces without a mount, the majority, to their keys. */
function kept(workspace: Workspace): Workspace {
  if (workspace.spec?.mount === undefined) return { ...identifyingMetadata(workspace), spec: {} };
  delete workspace.metadata.managedFields;
  return workspace;
}

function mountedIn(workspace: Workspace): string[] {
  return workspace.spec.mount === undefined ? [] : [clusterOf(workspace)];
}

function mountedBy(workspace: Workspace): string[] {
  const ref = workspace.spec.mount?.ref;
  if (ref === undefined) return [];
  const object = { cluster: clusterOf(workspace), namespace: ref.namespace ?? "", name: ref.name };
  return [objectText(groupOf(ref.apiVersion), object)];
}

/** Returns a group that no object has for an invalid apiVersion. */
function groupOf(apiVersion: string): string {
  try {
    return parseApiVersion(apiVersion).group;
  } catch {
    return "/";
  }
}

function objectText(group: string, object: ObjectKey): string {
  return `${group} ${keyText(object)}`;
}

function isNotThere(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}
