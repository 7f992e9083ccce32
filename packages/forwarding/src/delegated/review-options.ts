import { isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";

/** Maximum cache time: a day, in ms. */
const LONGEST = 86_400_000;

/** Options of all reviews. */
export interface ReviewOptions {
  /**
   * Time to cache a positive verdict, in ms; 0 disables it. Security: a revoked permission applies that much longer.
   * @default 10000, as in Kubernetes
   */
  readonly allowCache?: number;
  /**
   * Time to cache a negative verdict, in ms; 0 disables it. A granted permission applies that much later.
   * @default 1000; Kubernetes has 10000
   */
  readonly denyCache?: number;
  /**
   * Maximum number of positive and of negative verdicts; the oldest is evicted first. About 400 bytes each, plus a token's
   * user.
   * @default 10000
   */
  readonly maximum?: number;
  /** Timeout of a review, including its wait and all attempts, in ms. @default 10000 */
  readonly timeout?: number;
  /** Maximum number of concurrent reviews. Twenty times as many wait in order; further ones fail at once. @default 100 */
  readonly inFlight?: number;
}

/** Applies the defaults. @throws Error for values out of range */
export function resolved(what: string, options: ReviewOptions): Required<ReviewOptions> {
  const { allowCache = 10_000, denyCache = 1_000, maximum = 10_000, timeout = 10_000, inFlight = 100 } = options;
  const check = (name: string, value: number, [least, most]: readonly [number, number]): void => {
    if (!Number.isSafeInteger(value) || value < least || value > most)
      throw new Error(`${what}: invalid ${name} "${value}": use a whole number from ${least} to ${most}`);
  };
  check("allowCache", allowCache, [0, LONGEST]);
  check("denyCache", denyCache, [0, LONGEST]);
  check("maximum", maximum, [1, Number.MAX_SAFE_INTEGER]);
  check("timeout", timeout, [1, LONGEST]);
  check("inFlight", inFlight, [1, Number.MAX_SAFE_INTEGER]);
  return { allowCache, denyCache, maximum, timeout, inFlight };
}

/** Returns an upstream whose disposal closes it only if it was created here from options. */
export function opened(given: Upstream | UpstreamOptions): { readonly upstream: Upstream } & AsyncDisposable {
  if (given instanceof Upstream) return { upstream: given, [Symbol.asyncDispose]: async () => undefined };
  const upstream = new Upstream(given);
  return { upstream, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() };
}

/** Returns the path of a logical cluster below a server's URL; "" for the URL itself. @throws Error for an invalid name or path */
export function prefixOf(cluster: string): string {
  if (cluster === "") return "";
  if (cluster !== WILDCARD && !isWorkspacePath(cluster))
    throw new Error(
      `reviews: invalid cluster ${JSON.stringify(cluster)}: use the name of a logical cluster or a workspace path`,
    );
  return `/clusters/${cluster}`;
}
