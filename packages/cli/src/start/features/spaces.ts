import type { Spaces as FollowedSpaces, SpaceFailure } from "@virtual-workspaces/spaces";
import type { FeatureShard, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";

/** The workspace below `root` that has the Spaces, and below which the default provider makes them. */
const WORKSPACE = "spaces";
/** Its path. */
export const SPACES: string = `root:${WORKSPACE}`;

const USES = { "mount-allow": "list" } as const;

/**
 * Spaces in `root:spaces`: a manager of them with a provider of workspaces below that workspace, and the view of them. Addresses that users choose are
 * reached by the dial rules of mounts (`--mount-allow`).
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

/** Who does without starts without them. */
function load(): Promise<typeof import("./spaces-manager.ts")> {
  return import("./spaces-manager.ts");
}

const onErrorOf =
  ({ log }: FeatureShard) =>
  ({ space, error }: SpaceFailure): void =>
    log({ level: "warn", message: "a space cannot be served", ...(space && { space }), error: String(error) });
