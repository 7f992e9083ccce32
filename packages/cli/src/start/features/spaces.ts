import type { Spaces as FollowedSpaces, SpaceFailure } from "@virtual-workspaces/spaces";
import type { FeatureShard, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";

/** Workspace below `root` with the Spaces, and parent of those of the default provider. */
const WORKSPACE = "spaces";
/** Path of that workspace. */
export const SPACES: string = `root:${WORKSPACE}`;

const USES = { "mount-allow": "list" } as const;

/**
 * Spaces in `root:spaces`: their manager with a provider of workspaces below it, and their view. Addresses that users choose
 * follow the dial rules of mounts (`--mount-allow`).
 */
export const spaces: WorkspaceServerFeature<FlagSet, typeof USES> = {
  name: "spaces",
  uses: USES,
  read({ values: { "mount-allow": allow = [] } }) {
    const { promise: followed, resolve } = Promise.withResolvers<FollowedSpaces>();
    return {
      views: async (shard) => {
        if (!shard.isRoot) return [];
        const [{ spacesView }, { spacesClient }] = await Promise.all([import("@virtual-workspaces/spaces"), load()]);
        return [spacesView({ spaces: followed, reviews: spacesClient(shard, WORKSPACE), onError: onErrorOf(shard) })];
      },
      run: async (shard) => {
        if (!shard.isRoot) return undefined;
        const { runSpaces } = await load();
        return runSpaces(shard, { workspace: WORKSPACE, allow, onError: onErrorOf(shard), followed: resolve });
      },
    };
  },
};

/** Imported only with the feature, so that other starts are faster. */
function load(): Promise<typeof import("./spaces-manager.ts")> {
  return import("./spaces-manager.ts");
}

const onErrorOf =
  ({ log }: FeatureShard) =>
  ({ space, error }: SpaceFailure): void =>
    log({ level: "warn", message: "cannot serve space", ...(space && { space }), error: String(error) });
