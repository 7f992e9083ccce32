import type { Entry, Kubeconfig } from "../../kubectl/kubeconfig.ts";
import { Failure } from "../../process/failure.ts";
import { formatWorkspaceUrl, parseWorkspaceUrl, type WorkspaceUrl } from "./path.ts";

/** Names of the contexts and clusters that `kubectl ws` writes. */
const CURRENT = "workspace.kcp.io/current";
const PREVIOUS = "workspace.kcp.io/previous";

/** A context and its cluster. */
interface Context {
  readonly context: Entry;
  readonly cluster: Entry;
}

/**
 * Makes a workspace the current one, and the current one the previous. Security: host, trust and user stay those of the
 * context; URLs in server answers are not used.
 *
 * @returns the URL
 * @throws Failure
 */
export async function goTo(kubeconfig: Kubeconfig, to: string | Omit<WorkspaceUrl, "base">): Promise<string> {
  const here = contextOf(kubeconfig, kubeconfig.context);
  const { base } = placeIn(here);
  const url = formatWorkspaceUrl({ base, ...(typeof to === "string" ? { path: to } : to) });
  remember(kubeconfig, here);
  put(kubeconfig, CURRENT, at(here, url));
  kubeconfig.use(CURRENT);
  await kubeconfig.save();
  return url;
}

/** Returns to the previous workspace. @returns the URL @throws Failure */
export async function goBack(kubeconfig: Kubeconfig): Promise<string> {
  const here = contextOf(kubeconfig, kubeconfig.context);
  if (kubeconfig.find("contexts", PREVIOUS) === undefined)
    throw new Failure("no previous workspace found in kubeconfig");
  const there = contextOf(kubeconfig, PREVIOUS);
  remember(kubeconfig, here);
  put(kubeconfig, CURRENT, there);
  kubeconfig.use(CURRENT);
  await kubeconfig.save();
  return serverOf(there);
}

export interface NewContext {
  readonly name: string;
  /** Path of the workspace. @default the current one */
  readonly path?: string;
  readonly overwrite: boolean;
  /** Whether to make it the current context. */
  readonly enter: boolean;
}

/** Writes a context for a workspace. @returns kcp's text for the result @throws Failure when it exists and may not be overwritten */
export async function writeContext(
  kubeconfig: Kubeconfig,
  { name, path, overwrite, enter }: NewContext,
): Promise<string> {
  const here = contextOf(kubeconfig, kubeconfig.context);
  const existed = kubeconfig.find("contexts", name) !== undefined;
  if (existed && !overwrite)
    throw new Failure(`context ${JSON.stringify(name)} already exists in kubeconfig, use --overwrite to update it`);
  put(kubeconfig, name, path === undefined ? here : at(here, formatWorkspaceUrl({ base: placeIn(here).base, path })));
  if (enter) kubeconfig.use(name);
  await kubeconfig.save();
  const switched = enter && kubeconfig.context !== name ? " and switched to it" : "";
  return `${existed ? "Updated" : "Created"} context ${JSON.stringify(name)}${switched}.`;
}

/** Returns the workspace of the current context. @throws Failure */
export function placeOfContext(kubeconfig: Kubeconfig): WorkspaceUrl {
  return placeIn(contextOf(kubeconfig, kubeconfig.context));
}

function contextOf(kubeconfig: Kubeconfig, name: string): Context {
  const context = kubeconfig.find("contexts", name);
  if (context === undefined) throw new Failure(`current ${JSON.stringify(name)} context not found`);
  const named = context.value["cluster"];
  const cluster = typeof named === "string" ? kubeconfig.find("clusters", named) : undefined;
  if (cluster === undefined) throw new Failure(`cluster ${JSON.stringify(named ?? "")} not found in kubeconfig`);
  return { context, cluster };
}

/** Copies the cluster of `kubectl ws` itself, because every step overwrites it; other clusters stay. */
function remember(kubeconfig: Kubeconfig, here: Context): void {
  const ours = here.context.value["cluster"] === CURRENT;
  if (ours) put(kubeconfig, PREVIOUS, here);
  else kubeconfig.set("contexts", PREVIOUS, here.context);
}

function put(kubeconfig: Kubeconfig, name: string, { context, cluster }: Context): void {
  kubeconfig.set("clusters", name, cluster);
  kubeconfig.set("contexts", name, { ...context, value: { ...context.value, cluster: name } });
}

function at({ context, cluster }: Context, server: string): Context {
  return { context, cluster: { ...cluster, value: { ...cluster.value, server } } };
}

function serverOf({ cluster }: Context): string {
  const { server } = cluster.value;
  return typeof server === "string" ? server : "";
}

function placeIn(context: Context): WorkspaceUrl {
  const server = serverOf(context);
  const place = parseWorkspaceUrl(server);
  if (place === undefined) throw new Failure(`current URL ${JSON.stringify(server)} does not point to a workspace`);
  return place;
}
