import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import { streamOf } from "../observe/observer.ts";
import type { User } from "../request/user.ts";
import type { ResolvedLimits } from "./request-limits.ts";

/** Made once: a flood of refusals should cost as little as it can. */
const TOO_MANY = ApiError.tooManyRequests(
  "too many watches and other long-running requests are open; close some, or try again later",
  1,
);

/** The long-running requests that are open: they do nothing most of the time, but each keeps memory. */
export class LongRunning {
  readonly #limits: ResolvedLimits;
  readonly #users = new Map<string, number>();
  #open = 0;

  constructor(limits: ResolvedLimits) {
    this.#limits = limits;
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a request until it is over. @returns why not, 429, when there are too many */
  take(exchange: Exchange): ApiError | undefined {
    const { longRunning, longRunningPerUser } = this.#limits;
    const { name } = exchange.user as User;
    if (this.#open >= longRunning || (this.#users.get(name) ?? 0) >= longRunningPerUser) return TOO_MANY;
    const stream = streamOf(exchange);
    if (stream.destroyed) return undefined;
    this.#open += 1;
    this.#users.set(name, (this.#users.get(name) ?? 0) + 1);
    stream.once("close", () => this.#closed(name));
    return undefined;
  }

  #closed(name: string): void {
    this.#open -= 1;
    const left = (this.#users.get(name) ?? 1) - 1;
    if (left === 0) this.#users.delete(name);
    else this.#users.set(name, left);
  }
}
