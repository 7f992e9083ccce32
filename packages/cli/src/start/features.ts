import type { WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import { clusterProxy } from "./features/cluster-proxy.ts";
import { kcpViews } from "./features/kcp-views.ts";
import { mounts, workspaceMounts } from "./features/mounts.ts";
import { pathMappings } from "./features/path-mappings.ts";
import { spaces } from "./features/spaces.ts";
import { viewFiles } from "./features/view-files.ts";

/** A feature of `start`, and what turns it on. */
export interface ListedFeature {
  readonly feature: WorkspaceServerFeature;
  /** What it adds, for the help: it is on where `--batteries-included` has its name. @default it is on unless its own flags turn it off */
  readonly battery?: string;
  /** The module of `--feature` that it comes from. @default it comes with the command */
  readonly module?: string;
}

/**
 * The features of `virtual-workspaces start`, in their order. The place in the list decides three things and no other: features of a phase begin in this
 * order and end in the reverse one, a view takes the place of one of the same name further up, and the help shows flags in this order. None needs another
 * to be on; flags of others that one reads are in its `uses`.
 *
 * @param modules the features of `--feature`, in the order of the command line
 */
export function startFeatures(modules: readonly ListedFeature[] = []): readonly ListedFeature[] {
  return [
    // Alone before the server is ready, so any place does.
    { feature: spaces, battery: "Spaces in root:spaces" },
    // Any place before kcpViews: a view of the same name takes the place of its own.
    { feature: clusterProxy, battery: "ClusterProxies, their view and agents" },
    // Before workspaceMounts: the kind Mount is exported when the controller begins.
    { feature: mounts, battery: "the kind Mount and its view" },
    { feature: workspaceMounts },
    { feature: kcpViews },
    { feature: pathMappings },
    // After those of the command: what they add is there when they begin, and their views may take the place of kcp's.
    ...modules,
    // Last: a view in a file takes the place of any other, as it does in `serve`.
    { feature: viewFiles },
  ];
}
