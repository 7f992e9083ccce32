import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { AGENTS_VIEW, AgentToken } from "@virtual-workspaces/cluster-proxy";
import { ClusterProxy, clusterOf, viewURL } from "@virtual-workspaces/kcp";
import { goDuration } from "../flags/duration.ts";
import { Failure, UsageError } from "../process/failure.ts";
import type { AgentFlags } from "./flags.ts";
import { hubKubeconfig } from "./hub-kubeconfig.ts";

/** Prints a kubeconfig by which one agent is enrolled. @returns the exit code @throws Failure, UsageError */
export async function printToken(name: string, { kubeconfig, context, expires }: AgentFlags): Promise<number> {
  const seconds = secondsOf(expires);
  const loaded = await orFailWithHint(
    loadKubeconfig({ ...(kubeconfig && { file: kubeconfig }), ...(context && { context }) }),
  );
  const { upstream, cluster: path, impersonate } = loaded;
  if (path === undefined)
    throw new Failure(`${upstream.url}: it is no workspace: kubectl ws <path> goes to that of the ClusterProxy`);
  await using workspace = new Client(loaded);
  const proxy = await orFailWithHint(workspace.resource(ClusterProxy).get(name));
  const url = viewURL(upstream.url, AGENTS_VIEW, clusterOf(proxy), name);
  await using agents = new Client({ upstream: { ...upstream, url }, ...(impersonate && { impersonate }) });
  const asked = agents.resource(AgentToken).create({
    metadata: { name: "" },
    spec: { ...(seconds !== undefined && { expirationSeconds: seconds }) },
  });
  const { status } = await orFailWithHint(asked);
  const { tls } = upstream;
  const text = hubKubeconfig({ hub: { url, ...(tls && { tls }) }, token: status?.token, certificate: undefined });
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  process.stderr.write(`good once, until ${status?.expirationTimestamp}. Where the remote cluster can be reached:
  virtual-workspaces agent --bootstrap-kubeconfig <this> --hub-kubeconfig hub.kubeconfig
`);
  return 0;
}

/** @throws UsageError */
function secondsOf(expires: string | undefined): number | undefined {
  if (expires === undefined) return undefined;
  const ms = goDuration(expires);
  if (ms === undefined) throw new UsageError(`--expires ${expires}: give a duration such as 10m`);
  return Math.round(ms / 1000);
}

/** What is the world's doing. */
async function orFailWithHint<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    const { message } = cause as Error;
    const hint =
      isApiError(cause) && cause.code === 404
        ? ". Is there such a ClusterProxy, and does its server have the view?"
        : "";
    throw new Failure(`${message}${hint}`, { cause });
  }
}
