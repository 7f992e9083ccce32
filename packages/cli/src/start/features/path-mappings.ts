import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";
import { checked } from "../../process/files.ts";

const FLAGS = {
  "miniproxy-mapping-file": {
    type: "path",
    value: "file",
    help: "Mapping file of paths below /services to other servers, as for front-proxy.",
  },
} as const satisfies FlagSet;

/** Proxies paths below `/services` to other servers, at the address of each shard. */
export const pathMappings: WorkspaceServerFeature<typeof FLAGS> = {
  name: "path-mappings",
  heading: "Views",
  flags: FLAGS,
  read({ values: { "miniproxy-mapping-file": file } }) {
    if (file === undefined) return undefined;
    let mapped: ReturnType<typeof mappedOf> | undefined;
    return {
      listed: false,
      views: async ({ log }) => {
        mapped ??= mappedOf(file, log);
        return [(await mapped)()];
      },
    };
  },
};

/** Reads the file once. @throws UsageError */
async function mappedOf(file: string, log: Log): Promise<() => VirtualWorkspace> {
  const { mappedServices, readMapping } = await import("@virtual-workspaces/front-proxy");
  const flag = "--miniproxy-mapping-file";
  const mapping = checked(flag, () => readMapping(file));
  return () => checked(flag, () => mappedServices({ mapping, log }));
}
