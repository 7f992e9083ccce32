import type { ConsoleMemory } from "@virtual-workspaces/console";
import { subjectAccessReview, tokenReview } from "@virtual-workspaces/forwarding";
import type { Metrics } from "@virtual-workspaces/framework/server";
import { createFrontProxy, type FrontProxy, type FrontProxyOptions } from "@virtual-workspaces/front-proxy";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { Upstream } from "@virtual-workspaces/transport";
import { orFail } from "../process/failure.ts";
import { logWarnings } from "../process/log.ts";
import { openConsole } from "../server/console.ts";
import { loginsOf } from "../server/logins.ts";
import { kubeconfigUpstream } from "../server/upstreams.ts";
import type { FrontProxyCommand } from "./front-proxy-options.ts";

/** Parts of a proxy that depend on whether it serves alone. */
export interface ProxyParts {
  /** Returns the shards, or the index of another process. @param root server of the workspace root */
  readonly shards: (root: Upstream) => Promise<FrontProxyOptions["shards"]>;
  readonly limits?: FrontProxyOptions["limits"];
  readonly sum?: Metrics["sum"];
  readonly memory?: ConsoleMemory;
  /** Whether it writes the status of PathMappings. @default true */
  readonly writesStatus?: boolean;
}

/** A proxy that does not serve yet. */
export interface OpenedProxy {
  readonly proxy: FrontProxy;
  /** Paths that it serves. */
  readonly paths: readonly string[];
}

/** Connects the upstreams, and creates the proxy. @param stack closes all of it @throws Failure */
export async function openProxy(
  options: FrontProxyCommand,
  { shards, limits, sum, memory, writesStatus = true }: ProxyParts,
  stack: AsyncDisposableStack,
): Promise<OpenedProxy> {
  const { log, onRequest, audit, mapping, pathMappings, authentication, groups, kubeconfigs, tls, closeDelay } =
    options;
  const { file } = authentication;
  // A closed log pipe does not stop the server.
  stack.adopt(process.stderr.on("error", ignore), (stderr) => void stderr.off("error", ignore));
  stack.use(log);
  stack.use(logWarnings(options));
  if (file !== undefined) stack.use(file.follow(log));
  const { upstream } = await kubeconfigUpstream({ file: kubeconfigs.root, log });
  const workspaceAuthentication = await orFail(() => loginsOf(options.issuerHosts));
  const root = stack.use(await orFail(() => new Upstream(upstream)));
  // RBAC in root decides who may read metrics, as in kcp.
  const access = stack.use(subjectAccessReview({ upstream: root, cluster: () => ROOT_CLUSTER }));
  // The shards know the tokens of administrators and service accounts.
  const tokens = options.console && stack.use(tokenReview({ upstream: root, cluster: ROOT_CLUSTER }));
  const page =
    options.console &&
    tokens &&
    (await openConsole(options.console, {
      ...{ log, authentication: [tokens], panels: await panelsOfShards() },
      ...(memory && { memory }),
    }));
  const found = await shards(root);
  const proxy = stack.use(
    await orFail(() =>
      createFrontProxy({
        mapping,
        authentication: authentication.authenticators.filter(({ name }) => name !== "anonymous"),
        groups,
        workspaceAuthentication,
        ...(found && { shards: found }),
        ...(pathMappings && { pathMappings: { root, writesStatus } }),
        component: { ...options.component, authorize: access },
        metrics: { authorize: access, ...(file && { families: () => file.families() }), ...(sum && { sum }) },
        tls,
        closeDelay,
        ...(audit && { audit }),
        corsAllowedOrigins: options.corsAllowedOrigins,
        ...(page && { pages: page.pages }),
        ...(options.authenticationFailures && { authenticationFailures: options.authenticationFailures }),
        ...(limits && { limits }),
        ...(onRequest && { onRequest }),
        log,
      }),
    ),
  );
  return { proxy, paths: [...mapping.map(({ path }) => path), ...(page ? [`${page.pages.path}/`] : [])] };
}

/** Returns the options of the connection to each shard; each has its own URL. @throws Failure */
export async function shardAccess({ kubeconfigs, log }: FrontProxyCommand) {
  const shards = { file: kubeconfigs.shards, server: "https://shards.invalid", log };
  const { url: _, ...read } = (await kubeconfigUpstream(shards)).upstream;
  return read;
}

/** Returns the panels of views that only shards serve. */
async function panelsOfShards() {
  const [{ clusterProxyPanels }, { spacesPanels }] = await Promise.all([
    import("@virtual-workspaces/cluster-proxy/panels"),
    import("@virtual-workspaces/spaces/panels"),
  ]);
  return [...clusterProxyPanels, ...spacesPanels];
}

function ignore(): void {}
