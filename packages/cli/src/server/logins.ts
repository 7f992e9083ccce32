import type { WorkspaceServerOptions } from "@virtual-workspaces/workspace-server";
import type { ISSUER_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import type { Gates } from "./gates.ts";

/** At which restricted hosts workspace types may have issuers of tokens. @returns `undefined` where they may have none @throws UsageError */
export function issuerHosts(flags: Values<typeof ISSUER_FLAGS>, gates: Gates): readonly string[] | undefined {
  const allow = flags["workspace-issuer-allow"] ?? [];
  if (gates.logins) return allow;
  if (allow.length > 0)
    throw new UsageError(
      "--workspace-issuer-allow: types do not say who may log in unless --feature-gates=WorkspaceAuthentication=true",
    );
  return undefined;
}

type Logins = Required<WorkspaceServerOptions>["workspaceAuthentication"];

/**
 * Issuers are asked where mounts may lead: who makes workspaces chooses both.
 *
 * @param allow the restricted hosts where they may be; `undefined`: there are none
 * @throws Error on what may be dialled
 */
export async function loginsOf(allow: readonly string[] | undefined): Promise<Logins> {
  if (allow === undefined) return false;
  const dialer = async () =>
    (await import("@virtual-workspaces/mounts")).mountedServers({ allow, whose: "issuers of workspace types" });
  // What is wrong with them is told at the start; else it is loaded when it is needed, as few need it.
  if (allow.length > 0) await dialer();
  return { dial: async (...target) => (await dialer()).dial(...target) };
}
