import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery";

/** An entry of `status.endpoints`, as kcp's endpoint slices have it, and any kind that is referred to like one. */
export interface Endpoint {
  readonly url: string;
  readonly matchAll: boolean;
  readonly selector: LabelSelectorObject | undefined;
}

/** An object without endpoints: whoever publishes them has not done so, or has taken them back. */
export class NoEndpoints extends Error {
  override readonly name: string = "NoEndpoints";
}

type Fields = Readonly<Record<string, unknown>>;

/** The endpoints of an object of whichever kind. @throws NoEndpoints; Error on what is no list of endpoints */
export function endpointsOf(object: object): readonly Endpoint[] {
  const { status } = object as Fields;
  if (status === undefined) throw new NoEndpoints("it has no status");
  const { endpoints } = fields(status, "status");
  if (endpoints === undefined || endpoints === null) throw new NoEndpoints("it has no status.endpoints");
  return list(endpoints, "status.endpoints").map((one, at) => endpointOf(one, `status.endpoints[${at}]`));
}

function endpointOf(entry: unknown, at: string): Endpoint {
  const { url, shards } = fields(entry, at);
  if (typeof url !== "string") throw new Error(`${at}.url is no text`);
  const { matchAll = false, selector } = shards === undefined || shards === null ? {} : fields(shards, `${at}.shards`);
  if (typeof matchAll !== "boolean") throw new Error(`${at}.shards.matchAll is neither true nor false`);
  return { url, matchAll, selector: selectorOf(selector, `${at}.shards.selector`) };
}

function selectorOf(selector: unknown, at: string): LabelSelectorObject | undefined {
  if (selector === undefined || selector === null) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = fields(selector, at);
  for (const [key, value] of Object.entries(fields(matchLabels, `${at}.matchLabels`)))
    if (typeof value !== "string") throw new Error(`${at}.matchLabels[${key}] is no text`);
  for (const [index, one] of list(matchExpressions, `${at}.matchExpressions`).entries()) {
    const here = `${at}.matchExpressions[${index}]`;
    const { key, operator, values = [] } = fields(one, here);
    const texts = [key, operator, ...list(values, `${here}.values`)];
    if (texts.some((text) => typeof text !== "string")) throw new Error(`${here} is no demand on a label`);
  }
  return selector;
}

function fields(value: unknown, at: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error(`${at} is no object`);
}

function list(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`${at} is no list`);
}
