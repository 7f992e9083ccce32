import type { ResourceClient } from "@virtual-workspaces/client";
import { Failure } from "../usage.ts";
import type { Workspace, WorkspaceContent } from "./kinds.ts";

/** How long a workspace may take, ms, as in kcp's `kubectl ws create`. */
const PATIENCE = 60_000;

/** Follows a workspace until it is ready. @throws Failure that says what it waits for, when it takes longer than a minute */
export async function untilReady(workspaces: ResourceClient<WorkspaceContent>, workspace: Workspace): Promise<void> {
  const { name = "" } = workspace.metadata;
  const patience = AbortSignal.timeout(PATIENCE);
  let seen = workspace;
  try {
    while (!isReady(seen)) {
      const { resourceVersion = "" } = seen.metadata;
      for await (const event of workspaces.watch({
        fields: `metadata.name=${name}`,
        resourceVersion,
        signal: patience,
      })) {
        if (event.type === "DELETED")
          throw new Failure(`Workspace ${JSON.stringify(name)} was deleted before it was ready`);
        if (event.type !== "BOOKMARK") seen = event.object;
        if (isReady(seen)) return;
      }
      seen = await workspaces.get(name, { signal: patience });
    }
  } catch (error) {
    if (!patience.aborted) throw error;
    throw new Failure(`Workspace ${JSON.stringify(name)} is not ready after ${PATIENCE / 1000} s: ${whyNot(seen)}`);
  }
}

export function isReady({ status }: Workspace): boolean {
  return status?.phase === "Ready";
}

function whyNot({ status }: Workspace): string {
  const condition = status?.conditions?.find((one) => one.status === "False");
  const why = condition === undefined ? "" : `, ${condition.type}: ${condition.message ?? condition.reason ?? "False"}`;
  return `it is ${status?.phase || "Scheduling"}${why}`;
}
