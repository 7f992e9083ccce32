import type { ReconcileFailure } from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework";

/** Logs what a controller has failed at: once for each attempt, as it is tried again. */
export function failureLog({ log }: { readonly log: Log }): (failure: ReconcileFailure) => void {
  return ({ controller, error, key, attempt, retryAfter }) => {
    const why = error instanceof Error ? error.message : String(error);
    const { cluster, name: object } = key ?? {};
    log({ level: "warn", message: "controller failed", controller, cluster, object, attempt, retryAfter, error: why });
  };
}
