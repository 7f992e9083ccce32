import { loadKubeconfig } from "@virtual-workspaces/client";
import { sameCaller, subjectAccessReview, tokenReview } from "@virtual-workspaces/forwarding";
import { type Authenticator, createServer, groups, type Log, union } from "@virtual-workspaces/framework";
import { keepHistory } from "@virtual-workspaces/store";
import { Upstream } from "@virtual-workspaces/transport";
import { workspaceImpersonation } from "@virtual-workspaces/workspace-server";
import { startFailure, told } from "../start/failures.ts";
import { Interrupt } from "../start/interrupt.ts";
import { openStore } from "../store/open.ts";
import { ViewFiles } from "../views/load-views.ts";
import type { ServeOptions } from "./options.ts";

/** Whose members may go on as anybody, without the workspaces being asked: the shard that passes requests on is one. */
const MASTERS = "system:masters";

/** Serves views over workspaces that are elsewhere until the process is asked to end. @returns the exit code @throws Failure */
export async function serve(options: ServeOptions, log: Log): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  const files = await ViewFiles.import(options.views);
  const upstream = stack.use(await upstreamOf(options.kubeconfig, options.context));
  const { authentication } = options;
  const reviewing = authentication === undefined ? upstream : stack.use(await upstreamOf(authentication, undefined));
  const tokens = stack.use(tokenReview({ upstream: reviewing }));
  const access = stack.use(subjectAccessReview<{ readonly cluster: string }>({ upstream }));
  const store = files.hosted ? stack.use(await openStore(options.store)) : undefined;
  if (store !== undefined) stack.use(keepHistory(store));
  const { shard } = options;
  const everywhere =
    options.everywhere === undefined ? upstream : stack.use(await upstreamOf(options.everywhere, undefined));
  const workspaces = { upstream, identity: sameCaller, everywhere, ...(shard !== undefined && { shard }) };
  const views = await files.views(store && { ...workspaces, store });
  const { tls, bindAddress: host, port } = options;
  const server = stack.use(
    await told(() =>
      createServer({
        virtualWorkspaces: views,
        authentication: inOrder(options.authenticators, tokens),
        impersonation: workspaceImpersonation(union(groups(MASTERS), access)),
        tls,
        log,
      }),
    ),
  );
  const listening = await server.listen({ port, host }).catch((error: unknown) => {
    throw startFailure(error, { bindAddress: host, port });
  });
  const paths = views.map(({ name, path }) => `/services/${name}${path === "/" ? "" : path}`);
  console.log(`Ready in ${(performance.now() / 1000).toFixed(2)} s at ${listening.url}: ${paths.join(" ")}`);
  await interrupt.asked;
  await server.close();
  return 0;
}

/** Those without credentials are let in last. */
function inOrder(known: readonly Authenticator[], tokens: Authenticator): readonly Authenticator[] {
  const isNobody = ({ name }: Authenticator): boolean => name === "anonymous";
  return [...known.filter((one) => !isNobody(one)), tokens, ...known.filter(isNobody)];
}

/** The server that a kubeconfig names; a logical cluster in its URL does not count, as in kcp's. @throws Failure */
async function upstreamOf(file: string, context: string | undefined): Promise<Upstream> {
  return told(async () => {
    const { upstream } = await loadKubeconfig({ file, ...(context !== undefined && { context }) });
    return new Upstream(upstream);
  });
}
