import { isJsonObject, WILDCARD } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { subjectAccessReview, tokenReview } from "@virtual-workspaces/forwarding";
import { type Authenticator, createServer, groups, type Server, union } from "@virtual-workspaces/framework";
import { metrics } from "@virtual-workspaces/framework/server";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { Upstream } from "@virtual-workspaces/transport";
import { workspaceImpersonation } from "@virtual-workspaces/workspace-server";
import { Failure, orFail } from "../process/failure.ts";
import { logWarnings } from "../process/log.ts";
import type { ServeOptions } from "./serve-options.ts";
import { type Upstreams, upstreamsOf } from "./serve-upstreams.ts";
import { type Served, viewsOf } from "./served-views.ts";
import { type ServingEndpoint, SingleProcess } from "./workers/serving-endpoint.ts";

/** Time to wait for the server, ms. */
const PATIENCE = 5_000;
/** Logical clusters to ask in: every shard has the first one, and users without access to it have access to the second. */
const CHECKED_CLUSTERS = ["system:admin", "root"];

/** Serves views over the workspaces of another server until a signal stops the process. @returns the exit code @throws Failure */
export async function serve(options: ServeOptions, given?: ServingEndpoint): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const post: ServingEndpoint = stack.use(given ?? new SingleProcess(options));
  // A closed log pipe does not stop the server.
  stack.adopt(process.stderr.on("error", ignore), (stderr) => void stderr.off("error", ignore));
  stack.use(options.log);
  stack.use(logWarnings(options));
  const upstreams = await upstreamsOf(options.kubeconfigs, { log: options.log, stack });
  if (options.kcpViews) await checkAdministrator(upstreams);
  const views = await viewsOf(options, upstreams, stack);
  const server = stack.use(await orFail(() => serverOf(options, { upstreams, views, post, stack })));
  const paths = views.named.map(({ name, path }) => `/services/${name}${path === "/" ? "" : path}`);
  await post.serve(server, paths);
  await server.close();
  return 0;
}

/**
 * Checks that the user of the kubeconfig is a member of `system:masters`: another one cannot read all logical clusters or act
 * as callers, and each of kcp's views would fail on its own. A server that is not running yet, or does not name the user, is no
 * failure.
 *
 * @throws Failure that names the user
 */
async function checkAdministrator({ workspaces, workspace }: Upstreams): Promise<void> {
  const user = await userOf(workspaces, workspace === undefined ? CHECKED_CLUSTERS : [workspace, ...CHECKED_CLUSTERS]);
  if (user === undefined || user.groups.includes(MASTERS_GROUP)) return;
  throw new Failure(
    `--kubeconfig: the user ${JSON.stringify(user.name)} is not in ${MASTERS_GROUP}, whose rights kcp's own views need: set --context to one of such a user, shard-base in kcp's admin.kubeconfig, or leave these views out with --kcp-views=false`,
  );
}

interface NamedUser {
  readonly name: string;
  readonly groups: readonly unknown[];
}

async function userOf(upstream: Upstream, clusters: readonly string[]): Promise<NamedUser | undefined> {
  for (const cluster of clusters) {
    const user = await userIn(cluster, upstream).catch(() => undefined);
    if (user !== undefined) return user;
  }
  return undefined;
}

async function userIn(cluster: string, upstream: Upstream): Promise<NamedUser | undefined> {
  const answer = await upstream.send({
    method: "POST",
    path: `/clusters/${cluster}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
    headers: ["Accept", "application/json", "Content-Type", "application/json"],
    body: Buffer.from(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" })),
    deadlines: { head: PATIENCE, idle: PATIENCE },
  });
  if (answer.status !== 201 && answer.status !== 200) return undefined;
  const review = parseOwnJson(answer.body.toString("utf8"));
  const status = isJsonObject(review) && isJsonObject(review["status"]) ? review["status"] : {};
  const user = isJsonObject(status["userInfo"]) ? status["userInfo"] : {};
  const { username, groups } = user;
  return typeof username === "string" && Array.isArray(groups) ? { name: username, groups } : undefined;
}

interface Parts {
  readonly upstreams: Upstreams;
  readonly views: Served;
  readonly post: ServingEndpoint;
  readonly stack: AsyncDisposableStack;
}

function serverOf(options: ServeOptions, { upstreams, views, post, stack }: Parts): Server {
  const { log, onRequest, tls, audit, closeDelay, authenticationFailures, tokenCache, authentication } = options;
  const { authenticators, file } = authentication;
  if (file !== undefined) stack.use(file.follow(log));
  const { upstream, cluster } = upstreams.authentication;
  const tokens = stack.use(
    tokenReview({
      upstream,
      ...(cluster !== undefined && { cluster }),
      away: "unavailable",
      ...(tokenCache !== undefined && { allowCache: tokenCache, denyCache: tokenCache }),
    }),
  );
  const access = stack.use(
    subjectAccessReview<{ readonly cluster?: string }>({
      upstream: upstreams.workspaces,
      cluster: ({ params }) =>
        params.cluster === WILDCARD ? undefined : (params.cluster ?? upstreams.workspace ?? ""),
    }),
  );
  // Security: members may impersonate any user without a review by the workspaces. The shard that proxies requests is one.
  const masters = groups(MASTERS_GROUP);
  return createServer({
    virtualWorkspaces: [...views.virtualWorkspaces, ...post.views],
    authentication: [...post.authenticators, ...inOrder(authenticators, tokens)],
    impersonation: workspaceImpersonation(union(masters, access)),
    component: { ...options.component, authorize: masters },
    metrics: metrics({
      authorize: groups(MASTERS_GROUP, ...options.metricsGroups),
      ...(file && { families: () => file.families() }),
    }),
    tls: { ...tls, sni: post.sni },
    ...(post.peers && { peers: post.peers }),
    ...(audit && { audit }),
    closeDelay,
    corsAllowedOrigins: options.corsAllowedOrigins,
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
