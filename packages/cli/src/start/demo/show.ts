import { join } from "node:path";
import type { DemoPlace } from "./answers.ts";

/** Parts of the server that the demonstration shows. */
export interface Demonstrated extends DemoPlace {
  readonly rootDirectory: string;
  /** Path of the workspace with the Spaces. */
  readonly spaces: string;
}

/**
 * Creates the tree, and prints what views, mounts and Spaces do. `stack` ends the processes that it starts.
 *
 * @throws ApiError, TransportError, Error
 */
export async function showDemo(
  { kubeconfig, rootDirectory, ...place }: Demonstrated,
  stack: AsyncDisposableStack,
): Promise<void> {
  // Imported here, so that a start without the demonstration is faster.
  const [{ makeTree }, { demoText }] = await Promise.all([import("./demo-tree.ts"), import("./answers.ts")]);
  const cluster = place.views.includes("mounts") ? await clusterIn(rootDirectory, stack) : undefined;
  const tree = await makeTree(kubeconfig, { exports: place.views.includes("apiexport"), cluster });
  console.log(`\n${await demoText({ kubeconfig, ...place }, tree)}`);
  if (!place.views.includes("spaces")) return;
  const { makeSpaces, spacesText } = await import("./demo-spaces.ts");
  await makeSpaces({ kubeconfig, ...place });
  console.log(await spacesText({ kubeconfig, ...place }));
}

/** Starts the plain cluster. @returns its kubeconfig */
async function clusterIn(rootDirectory: string, stack: AsyncDisposableStack): Promise<string> {
  const { PlainCluster } = await import("./cluster.ts");
  return stack.use(await PlainCluster.start(join(rootDirectory, "demo-cluster"))).kubeconfig;
}
