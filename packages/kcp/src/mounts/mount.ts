import { CONDITIONS } from "../conditions/schema.ts";
import { kcpKind, type ObjectsOf } from "../core/kind.ts";
import { MOUNT_SPEC } from "./spec.ts";

const URL = { type: "string", description: "Where the mount is served. Set by the server." } as const;

/**
 * The Mount of kcp's proposal (`proxy.kcp.io/v1alpha1`): another API, or another workspace, that workspaces can show in place of a
 * logical cluster (`spec.mount.ref` of a Workspace). It keeps kcp's contract of such objects, `status.URL` and `status.phase`;
 * `status.url`, as the proposal has it, says the same. Whoever may write one decides which host is asked with the Secret that it names.
 */
export const Mount = kcpKind({
  group: "proxy.kcp.io",
  kind: "Mount",
  description: "Another API, or another workspace, for workspaces that show it.",
  columns: {
    Type: { jsonPath: ".spec.type", description: "How it is mounted." },
    Phase: { jsonPath: ".status.phase", description: "How it is: it can be used while Ready." },
    URL: { jsonPath: ".status.URL", description: "Where it is served." },
  },
  required: ["spec"],
  spec: MOUNT_SPEC,
  status: {
    type: "object",
    default: {},
    description: "How the mount is.",
    properties: {
      phase: {
        type: "string",
        default: "Initializing",
        enum: ["Initializing", "Connecting", "Ready", "Unknown"],
        description: "How it is: it can be used while Ready.",
      },
      conditions: CONDITIONS,
      url: URL,
      URL,
    },
  },
});

/** A mount, as it is read. */
export type Mount = ObjectsOf<typeof Mount>;

/** What is mounted, and how. */
export type MountSpec = Mount["spec"];

/** How a mount is. */
export type MountStatus = NonNullable<Mount["status"]>;

/** Where a mount is in its life. */
export type MountPhase = NonNullable<MountStatus["phase"]>;

/** As whom a mount's target is asked. */
export type MountIdentity = NonNullable<MountSpec["identity"]>["type"];

/** Which requests pass. */
export type MountFilter = NonNullable<MountSpec["filters"]>[number];

/** The type of a mount; `Cluster`, which the proposal has as the default and does not explain, is `URL`. */
export function mountTypeOf({ spec }: Pick<Mount, "spec">): string {
  const { type = "URL" } = spec;
  return type === "Cluster" ? "URL" : type;
}

/** As whom the target of a mount is asked: what it says, else by a Secret that it names as the caller, else as nobody. */
export function mountIdentityOf({ spec }: Pick<Mount, "spec">): MountIdentity {
  const { identity, secretRef, ref } = spec;
  return identity?.type ?? (secretRef !== undefined || ref?.kind === "Secret" ? "Impersonate" : "None");
}
