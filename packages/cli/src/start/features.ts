import type { WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import { admissionWebhooks } from "./features/admission-webhooks.ts";
import { clusterProxy } from "./features/cluster-proxy.ts";
import { kcpViews } from "./features/kcp-views.ts";
import { mounts, workspaceMounts } from "./features/mounts.ts";
import { pathMappings } from "./features/path-mappings.ts";
import { query } from "./features/query.ts";
import { spaces } from "./features/spaces.ts";
import { viewFiles } from "./features/view-files.ts";

/** A feature of `start`, and its condition. */
export interface ListedFeature {
  readonly feature: WorkspaceServerFeature;
  /** Content for the help: the feature is on if `--batteries-included` names it. @default on, unless its own flags turn it off */
  readonly battery?: string;
  /** Module of `--feature` that provides it. @default part of the command */
  readonly module?: string;
}

/**
 * Returns the features of `virtual-workspaces start` in their order. The order decides three things only: features of a phase
 * begin in this order and end in the reverse one, a view replaces an earlier one of the same name, and the help lists flags
 * in this order. No feature requires another one; the flags of others that it reads are in its `uses`.
 *
 * @param modules features of `--feature`, in the order of the command line
 */
export function startFeatures(modules: readonly ListedFeature[] = []): readonly ListedFeature[] {
  return [
    // The only one in the phase before the server is ready, so its place does not matter.
    { feature: spaces, battery: "Spaces in root:spaces" },
    // Before kcpViews, if only because kcpViews never replaces its view.
    { feature: clusterProxy, battery: "ClusterProxies, their view and agents" },
    // Before workspaceMounts, whose controller needs the export of the kind Mount.
    { feature: mounts, battery: "the kind Mount and its view" },
    { feature: workspaceMounts },
    { feature: admissionWebhooks },
    { feature: kcpViews },
    { feature: query },
    { feature: pathMappings },
    // After those of the command, so that modules find their kinds, and can replace kcp's views.
    ...modules,
    // Last: a view in a file replaces any other, as in `serve`.
    { feature: viewFiles },
  ];
}
