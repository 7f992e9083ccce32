import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { InterceptedRequest } from "@virtual-workspaces/framework/server";
import { answerWatch, cut, TOO_OLD } from "./open-watches.ts";
import { describeMatch, isMatch, type RequestMatch } from "./request-match.ts";

/** Effect of a fault on a request. */
export type FaultEffect =
  /** 429 with `Retry-After`, as from a server under load. */
  | { readonly type: "tooManyRequests" /** Seconds. @default 1 */; readonly retryAfter?: number }
  /** 503, with `Retry-After` if it is set. */
  | { readonly type: "unavailable" /** Seconds. @default none */; readonly retryAfter?: number }
  /** 409 `Conflict`, as when another client has written. */
  | { readonly type: "conflict" }
  /** 410: to a list as a Status, to a watch as its only event. Clients list again. */
  | { readonly type: "expired" }
  /** Any Status, as an error of the API. */
  | { readonly type: "error"; readonly error: ApiError }
  /** The connection ends without a response, before the request is handled or, with `afterwards`, when it has been. */
  | { readonly type: "disconnect" /** @default false */; readonly afterwards?: boolean }
  /** The request is handled later. `Infinity`: never, until the client leaves. */
  | { readonly type: "delay"; readonly milliseconds: number };

/** A fault, with the requests that it is for. */
export interface FaultOptions extends RequestMatch {
  /** Effect on the request. A text is an effect with its defaults. */
  readonly fault: FaultEffect | "tooManyRequests" | "unavailable" | "conflict" | "expired" | "disconnect";
  /** Number of matching requests that pass first: 2 for a fault of the third. @default 0 */
  readonly skip?: number;
  /** Number of requests that get the fault. `Infinity`: all. @default 1 */
  readonly times?: number;
}

/** A fault that was added. */
export interface Fault {
  /** Number of requests that got it. */
  readonly used: number;
  /** Number of further requests that will get it. */
  readonly left: number;
}

/** Faults of a test server. Each is used up by the requests that get it; a request gets the first that matches. */
export class Faults {
  #all: ActiveFault[] = [];

  /** Adds a fault for future requests. @throws RangeError for an invalid number */
  add(options: FaultOptions): Fault {
    const fault = new ActiveFault(options);
    this.#all.push(fault);
    return fault;
  }

  /** Descriptions of the faults that have not been used up, for messages. Faults with `times: Infinity` need one use. */
  get unused(): readonly string[] {
    return this.#all.filter((fault) => fault.isUnused).map(String);
  }

  /** @throws Error with the faults that have not been used up */
  assertUsed(): void {
    const { unused } = this;
    if (unused.length > 0)
      throw new Error(`faults that no request has used up:\n${unused.map((fault) => `- ${fault}`).join("\n")}`);
  }

  /** Removes all faults. */
  clear(): void {
    this.#all = [];
  }

  /** @internal Applies the first fault that matches. @returns whether it has answered the request @throws ApiError */
  apply(request: InterceptedRequest, subject: Required<RequestMatch>): boolean | Promise<boolean> {
    return this.#all.find((fault) => fault.takes(subject))?.apply(request, subject) ?? false;
  }

  /** @internal Whether there are faults. */
  get isEmpty(): boolean {
    return this.#all.length === 0;
  }
}

class ActiveFault implements Fault {
  readonly #options: FaultOptions;
  readonly #effect: FaultEffect;
  readonly #times: number;
  #skip: number;
  used = 0;

  constructor(options: FaultOptions) {
    const { fault, skip = 0, times = 1 } = options;
    this.#options = options;
    this.#effect = typeof fault === "string" ? { type: fault } : fault;
    this.#skip = whole("skip", skip);
    this.#times = times === Number.POSITIVE_INFINITY ? times : whole("times", times);
  }

  get left(): number {
    return this.#times - this.used;
  }

  get isUnused(): boolean {
    return this.#times === Number.POSITIVE_INFINITY ? this.used === 0 : this.left > 0;
  }

  /** Counts a request that matches. @returns whether it gets the fault */
  takes(subject: Required<RequestMatch>): boolean {
    if (this.left <= 0 || !isMatch(subject, this.#options)) return false;
    if (this.#skip > 0) {
      this.#skip -= 1;
      return false;
    }
    this.used += 1;
    return true;
  }

  apply({ res, signal }: InterceptedRequest, subject: Required<RequestMatch>): boolean | Promise<boolean> {
    const effect = this.#effect;
    if (effect.type === "delay") return waited(effect.milliseconds, signal);
    if (effect.type === "disconnect") return effect.afterwards === true ? cutInsteadOfResponse(res) : cut(res);
    if (effect.type === "expired" && subject.verb === "watch") return answerWatch(res, ApiError.expired(TOO_OLD));
    throw errorOf(effect, subject);
  }

  toString(): string {
    const times =
      this.#times === Number.POSITIVE_INFINITY ? "any number of times" : `${this.used} of ${this.#times} times`;
    return `${this.#effect.type} for ${describeMatch(this.#options)}: used ${times}`;
  }
}

function errorOf(effect: FaultEffect, { group, resource, name }: Required<RequestMatch>): ApiError {
  switch (effect.type) {
    case "tooManyRequests":
      return ApiError.tooManyRequests("too many requests, please try again later", effect.retryAfter ?? 1);
    case "unavailable":
      return ApiError.serviceUnavailable("the server is currently unable to handle the request", effect.retryAfter);
    case "conflict":
      return ApiError.conflict(
        { group, resource },
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    case "error":
      return effect.error;
    default:
      return ApiError.expired(TOO_OLD);
  }
}

/** Waits, or until the client has left. @returns `false`: the request is then handled */
async function waited(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const never = milliseconds === Number.POSITIVE_INFINITY;
  do await delay(never ? 2 ** 30 : milliseconds, undefined, { signal }).catch(() => undefined);
  while (never && !signal.aborted);
  return false;
}

/** Cuts the connection where the response would begin. @returns `false`: the request is handled until then */
function cutInsteadOfResponse(res: InterceptedRequest["res"]): boolean {
  res.writeHead = () => {
    res.write = () => false;
    res.end = () => res;
    res.flushHeaders = () => undefined;
    cut(res);
    return res;
  };
  return false;
}

function whole(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value;
  throw new RangeError(`invalid ${name} ${value} of a fault: use a whole number from 0 on`);
}
