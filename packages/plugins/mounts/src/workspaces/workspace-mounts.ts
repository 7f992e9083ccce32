import { Client } from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { tenancyIdentity } from "@virtual-workspaces/kcp/informers";
import { WorkspaceController } from "./workspace-controller.ts";

/** Options of {@link workspaceMounts}, for the workspaces of one shard. */
export interface WorkspaceMountsOptions extends Pick<Workspaces, "upstream" | "everywhere"> {
  /**
   * Whether mount objects need the annotation `experimental.tenancy.kcp.io/is-mount: "true"`, as kcp's documentation says. Then
   * only objects whose owner opts in can be mounted. kcp does not check it.
   * @default false: the condition reports a missing annotation
   */
  readonly requireAnnotation?: boolean;
  /** Receives every failure except conflicts. The controller retries. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs the controller of a shard's mounted Workspaces. It replaces kcp's `kcp-workspace-mounts` (feature gate `WorkspaceMounts`).
 * It finds the object of `spec.mount.ref`, of any kind and scope, in the Workspace's own logical cluster, and applies kcp's
 * contract: `spec.URL` from `status.URL`, the condition `WorkspaceMountReady`, and the phase `Ready`. A Workspace is never Ready
 * without a URL. The controller of all workspaces sets the phase `Unavailable` when the condition is False.
 *
 * Security: the controller reads objects with the rights of the shard's administrators, and publishes the URL to all readers of the
 * Workspace. A user who may create a Workspace thereby learns the URL of an object that the user may not read, unless admission
 * checks it.
 *
 * Memory: some hundred bytes for each Workspace without a mount, the others whole, and some hundred bytes for each object of their
 * kinds.
 */
export function workspaceMounts(options: WorkspaceMountsOptions): WorkspaceMounts {
  return new WorkspaceMounts(options);
}

/** Controller of mounted workspaces, until it is disposed. {@link workspaceMounts} creates it. */
export class WorkspaceMounts implements AsyncDisposable {
  /** Resolves when the Workspaces are cached and work begins. Rejects when the controller stops before. */
  readonly started: Promise<void>;
  readonly #stop = new AbortController();
  #controller: WorkspaceController | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: WorkspaceMountsOptions) {
    this.started = this.#start(options);
    this.started.catch(() => undefined); // `onError` reports the failure as well
  }

  /** Stops the controller. Workspaces stay unchanged. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #start({
    upstream,
    everywhere = upstream,
    requireAnnotation = false,
    onError = warn,
  }: WorkspaceMountsOptions): Promise<void> {
    const { signal } = this.#stop;
    const identity = await tenancyIdentity(new Client({ upstream: everywhere }), { signal, onError });
    signal.throwIfAborted();
    this.#controller = new WorkspaceController({ upstream, identity, requireAnnotation, onError });
    await this.#controller.started;
  }

  async #close(): Promise<void> {
    this.#stop.abort(new Error("the controller of mounted workspaces has stopped"));
    await this.#controller?.[Symbol.asyncDispose]();
  }
}

/** Default for `onError`: a process warning. */
function warn(error: unknown): void {
  process.emitWarning(`mounted workspaces: ${String(error)}`);
}
