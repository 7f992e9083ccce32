import { fileCredentials } from "@virtual-workspaces/client";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { type Loopback, loopback, type WorkspaceServerOptions } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { AUTHENTICATED, applyInRoot } from "../server/objects.ts";
import { besides } from "../views/view-files.ts";
import type { MountSettings } from "./mount-settings.ts";
import type { StartOptions } from "./start-options.ts";
import type { Views } from "./views.ts";

type Plugin = typeof import("@virtual-workspaces/mounts");
type Others = NonNullable<Exclude<WorkspaceServerOptions["mounts"], false | undefined>["others"]>;

/** What keeps mounted workspaces right. */
export interface Mounts {
  /** The views, with what the controllers need; those of further shards come and go with these. */
  readonly views: Views;
  /** Begins with the workspaces of `root`, and ends when that is disposed of: before the server closes, whom it asks. */
  readonly begin: () => Promise<AsyncDisposable>;
  /** What the server is told. */
  readonly options: Required<Pick<WorkspaceServerOptions, "mounts">>;
}

/**
 * A controller of mounted workspaces for each shard of the process, and a view of Mounts, where they are not turned off.
 *
 * @throws Failure on what may be dialled
 */
export async function mountsOf(options: Pick<StartOptions, "mounts" | "log">, views: Views): Promise<Mounts> {
  const { mounts, log } = options;
  if (mounts === undefined) return { views, begin: async () => new AsyncDisposableStack(), options: { mounts: false } };
  const own = views.loopback ?? loopback();
  const everywhere = own.upstream;
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "mounted workspaces are not kept right", error: String(error) });
  const begin = async ({ upstream } = own): Promise<AsyncDisposable> =>
    (await load()).workspaceMounts({ upstream, everywhere, onError });
  const viewsAt = async ({ upstream }: Loopback, shard: string): Promise<readonly VirtualWorkspace[]> => {
    if (!mounts.kind) return [];
    const { allow, callerHosts } = mounts;
    const { mountsView } = await load();
    return [mountsView({ upstream, everywhere, shard, allow, callerHosts, onError })];
  };
  return {
    views: {
      ...views,
      virtualWorkspaces: besides(await orFail(() => viewsAt(own, ROOT_SHARD)), views.virtualWorkspaces),
      loopback: own,
      ofShard: async (name, context) => {
        context.controllers.use(await begin(context.loopback));
        return besides(await viewsAt(context.loopback, name), (await views.ofShard?.(name, context)) ?? []);
      },
    },
    begin: async () => {
      if (mounts.kind) await applyInRoot(own, (await load()).mountManifests({ mayBind: [AUTHENTICATED] }));
      return begin();
    },
    options: { mounts: { others: await orFail(() => othersOf(mounts)) } },
  };
}

/** Who mounts nothing starts without it. */
function load(): Promise<Plugin> {
  return import("@virtual-workspaces/mounts");
}

/** How servers are asked to which objects of other kinds lead. @throws Error on what may be dialled */
async function othersOf({ allow, ca, certificate }: MountSettings): Promise<Others> {
  const asked: Others =
    allow.length === 0
      ? { dial: async (...target) => (await load()).mountedServers().dial(...target) }
      : (await load()).mountedServers({ allow });
  return {
    ...asked,
    ...(ca !== undefined && { tls: { ca } }),
    ...(certificate && { credentials: fileCredentials(certificate) }),
  };
}
