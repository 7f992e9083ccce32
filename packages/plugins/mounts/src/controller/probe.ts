import { type NoTarget, type ProxyTarget, probeTarget } from "@virtual-workspaces/kcp/targets";
import type { TargetContext } from "../targets/target-context.ts";
import { none } from "../types/no-target.ts";

/**
 * Requests the version of a target with the mount's own credential.
 *
 * @returns the problem; `undefined` without one
 * @throws the reason of the signal
 */
export async function probe(
  { upstream }: Pick<TargetContext, "upstream">,
  { identity }: Pick<ProxyTarget, "identity">,
  signal: AbortSignal,
): Promise<NoTarget | undefined> {
  const hasCredential = identity !== "None" && identity !== "Caller";
  const problem = await probeTarget(upstream, { hasCredential, signal });
  if (problem === undefined) return undefined;
  return none(problem.reason === "Restricted" ? "Unknown" : "Connecting", problem.reason, problem.message);
}
