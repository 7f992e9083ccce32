import type { WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";
import { orFail } from "../../process/failure.ts";

const FLAGS = {
  "admission-webhook-allow": {
    type: "list",
    value: "hosts",
    otherwise: "none",
    help: "Hosts that admission webhooks may use although they are restricted. Restricted hosts are this machine (by any name or address), link-local addresses, and metadata services of clouds.",
  },
} as const satisfies FlagSet;

/**
 * Calls of the webhooks that configurations in workspaces name. Security: users who may create a configuration choose the URL, so
 * the same hosts are restricted as for mounts.
 */
export const admissionWebhooks: WorkspaceServerFeature<typeof FLAGS> = {
  name: "admission-webhooks",
  heading: "Admission",
  flags: FLAGS,
  read({ values: { "admission-webhook-allow": allow = [] } }) {
    const dialer = async () =>
      (await import("@virtual-workspaces/mounts")).mountedServers({ allow, whose: "admission webhooks" });
    return {
      options: async () => {
        // Validates the hosts at the start. Without any, the module is loaded only when needed.
        if (allow.length > 0) await orFail(dialer);
        return { admissionWebhooks: { dial: async (...target) => (await dialer()).dial(...target) } };
      },
    };
  },
};
