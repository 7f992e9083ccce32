import { subjectAccessReview, tokenReview } from "@virtual-workspaces/forwarding";
import { type Authenticator, createServer, groups, type Server, union } from "@virtual-workspaces/framework";
import { metrics } from "@virtual-workspaces/framework/server";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import { workspaceImpersonation } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { checkAdministrator } from "./administrator.ts";
import type { ServeOptions } from "./serve-options.ts";
import { type Upstreams, upstreamsOf } from "./serve-upstreams.ts";
import { type Served, viewsOf } from "./served-views.ts";
import { type ServingEndpoint, SingleProcess } from "./workers/serving-endpoint.ts";

/** Serves views over the workspaces of another server until a signal stops the process. @returns the exit code @throws Failure */
export async function serve(options: ServeOptions, given?: ServingEndpoint): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const post: ServingEndpoint = stack.use(given ?? new SingleProcess(options));
  // A closed log pipe does not stop the server.
  stack.adopt(process.stderr.on("error", ignore), (stderr) => void stderr.off("error", ignore));
  stack.use(options.log);
  const upstreams = await upstreamsOf(options.kubeconfigs, stack);
  await checkAdministrator(upstreams.workspaces);
  const views = await viewsOf(options, upstreams, stack);
  const server = stack.use(await orFail(() => serverOf(options, { upstreams, views, post, stack })));
  const paths = views.named.map(({ name, path }) => `/services/${name}${path === "/" ? "" : path}`);
  await post.serve(server, paths);
  await server.close();
  return 0;
}

interface Parts {
  readonly upstreams: Upstreams;
  readonly views: Served;
  readonly post: ServingEndpoint;
  readonly stack: AsyncDisposableStack;
}

function serverOf(options: ServeOptions, { upstreams, views, post, stack }: Parts): Server {
  const { log, onRequest, tls, audit, authenticationFailures, tokenCache, authenticators } = options;
  const tokens = stack.use(
    tokenReview({
      ...upstreams.authentication,
      away: "unavailable",
      ...(tokenCache !== undefined && { allowCache: tokenCache, denyCache: tokenCache }),
    }),
  );
  const access = stack.use(subjectAccessReview<{ readonly cluster: string }>({ upstream: upstreams.workspaces }));
  // Security: members may impersonate any user without a review by the workspaces. The shard that proxies requests is one.
  const masters = groups(MASTERS_GROUP);
  return createServer({
    virtualWorkspaces: [...views.virtualWorkspaces, ...post.views],
    authentication: [...post.authenticators, ...inOrder(authenticators, tokens)],
    impersonation: workspaceImpersonation(union(masters, access)),
    metrics: metrics({ authorize: masters }),
    tls: { ...tls, sni: post.sni },
    ...(post.peers && { peers: post.peers }),
    ...(audit && { audit }),
    ...(authenticationFailures && { authenticationFailures }),
    ...(onRequest && { onRequest }),
    log,
  });
}

/** Puts anonymous authentication last. */
function inOrder(known: readonly Authenticator[], tokens: Authenticator): readonly Authenticator[] {
  const isNobody = ({ name }: Authenticator): boolean => name === "anonymous";
  return [...known.filter((one) => !isNobody(one)), tokens, ...known.filter(isNobody)];
}

function ignore(): void {}
