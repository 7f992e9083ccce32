import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { trimmed } from "../loopback/own-services.ts";

/** Entry of `status.endpoints` in kcp's endpoint slices, or in any other referenced kind. */
export interface Endpoint {
  readonly url: string;
  readonly matchAll: boolean;
  readonly selector: LabelSelectorObject | undefined;
}

/** An object has no endpoints: its controller has not published them, or has removed them. */
export class NoEndpoints extends Error {
  override readonly name: string = "NoEndpoints";
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the endpoints of an object of any kind. @throws NoEndpoints; Error on an invalid list */
export function endpointsOf(object: object): readonly Endpoint[] {
  const { status } = object as Fields;
  if (status === undefined) throw new NoEndpoints("it has no status");
  const { endpoints } = fields(status, "status");
  if (endpoints === undefined || endpoints === null) throw new NoEndpoints("it has no status.endpoints");
  return list(endpoints, "status.endpoints").map((one, at) => endpointOf(one, `status.endpoints[${at}]`));
}

function endpointOf(entry: unknown, at: string): Endpoint {
  const { url, shards } = fields(entry, at);
  if (typeof url !== "string") throw new Error(`${at}.url is not a string`);
  const { matchAll = false, selector } = shards === undefined || shards === null ? {} : fields(shards, `${at}.shards`);
  if (typeof matchAll !== "boolean") throw new Error(`${at}.shards.matchAll is not a boolean`);
  return { url, matchAll, selector: selectorOf(selector, `${at}.shards.selector`) };
}

function selectorOf(selector: unknown, at: string): LabelSelectorObject | undefined {
  if (selector === undefined || selector === null) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = fields(selector, at);
  for (const [key, value] of Object.entries(fields(matchLabels, `${at}.matchLabels`)))
    if (typeof value !== "string") throw new Error(`${at}.matchLabels[${key}] is not a string`);
  for (const [index, one] of list(matchExpressions, `${at}.matchExpressions`).entries()) {
    const here = `${at}.matchExpressions[${index}]`;
    const { key, operator, values = [] } = fields(one, here);
    const texts = [key, operator, ...list(values, `${here}.values`)];
    if (texts.some((text) => typeof text !== "string")) throw new Error(`${here} is not a label selector requirement`);
  }
  return selector;
}

function fields(value: unknown, at: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error(`${at} is not an object`);
}

function list(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`${at} is not a list`);
}

/** Shard that calls the endpoint. */
interface AskingShard {
  /** URL of its own virtual workspaces (`spec.virtualWorkspaceURL`). */
  readonly virtualWorkspaceURL: string;
  /** Labels of its Shard object. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Returns the URL for a shard: of endpoints with shard selectors the most specific match, otherwise the one below the shard's
 * own URL. It never guesses, not even with a single endpoint.
 *
 * @throws Error with the fault of the list but without its URLs, since the caller of the resource sees it
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
  if (matchAll) throw new Error("an endpoint has both shards.matchAll and shards.selector: remove one of them");
  return labelSelectorFromObject(selector).matches(labels);
}

function closeness({ selector: { matchLabels = {}, matchExpressions = [] } = {} }: Endpoint): number {
  return Object.keys(matchLabels).length + matchExpressions.length;
}

/** kcp compares strings, so that `https://shard-1.example.org` counts as below `https://shard-1.example`. */
function ownURL({ virtualWorkspaceURL }: AskingShard, endpoints: readonly Endpoint[]): string {
  const base = trimmed(virtualWorkspaceURL);
  const [own, another] = endpoints.filter(({ url }) => url === base || url.startsWith(`${base}/`));
  if (own === undefined)
    throw new Error(
      "no endpoint begins with the URL of this shard's virtual workspaces: give one that is for every shard shards.matchAll",
    );
  if (another !== undefined)
    throw new Error(
      "several endpoints begin with the URL of this shard's virtual workspaces: keep one, or select shards in each",
    );
  return own.url;
}
