import type { Workspaces } from "@virtual-workspaces/forwarding";

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
