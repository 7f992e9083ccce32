import type { Upstream } from "@virtual-workspaces/transport";
import { ReviewFailure } from "./reviewer.ts";

/** Place that reviews are sent to. */
export interface ReviewPlace {
  readonly upstream: Upstream;
  /** Path of the logical cluster. */
  readonly prefix: string;
}

/** Number of places to remember: callers choose the logical cluster. */
const MOST = 1_000;

/** Process warnings of failed reviews: one for each place, until the reason changes or a review succeeds there. */
export class ReviewWarnings {
  readonly #reasons = new Map<string, string>();

  failed(error: unknown, place: ReviewPlace): void {
    const reason = reasonOf(error);
    const key = keyOf(place, error instanceof ReviewFailure && error.transient);
    if (this.#reasons.get(key) === reason) return;
    if (this.#reasons.size >= MOST) this.#reasons.clear();
    this.#reasons.set(key, reason);
    process.emitWarning(`subject access review failed: ${String(error)}`);
  }

  answered(place: ReviewPlace): void {
    if (this.#reasons.size === 0) return;
    for (const isAway of [true, false]) this.#reasons.delete(keyOf(place, isAway));
  }
}

/** A server that is away fails in all logical clusters. */
function keyOf({ upstream, prefix }: ReviewPlace, isAway: boolean): string {
  return isAway ? upstream.url : `${upstream.url} ${prefix}`;
}

/** Returns the message without the request, which names the logical cluster. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^POST \S+: /, "");
}
