import { join } from "node:path";
import type { StartOptions } from "../options.ts";
import type { DemoPlace } from "./seen.ts";

/**
 * Makes the tree, and prints what views, mounts and Spaces are for. What it starts for that ends with `stack`.
 *
 * @throws ApiError, TransportError, Error
 */
export async function shown(
  { kubeconfig, rootDirectory }: Pick<StartOptions, "kubeconfig" | "rootDirectory">,
  place: Pick<DemoPlace, "url" | "views">,
  stack: AsyncDisposableStack,
): Promise<void> {
  // Who does without starts without them.
  const [{ makeTree }, { seen }] = await Promise.all([import("./tree.ts"), import("./seen.ts")]);
  const cluster = place.views.includes("mounts") ? await clusterIn(rootDirectory, stack) : undefined;
  const tree = await makeTree(kubeconfig, { exports: place.views.includes("apiexport"), cluster });
  console.log(`\n${await seen({ kubeconfig, ...place }, tree)}`);
  if (!place.views.includes("spaces")) return;
  const { makeSpaces, spacesSeen } = await import("./spaces.ts");
  await makeSpaces(kubeconfig, place.url);
  console.log(await spacesSeen(kubeconfig, place.url));
}

/** @returns its kubeconfig */
async function clusterIn(rootDirectory: string, stack: AsyncDisposableStack): Promise<string> {
  const { PlainCluster } = await import("./cluster/cluster.ts");
  return stack.use(await PlainCluster.start(join(rootDirectory, "demo-cluster"))).kubeconfig;
}
