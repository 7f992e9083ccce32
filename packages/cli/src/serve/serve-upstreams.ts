import { Upstream } from "@virtual-workspaces/transport";
import { orFail } from "../process/failure.ts";
import { kubeconfigUpstream } from "../server/upstreams.ts";
import type { Kubeconfigs } from "./serve-options.ts";

/** The servers that kubeconfigs name. One that is not named is that of the workspaces. */
export interface Upstreams {
  readonly workspaces: Upstream;
  readonly cache: Upstream;
  readonly everywhere: Upstream;
  /** Asked in the logical cluster of its kubeconfig's URL, as in kcp; of the others that does not count. */
  readonly authentication: KubeconfigServer;
}

interface KubeconfigServer {
  readonly upstream: Upstream;
  /** @default none */
  readonly cluster?: string;
}

/** Opens them; they are closed with `stack`. @throws Failure */
export async function upstreamsOf(
  { workspaces, context, cache, everywhere, authentication }: Kubeconfigs,
  stack: AsyncDisposableStack,
): Promise<Upstreams> {
  const shard = await openServer(workspaces, { context, stack });
  const open = async (file: string | undefined): Promise<KubeconfigServer> =>
    file === undefined ? shard : openServer(file, { stack });
  return {
    workspaces: shard.upstream,
    cache: (await open(cache)).upstream,
    everywhere: (await open(everywhere)).upstream,
    authentication: await open(authentication),
  };
}

async function openServer(
  file: string,
  { context, stack }: { readonly context?: string | undefined; readonly stack: AsyncDisposableStack },
): Promise<KubeconfigServer> {
  const { upstream, ...place } = await kubeconfigUpstream(file, context);
  return orFail(() => ({ ...place, upstream: stack.use(new Upstream(upstream)) }));
}
