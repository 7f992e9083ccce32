import { join } from "node:path";
import type { DemoPlace } from "./answers.ts";

/** What there is to show, and where. */
export interface Demonstrated extends DemoPlace {
  readonly rootDirectory: string;
  /** The path of the workspace that has the Spaces. */
  readonly spaces: string;
}

/**
 * Makes the tree, and prints what views, mounts and Spaces are for. What it starts for that ends with `stack`.
 *
 * @throws ApiError, TransportError, Error
 */
export async function showDemo(
  { kubeconfig, rootDirectory, ...place }: Demonstrated,
  stack: AsyncDisposableStack,
): Promise<void> {
  // Who does without starts without them.
  const [{ makeTree }, { demoText }] = await Promise.all([import("./demo-tree.ts"), import("./answers.ts")]);
  const cluster = place.views.includes("mounts") ? await clusterIn(rootDirectory, stack) : undefined;
  const tree = await makeTree(kubeconfig, { exports: place.views.includes("apiexport"), cluster });
  console.log(`\n${await demoText({ kubeconfig, ...place }, tree)}`);
  if (!place.views.includes("spaces")) return;
  const { makeSpaces, spacesText } = await import("./demo-spaces.ts");
  await makeSpaces({ kubeconfig, ...place });
  console.log(await spacesText({ kubeconfig, ...place }));
}

/** @returns its kubeconfig */
async function clusterIn(rootDirectory: string, stack: AsyncDisposableStack): Promise<string> {
  const { PlainCluster } = await import("./cluster.ts");
  return stack.use(await PlainCluster.start(join(rootDirectory, "demo-cluster"))).kubeconfig;
}
