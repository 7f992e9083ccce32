import { isApiError, nearest } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { AGENTS_VIEW, AgentToken } from "@virtual-workspaces/cluster-proxy";
import { ClusterProxy, clusterOf, viewURL } from "@virtual-workspaces/kcp";
import { flagDuration, readFlags } from "../flags/read.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { AGENT, AGENT_FLAGS, type AgentFlags } from "./flags.ts";
import { hubKubeconfig } from "./hub-kubeconfig.ts";

/** Runs `virtual-workspaces agent`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values, words } = readFlags(args, AGENT);
  const [word, name, ...rest] = words;
  if (word === undefined) {
    if (values.expires !== undefined) throw new UsageError('--expires works only with "agent token": remove it');
    return (await import("./run-agent.ts")).run(values);
  }
  if (word !== "token")
    throw new UsageError(
      nearest(word, ["token"]) === undefined
        ? `unknown command "agent ${word}": use "agent token", or "agent" with flags alone`
        : `unknown command "agent ${word}": did you mean "agent token"?`,
    );
  if (name === undefined || rest.length > 0)
    throw new UsageError('"agent token" needs the name of exactly one ClusterProxy: for example "agent token shop"');
  const other = Object.keys(AGENT_FLAGS).find((flag) => values[flag as keyof typeof AGENT_FLAGS] !== undefined);
  if (other !== undefined) throw new UsageError(`--${other} does not work with "agent token": use it with "agent"`);
  return printToken(name, values);
}

/** Prints the kubeconfig with which one agent enrolls. @returns the exit code @throws Failure, UsageError */
async function printToken(name: string, { kubeconfig, context, expires }: AgentFlags): Promise<number> {
  const seconds = secondsOf(expires);
  const loaded = await orFailWithHint(
    loadKubeconfig({ ...(kubeconfig && { file: kubeconfig }), ...(context && { context }) }),
  );
  const { upstream, cluster: path, impersonate } = loaded;
  if (path === undefined)
    throw new Failure(
      `${upstream.url} is not a workspace: run "kubectl ws <path>" to enter the workspace of the ClusterProxy`,
    );
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
  process.stderr.write(`Valid once, until ${status?.expirationTimestamp}. Run this where the remote cluster can be reached:
  virtual-workspaces agent --bootstrap-kubeconfig <this> --hub-kubeconfig hub.kubeconfig`);
  return 0;
}

/** @throws UsageError */
function secondsOf(expires: string | undefined): number | undefined {
  if (expires === undefined) return undefined;
  const ms = flagDuration(expires);
  if (ms === undefined) throw new UsageError(`invalid value "${expires}" for --expires: use a duration such as 10m`);
  return Math.round(ms / 1000);
}

/** Turns an error into a {@link Failure}, with a hint after 404. */
async function orFailWithHint<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    const { message } = cause as Error;
    const hint =
      isApiError(cause) && cause.code === 404
        ? ": check that the ClusterProxy exists, and that its server has the view"
        : "";
    throw new Failure(`${message}${hint}`, { cause });
  }
}
