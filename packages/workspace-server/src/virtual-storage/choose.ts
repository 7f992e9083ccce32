import { labelSelectorFromObject } from "@virtual-workspaces/apimachinery";
import { trimmed } from "../loopback/path-below.ts";
import type { Endpoint } from "./endpoints.ts";

/** The shard that asks. */
export interface AskingShard {
  /** Where its own virtual workspaces are (`spec.virtualWorkspaceURL`). */
  readonly virtualWorkspaceURL: string;
  /** Of its Shard. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The URL that a shard is to ask at: where endpoints say for which shards they are, the one that says it most closely, else
 * the one that is below its own URL. Never a guess: that there is no other does not make one the shard's.
 *
 * @throws Error that says what the list lacks, and no URL of it: it goes to whoever asks for the resource
 */
export function chosenURL(shard: AskingShard, endpoints: readonly Endpoint[]): string {
  const selective = endpoints.filter(({ matchAll, selector }) => matchAll || selector !== undefined);
  if (selective.length === 0) return ownURL(shard, endpoints);
  const fits = selective.filter((endpoint) => isFor(endpoint, shard));
  const most = Math.max(...fits.map(closeness));
  const [best, another] = fits.filter((endpoint) => closeness(endpoint) === most);
  if (best === undefined)
    throw new Error("none of the endpoints selects this shard: give one shards.matchAll, or a selector of its labels");
  if (another !== undefined)
    throw new Error("several endpoints select this shard equally well: give one of them a closer selector");
  return best.url;
}

function isFor({ matchAll, selector }: Endpoint, { labels }: AskingShard): boolean {
  if (selector === undefined) return true;
  if (matchAll) throw new Error("an endpoint has both shards.matchAll and shards.selector: leave one of them out");
  return labelSelectorFromObject(selector).matches(labels);
}

function closeness({ selector: { matchLabels = {}, matchExpressions = [] } = {} }: Endpoint): number {
  return Object.keys(matchLabels).length + matchExpressions.length;
}

/** kcp compares texts, for which `https://shard-1.example.org` is below `https://shard-1.example`. */
function ownURL({ virtualWorkspaceURL }: AskingShard, endpoints: readonly Endpoint[]): string {
  const base = trimmed(virtualWorkspaceURL);
  const [own, another] = endpoints.filter(({ url }) => url === base || url.startsWith(`${base}/`));
  if (own === undefined)
    throw new Error(
      "no endpoint begins with the URL of this shard's virtual workspaces: give one that is for every shard shards.matchAll",
    );
  if (another !== undefined)
    throw new Error(
      "several endpoints begin with the URL of this shard's virtual workspaces: leave one, or say by shards for which each is",
    );
  return own.url;
}
