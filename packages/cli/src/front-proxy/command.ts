import { Interrupt, leave } from "../process/interrupt.ts";
import { startFailure, tellReady } from "../server/listening.ts";
import { type FrontProxyCommand, frontProxyOptions } from "./front-proxy-options.ts";
import type { ProxyParts } from "./proxy.ts";

/** Runs `virtual-workspaces front-proxy`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const options = frontProxyOptions(args);
  for (const message of options.warnings) options.log({ level: "warn", message });
  if (options.workers === 1) return leave(await serve(options));
  return leave(await (await import("./primary.ts")).serveWithWorkers(args, options));
}

/** Serves until a signal stops the process. @returns the exit code @throws Failure */
async function serve(options: FrontProxyCommand): Promise<number> {
  const { openProxy, shardAccess } = await import("./proxy.ts");
  const { log, bindAddress, port } = options;
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  const parts: ProxyParts = { shards: async (root) => ({ root, read: await shardAccess(options) }) };
  const { proxy, paths } = await openProxy(options, parts, stack);
  const listening = await proxy.listen({ port, host: bindAddress }).catch((error: unknown) => {
    throw startFailure(error, { bindAddress, port });
  });
  await Promise.race([proxy.started.then(() => tellReady(listening.url, paths)), interrupt.requested]);
  await interrupt.requested;
  log({ level: "info", message: "shutting down" });
  await proxy.close();
  return 0;
}
