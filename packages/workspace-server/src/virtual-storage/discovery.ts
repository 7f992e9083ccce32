import type { DiscoveredVerbs, Resource } from "@virtual-workspaces/framework";
import type { Backend } from "./backends.ts";

/** How long a view may take to say what it can, ms: whoever asks a workspace what there is waits for it. */
const PATIENCE = 5_000;
/** The longest list that is read, bytes. */
const LONGEST = 4 * 1024 * 1024;

/**
 * Which verbs a view has for a resource, and for `status` and `scale` of it, as it tells the shard of all logical clusters at once. As
 * in kcp nothing is remembered: a view may have changed.
 *
 * @throws Error when it does not tell
 */
export async function discoveredVerbs(
  { upstream, path }: Backend,
  { group, version, plural }: Resource,
  signal: AbortSignal,
): Promise<DiscoveredVerbs> {
  const { status, body } = await upstream.send({
    path: `${path}/clusters/*/apis/${group}/${version}`,
    headers: ["Accept", "application/json"],
    deadlines: { head: PATIENCE, idle: PATIENCE },
    limit: LONGEST,
    signal,
  });
  if (status !== 200) throw new Error(`${upstream.url}${path} answers ${status} to discovery in all logical clusters`);
  const { resources } = JSON.parse(Buffer.from(body).toString()) as { readonly resources?: readonly Listed[] };
  const verbs = (name: string): readonly string[] => resources?.find((one) => one.name === name)?.verbs ?? [];
  return { "": verbs(plural), status: verbs(`${plural}/status`), scale: verbs(`${plural}/scale`) };
}

interface Listed {
  readonly name: string;
  readonly verbs?: readonly string[];
}
