import type { StartOptions } from "../options.ts";
import type { DemoPlace } from "./seen.ts";

/** Makes the tree, and prints what a view is for. @throws ApiError, TransportError */
export async function shown(
  { kubeconfig }: Pick<StartOptions, "kubeconfig">,
  place: Pick<DemoPlace, "url" | "views">,
): Promise<void> {
  // Who does without starts without them.
  const [{ makeTree }, { seen }] = await Promise.all([import("./tree.ts"), import("./seen.ts")]);
  const tree = await makeTree(kubeconfig, place.views.includes("apiexport"));
  console.log(`\n${await seen({ kubeconfig, ...place }, tree)}`);
}
