import { Client } from "@virtual-workspaces/client";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import { tenancyIdentity } from "@virtual-workspaces/kcp/informers";
import { WorkspaceController } from "./workspace-controller.ts";

/** What {@link workspaceMounts} is over: the workspaces of one shard. */
export interface WorkspaceMountsOptions extends Pick<Workspaces, "upstream" | "everywhere"> {
  /**
   * Whether objects are mounts only with the annotation `experimental.tenancy.kcp.io/is-mount: "true"`, as kcp's documents say: then
   * nothing is mounted that its owner has not meant for it. kcp itself does not look. @default false: the condition says where it is missing
   */
  readonly requireAnnotation?: boolean;
  /** Told of every failure but conflicts; what failed is tried again. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Keeps the mounted Workspaces of a shard right (kcp's controller `kcp-workspace-mounts`, whose feature gate is `WorkspaceMounts`; it takes
 * the place of that one): finds what `spec.mount.ref` names, of any kind, in the Workspace's own logical cluster, and says by
 * kcp's contract of mount objects where the Workspace leads (`spec.URL`, from `status.URL`) and whether that can be had (the condition
 * `WorkspaceMountReady`, and the phase `Ready`). Never is one Ready before it leads somewhere. Kinds may come and go, and be in
 * namespaces or not. What becomes of one whose condition does not hold (`Unavailable`) is for the controller of all workspaces.
 *
 * It reads objects with its own rights, those of the shard's administrators, and tells all who may read a Workspace the URL: who
 * may make a Workspace learns by it where an object that they may not read leads, unless admission asks.
 *
 * Memory: of each Workspace that is not mounted some hundred bytes, the others whole, and of each object of their kinds some hundred bytes.
 */
export function workspaceMounts(options: WorkspaceMountsOptions): WorkspaceMounts {
  return new WorkspaceMounts(options);
}

/** Mounted workspaces that are kept right, for as long as this is not disposed of. Made by {@link workspaceMounts}. */
export class WorkspaceMounts implements AsyncDisposable {
  /** Resolves when the Workspaces are known, and work begins. Rejects when it ends before. */
  readonly started: Promise<void>;
  readonly #stop = new AbortController();
  #controller: WorkspaceController | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: WorkspaceMountsOptions) {
    this.started = this.#start(options);
    this.started.catch(() => undefined); // who does not wait for it is told by `onError`
  }

  /** Ends; Workspaces stay as they are. */
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
    this.#stop.abort(new Error("the controller of mounted workspaces has ended"));
    await this.#controller?.[Symbol.asyncDispose]();
  }
}

/** Where nobody is told of what goes wrong, the process is. */
function warn(error: unknown): void {
  process.emitWarning(`mounted workspaces: ${String(error)}`);
}
