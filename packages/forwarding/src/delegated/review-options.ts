import { isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";

/** A day, ms: nobody should believe an answer for longer. */
const LONGEST = 86_400_000;

/** How another server is asked to decide, whatever about. */
export interface ReviewOptions {
  /** How long a yes is remembered, ms; 0: not at all. What is withdrawn there goes on here for so long. @default 10000, as in Kubernetes */
  readonly allowCache?: number;
  /** How long a no is remembered, ms; 0: not at all. What is granted there is refused here for so long. @default 1000; Kubernetes has 10000 */
  readonly denyCache?: number;
  /** How many verdicts are kept, of yes and of no each; the oldest goes first. About 400 bytes each, and the user that a token stands for. @default 10000 */
  readonly maximum?: number;
  /** For one review, waiting for its turn and all attempts included, ms. @default 10000 */
  readonly timeout?: number;
  /** How many reviews the other server has at once; twenty times as many wait, in order, and what comes beyond fails at once. @default 100 */
  readonly inFlight?: number;
}

/** The same, complete. @throws Error on what is no time or number */
export function resolved(what: string, options: ReviewOptions): Required<ReviewOptions> {
  const { allowCache = 10_000, denyCache = 1_000, maximum = 10_000, timeout = 10_000, inFlight = 100 } = options;
  const check = (name: string, value: number, [least, most]: readonly [number, number]): void => {
    if (!Number.isSafeInteger(value) || value < least || value > most)
      throw new Error(`${what}: ${name} must be a whole number from ${least} to ${most}; it is ${value}`);
  };
  check("allowCache", allowCache, [0, LONGEST]);
  check("denyCache", denyCache, [0, LONGEST]);
  check("maximum", maximum, [1, Number.MAX_SAFE_INTEGER]);
  check("timeout", timeout, [1, LONGEST]);
  check("inFlight", inFlight, [1, Number.MAX_SAFE_INTEGER]);
  return { allowCache, denyCache, maximum, timeout, inFlight };
}

/** An upstream, and how to be rid of it: one made here of options is closed, one that was given is not. */
export function opened(given: Upstream | UpstreamOptions): { readonly upstream: Upstream } & AsyncDisposable {
  if (given instanceof Upstream) return { upstream: given, [Symbol.asyncDispose]: async () => undefined };
  const upstream = new Upstream(given);
  return { upstream, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() };
}

/** Where a logical cluster is below a server's URL; "" is that URL. @throws Error on what is neither a name nor a path */
export function prefixOf(cluster: string): string {
  if (cluster === "") return "";
  if (cluster !== WILDCARD && !isWorkspacePath(cluster))
    throw new Error(`reviews: ${JSON.stringify(cluster)} is neither a logical cluster's name nor a workspace path`);
  return `/clusters/${cluster}`;
}
