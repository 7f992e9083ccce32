import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { backoffDelay, retry } from "@virtual-workspaces/transport";
import { applyManifests } from "@virtual-workspaces/workspace-server";
import { Failure, orFail } from "../process/failure.ts";
import { abortOnInterrupt } from "../process/interrupt.ts";
import type { ManifestsFlags } from "./flags.ts";

/** Time to retry, ms, unless a flag sets it. */
const PATIENCE = 180_000;

/**
 * Applies objects in the workspace of a kubeconfig, and prints each. It retries, since the server, the workspace or the rights may
 * come later than this program: an init container starts beside them. Applying again changes nothing.
 *
 * @returns the exit code
 * @throws Failure when not all objects are applied in time
 */
export async function applied(objects: readonly KubeObject[], flags: ManifestsFlags): Promise<number> {
  const { kubeconfig: file, context, timeout = PATIENCE } = flags;
  using interrupt = abortOnInterrupt();
  const options = await orFail(() => loadKubeconfig({ ...(file && { file }), ...(context && { context }) }));
  await using workspace = new Client(options);
  const deadline = performance.now() + timeout;
  let reported = "";
  await retry(() => applyManifests(workspace, objects), {
    signal: interrupt.signal,
    delayAfter: (error, failures) => {
      const { message } = error as Error;
      const delay = backoffDelay(failures);
      if (performance.now() + delay > deadline)
        throw new Failure(`cannot apply the manifests within ${timeout / 1000} s: ${message}`, { cause: error });
      if (message !== reported) console.error(`waiting: ${message}`);
      reported = message;
      return delay;
    },
  });
  for (const { kind, metadata } of objects) console.log(`${kind} ${metadata.name} applied`);
  return 0;
}
