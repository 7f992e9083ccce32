import type { Log } from "@virtual-workspaces/framework/server";
import { Upstream } from "@virtual-workspaces/transport";
import { orFail } from "../process/failure.ts";
import { kubeconfigUpstream } from "../server/upstreams.ts";
import type { Kubeconfigs } from "./serve-options.ts";

/** Servers of the kubeconfigs. The default is the server of the workspaces. */
export interface Upstreams {
  readonly workspaces: Upstream;
  readonly cache: Upstream;
  readonly everywhere: Upstream;
  /** Reviews tokens in the logical cluster of its kubeconfig's URL, as in kcp; the path of the other URLs is ignored. */
  readonly authentication: KubeconfigServer;
}

interface KubeconfigServer {
  readonly upstream: Upstream;
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
    cache: (await open(cache)).upstream,
    everywhere: (await open(everywhere)).upstream,
    authentication: await open(authentication),
  };
}

async function openServer(
  file: string,
  { context, log, stack }: Opening & { readonly context?: string | undefined },
): Promise<KubeconfigServer> {
  const { upstream, ...place } = await kubeconfigUpstream({ file, context, log });
  return orFail(() => ({ ...place, upstream: stack.use(new Upstream(upstream)) }));
}
