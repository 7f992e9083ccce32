import type { WorkspaceServerOptions } from "@virtual-workspaces/workspace-server";
import type { ISSUER_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import type { Gates } from "./gates.ts";

/** Returns the restricted hosts that may be issuers of workspace types; `undefined` if these have no issuers. @throws UsageError */
export function issuerHosts(flags: Values<typeof ISSUER_FLAGS>, gates: Gates): readonly string[] | undefined {
  const allow = flags["workspace-issuer-allow"] ?? [];
  if (gates.logins) return allow;
  if (allow.length > 0)
    throw new UsageError(
      "--workspace-issuer-allow needs --feature-gates=WorkspaceAuthentication=true: without it, workspace types have no issuers",
    );
  return undefined;
}

type Logins = Required<WorkspaceServerOptions>["workspaceAuthentication"];

/**
 * Allows issuers at the same hosts as mounts. Security: users who create workspaces choose the URLs of both.
 *
 * @param allow restricted hosts that may be issuers; `undefined`: no issuers
 * @throws Error on invalid hosts
 */
export async function loginsOf(allow: readonly string[] | undefined): Promise<Logins> {
  if (allow === undefined) return false;
  const dialer = async () =>
    (await import("@virtual-workspaces/mounts")).mountedServers({ allow, whose: "issuers of workspace types" });
  // Validates the hosts at the start. Without any, the module is loaded only when needed.
  if (allow.length > 0) await dialer();
  return { dial: async (...target) => (await dialer()).dial(...target) };
}
