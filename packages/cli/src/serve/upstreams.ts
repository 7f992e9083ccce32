import { loadKubeconfig } from "@virtual-workspaces/client";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { told } from "../start/failures.ts";
import { KubeconfigCredentials } from "./kubeconfig-credentials.ts";
import type { Kubeconfigs } from "./options.ts";

/** The servers that kubeconfigs name. One that is not named is that of the workspaces. */
export interface Upstreams {
  readonly workspaces: Upstream;
  readonly cache: Upstream;
  readonly everywhere: Upstream;
  /** Asked in the logical cluster of its kubeconfig's URL, as in kcp; of the others that does not count. */
  readonly authentication: Place;
}

interface Place {
  readonly upstream: Upstream;
  /** @default none */
  readonly cluster?: string;
}

/** Opens them; they are closed with `stack`. @throws Failure */
export async function upstreamsOf(
  { workspaces, context, cache, everywhere, authentication }: Kubeconfigs,
  stack: AsyncDisposableStack,
): Promise<Upstreams> {
  const shard = await placeOf(workspaces, { context, stack });
  const open = async (file: string | undefined): Promise<Place> =>
    file === undefined ? shard : placeOf(file, { stack });
  return {
    workspaces: shard.upstream,
    cache: (await open(cache)).upstream,
    everywhere: (await open(everywhere)).upstream,
    authentication: await open(authentication),
  };
}

/** How the server of a kubeconfig is asked, by credentials that are read again when they are refused. @throws Failure */
export async function kubeconfigUpstream(file: string, context?: string): Promise<KubeconfigUpstream> {
  return told(async () => {
    const load = () => loadKubeconfig({ file, ...(context !== undefined && { context }) });
    const { upstream, cluster } = await load();
    const credentials = new KubeconfigCredentials(
      upstream.credentials,
      async () => (await load()).upstream.credentials,
    );
    return { upstream: { ...upstream, credentials }, ...(cluster !== undefined && { cluster }) };
  });
}

interface KubeconfigUpstream {
  readonly upstream: UpstreamOptions;
  /** @default none */
  readonly cluster?: string;
}

async function placeOf(
  file: string,
  { context, stack }: { readonly context?: string | undefined; readonly stack: AsyncDisposableStack },
): Promise<Place> {
  const { upstream, ...place } = await kubeconfigUpstream(file, context);
  return told(() => ({ ...place, upstream: stack.use(new Upstream(upstream)) }));
}
