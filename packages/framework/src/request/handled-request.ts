import type { Cancellation } from "@virtual-workspaces/transport";
import type { RawRequest } from "./raw-request.ts";
import type { User } from "./user.ts";

type Params = Readonly<Record<string, string>>;

/** Members of a raw request that are made on first read. */
export interface LazyMembers {
  readonly signal: AbortSignal;
  readonly ending: AbortSignal;
  readonly via: string;
  readonly loginFailed: () => void;
  readonly takeTime: () => void;
  /** Is cancelled when {@link signal} aborts. `undefined`: only the signal knows. */
  readonly cancellation: Cancellation | undefined;
}

/** Other members of a raw request. */
export type PlainMembers = Omit<RawRequest<Params>, Exclude<keyof LazyMembers, "cancellation">>;

const NONE: readonly string[] = [];
const LAZY: ReadonlySet<string> = new Set(["signal", "ending", "via", "loginFailed", "takeTime", "cancellation"]);

/**
 * Request argument of raw handlers, with the members of {@link RawRequest}. A class, as every proxied request makes one: an object with
 * getters of its own has a hidden class of its own, which keeps the request in memory until the next full collection.
 */
export class HandledRequest implements RawRequest<Params> {
  readonly user: User;
  readonly params: Params;
  readonly requestId: string;
  readonly prefix: string;
  readonly tail: string;
  readonly search: string;
  readonly hops: number;
  readonly token: string | undefined;
  readonly impersonation: readonly string[] | undefined;
  readonly #from: LazyMembers;
  /** Lazy members of its own, read through these changes. */
  readonly #changes: Partial<LazyMembers> | undefined;
  /** Names of members that subresources and upgrades have added. */
  #more: readonly string[] = NONE;

  /** @param from makes the lazy members that `changes` lacks */
  constructor(plain: PlainMembers, from: LazyMembers, changes?: Partial<LazyMembers>) {
    this.user = plain.user;
    this.params = plain.params;
    this.requestId = plain.requestId;
    this.prefix = plain.prefix;
    this.tail = plain.tail;
    this.search = plain.search;
    this.hops = plain.hops;
    this.token = plain.token;
    this.impersonation = plain.impersonation;
    this.#from = from;
    this.#changes = changes;
  }

  get signal(): AbortSignal {
    return this.#changes?.signal ?? this.#from.signal;
  }

  get ending(): AbortSignal {
    return this.#changes?.ending ?? this.#from.ending;
  }

  get via(): string {
    return this.#changes?.via ?? this.#from.via;
  }

  get loginFailed(): () => void {
    return this.#changes?.loginFailed ?? this.#from.loginFailed;
  }

  get takeTime(): () => void {
    return this.#changes?.takeTime ?? this.#from.takeTime;
  }

  /** Costs less than {@link signal}. `undefined`: only the signal knows when the request ends. */
  get cancellation(): Cancellation | undefined {
    const changes = this.#changes;
    if (changes === undefined) return this.#from.cancellation;
    if (changes.cancellation !== undefined) return changes.cancellation;
    return "signal" in changes ? undefined : this.#from.cancellation;
  }

  /** Returns a request with `changes`. Lazy members stay lazy. */
  derive<Changes extends object>(changes: Changes): this & Changes {
    const derived = new HandledRequest(this, this, changes);
    for (const name of this.#more) copy(name, this, derived);
    for (const name of Object.getOwnPropertyNames(changes)) {
      if (LAZY.has(name)) continue;
      if (!(name in derived)) derived.#more = [...derived.#more, name];
      copy(name, changes, derived);
    }
    derived.#more = this.#more.length === 0 ? derived.#more : [...this.#more, ...derived.#more];
    return derived as this & Changes;
  }
}

/** Copies a member. A getter stays one. */
function copy(name: string, from: object, to: object): void {
  const member = Object.getOwnPropertyDescriptor(from, name) as PropertyDescriptor;
  if (member.get === undefined) (to as Record<string, unknown>)[name] = member.value;
  else Object.defineProperty(to, name, { enumerable: true, configurable: true, get: () => Reflect.get(from, name) });
}

/**
 * Returns the cancellation of a raw request: it ends with the request as its signal does, at a fraction of the cost. A derived request
 * with another `signal` has none, unless its changes name one too.
 *
 * @returns `undefined` when only the signal knows
 */
export function cancellationOf(request: RawRequest<unknown>): Cancellation | undefined {
  return request instanceof HandledRequest ? request.cancellation : undefined;
}
