/**
 * The panel of ClusterProxies in the console: their agents and tunnels.
 *
 * @module
 */

import type { Panel } from "@virtual-workspaces/framework/panel";
import { ClusterProxy } from "@virtual-workspaces/kcp";

const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** Panels that the view of {@link clusterProxy} brings: for consoles of servers without it, such as a front proxy. */
export const clusterProxyPanels: readonly Panel[] = [
  {
    name: "cluster-proxy",
    title: "Agent",
    for: { group: ClusterProxy.group, resource: ClusterProxy.plural },
    tree: { version: "v1alpha1", phase: ".status.phase" },
    module: new URL(`./panel/agent.${EXTENSION}`, import.meta.url),
  },
];
