import { subjectAccessReview, tokenReview } from "@virtual-workspaces/forwarding";
import { createFrontProxy } from "@virtual-workspaces/front-proxy";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { Upstream } from "@virtual-workspaces/transport";
import { orFail } from "../process/failure.ts";
import { Interrupt, leave } from "../process/interrupt.ts";
import { logWarnings } from "../process/log.ts";
import { openConsole } from "../server/console.ts";
import { startFailure, tellReady } from "../server/listening.ts";
import { loginsOf } from "../server/logins.ts";
import { kubeconfigUpstream } from "../server/upstreams.ts";
import { type FrontProxyCommand, frontProxyOptions } from "./front-proxy-options.ts";

/** Runs `virtual-workspaces front-proxy`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const options = frontProxyOptions(args);
  for (const message of options.warnings) options.log({ level: "warn", message });
  return leave(await serve(options));
}

/** Serves until a signal stops the process. @returns the exit code @throws Failure */
async function serve(options: FrontProxyCommand): Promise<number> {
  const { log, onRequest, audit, mapping, pathMappings, authentication, groups, kubeconfigs, tls, closeDelay } =
    options;
  const { bindAddress, port } = options;
  const { file } = authentication;
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  // A closed log pipe does not stop the server.
  stack.adopt(process.stderr.on("error", ignore), (stderr) => void stderr.off("error", ignore));
  stack.use(log);
  stack.use(logWarnings(options));
  if (file !== undefined) stack.use(file.follow(log));
  const { upstream } = await kubeconfigUpstream({ file: kubeconfigs.root, log });
  // Each shard has its own URL.
  const shards = { file: kubeconfigs.shards, server: "https://shards.invalid", log };
  const { url: _, ...read } = (await kubeconfigUpstream(shards)).upstream;
  const workspaceAuthentication = await orFail(() => loginsOf(options.issuerHosts));
  const root = stack.use(await orFail(() => new Upstream(upstream)));
  // RBAC in root decides who may read metrics, as in kcp.
  const access = stack.use(subjectAccessReview({ upstream: root, cluster: () => ROOT_CLUSTER }));
  // The shards know the tokens of administrators and service accounts.
  const tokens = options.console && stack.use(tokenReview({ upstream: root, cluster: ROOT_CLUSTER }));
  const page = options.console && tokens && (await openConsole(options.console, { log, authentication: [tokens] }));
  const proxy = stack.use(
    await orFail(() =>
      createFrontProxy({
        mapping,
        authentication: authentication.authenticators.filter(({ name }) => name !== "anonymous"),
        groups,
        workspaceAuthentication,
        shards: { root, read },
        ...(pathMappings && { pathMappings: { root } }),
        component: { ...options.component, authorize: access },
        metrics: { authorize: access, ...(file && { families: () => file.families() }) },
        tls,
        closeDelay,
        ...(audit && { audit }),
        corsAllowedOrigins: options.corsAllowedOrigins,
        ...(page && { pages: page.pages }),
        ...(options.authenticationFailures && { authenticationFailures: options.authenticationFailures }),
        ...(onRequest && { onRequest }),
        log,
      }),
    ),
  );
  const listening = await proxy.listen({ port, host: bindAddress }).catch((error: unknown) => {
    throw startFailure(error, { bindAddress, port });
  });
  const paths = [...mapping.map(({ path }) => path), ...(page ? [`${page.pages.path}/`] : [])];
  await Promise.race([proxy.started.then(() => tellReady(listening.url, paths)), interrupt.requested]);
  await interrupt.requested;
  log({ level: "info", message: "shutting down" });
  await proxy.close();
  return 0;
}

function ignore(): void {}
