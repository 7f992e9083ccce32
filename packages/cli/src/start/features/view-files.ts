import type { FeatureShard, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";
import { UsageError } from "../../process/failure.ts";
import type { ViewHost } from "../../views/load.ts";
import { type ViewFiles, viewPaths } from "../../views/view-files.ts";

/** Names of the server's own views. */
const OWN: readonly string[] = ["clusters", "shard", "cache", "workspaces", "virtual-workspaces", "services"];

const FLAGS = {
  view: {
    type: "list",
    value: "file",
    help: "File with a view, or several, over the workspaces. Repeat for several files.",
  },
} as const satisfies FlagSet;
const USES = { "run-virtual-workspaces": "switch" } as const;

/**
 * Views in files. A function is called for each shard, with its workspaces and a store. Other exports do not depend on a
 * shard, and are served at the server's address alone.
 */
export const viewFiles: WorkspaceServerFeature<typeof FLAGS, typeof USES> = {
  name: "view-files",
  heading: "Views",
  flags: FLAGS,
  uses: USES,
  read({ values }) {
    const paths = viewPaths(values.view ?? []);
    if (paths.length === 0) return undefined;
    if (values["run-virtual-workspaces"] === false)
      throw new UsageError(
        "--view does not work with --run-virtual-workspaces=false: remove one, or use virtual-workspaces serve --view",
      );
    let files: Promise<ViewFiles> | undefined;
    return {
      views: async (shard) => {
        files ??= load(paths);
        const loaded = await files;
        const host = loaded.hosted ? await hostOf(shard) : undefined;
        if (shard.isRoot) return loaded.views(host, OWN);
        return host === undefined ? [] : loaded.hostedViews(host, OWN);
      },
    };
  },
};

async function load(paths: readonly string[]): Promise<ViewFiles> {
  const { ViewFiles } = await import("../../views/view-files.ts");
  return ViewFiles.import(paths);
}

async function hostOf({ upstream, identity, shard, everywhere, openStore }: FeatureShard): Promise<ViewHost> {
  return { upstream, identity, store: await openStore(), shard, everywhere };
}
