import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "@virtual-workspaces/framework";

/**
 * Reads what tokens are about, in the logical cluster that the token names, whichever one the request is for. It is asked
 * for every request with a token: answer from memory. What it does not find is a token that is not good any more, so a
 * cluster that cannot be asked now is a throw, an `ApiError` 503, and not `undefined`.
 */
export interface AccountLookup {
  /** The ServiceAccount as it is now. */
  serviceAccount(cluster: string, namespace: string, name: string): Awaitable<KubeObject | undefined>;
  /** The Secret as it is now. */
  secret(cluster: string, namespace: string, name: string): Awaitable<KubeObject | undefined>;
}
