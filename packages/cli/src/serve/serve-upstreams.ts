import type { Log } from "@virtual-workspaces/framework/server";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { orFail } from "../process/failure.ts";
import { kubeconfigUpstream } from "../server/upstreams.ts";
import type { Kubeconfigs } from "./serve-options.ts";

/** Servers of the kubeconfigs. The default is the server of the workspaces. */
export interface Upstreams {
  readonly workspaces: Upstream;
  /** Workspace in the URL of the kubeconfig for the workspaces. @default none */
  readonly workspace?: string;
  /** Returns the options of a connection to another URL, with the kubeconfig for the workspaces. */
  readonly connectionTo: (url: string) => UpstreamOptions;
  readonly cache: Upstream;
  readonly everywhere: Upstream;
  /**
   * Reviews tokens in the logical cluster of its kubeconfig's URL, as in kcp; the path of the other URLs is ignored. Without
   * a kubeconfig of its own and a workspace in the URL it is `root`: kcp answers 500 to reviews outside of logical clusters.
   */
  readonly authentication: KubeconfigServer;
}

interface KubeconfigServer {
  readonly upstream: Upstream;
  readonly options: UpstreamOptions;
  /** Logical cluster in the URL. @default none */
  readonly cluster?: string;
}

interface Opening {
  /** Receives a record of each changed kubeconfig. */
  readonly log: Log;
  /** Closes the servers. */
  readonly stack: AsyncDisposableStack;
}

/** Opens the servers. @throws Failure */
export async function upstreamsOf(
  { workspaces, context, cache, everywhere, authentication }: Kubeconfigs,
  opening: Opening,
): Promise<Upstreams> {
  const shard = await openServer(workspaces, { context, ...opening });
  const open = async (file: string | undefined): Promise<KubeconfigServer> =>
    file === undefined ? shard : openServer(file, opening);
  return {
    workspaces: shard.upstream,
    ...(shard.cluster !== undefined && { workspace: shard.cluster }),
    connectionTo: (url) => ({ ...shard.options, url }),
    cache: (await open(cache)).upstream,
    everywhere: (await open(everywhere)).upstream,
    authentication:
      authentication === undefined ? { ...shard, cluster: shard.cluster ?? ROOT_CLUSTER } : await open(authentication),
  };
}

async function openServer(
  file: string,
  { context, log, stack }: Opening & { readonly context?: string | undefined },
): Promise<KubeconfigServer> {
  const { upstream, ...place } = await kubeconfigUpstream({ file, context, log });
  return orFail(() => ({ ...place, options: upstream, upstream: stack.use(new Upstream(upstream)) }));
}
