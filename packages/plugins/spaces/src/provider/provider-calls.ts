import { setTimeout as pause } from "node:timers/promises";
import type { PhysicalSpace, ProviderCall, SpaceAccess, SpaceProvider } from "./provider.ts";

/** Error of a call to a provider that already has too many calls in progress. */
export class ProviderBusy extends Error {
  /** Delay before the next attempt, ms. */
  readonly retryAfter: number;

  constructor(message: string, retryAfter = 500) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** Maximum number of concurrent calls of one provider. A limit per provider keeps one that hangs from blocking others. */
const MOST_CALLS = 16;

/** Calls of a provider by the manager: each has a timeout, even if the provider ignores the signal, and its result is validated. */
export class ProviderCalls {
  readonly #provider: SpaceProvider;
  readonly #timeout: number;
  #running = 0;

  /** @param timeout ms */
  constructor(provider: SpaceProvider, timeout: number) {
    this.#provider = provider;
    this.#timeout = timeout;
  }

  get canCreate(): boolean {
    return this.#provider.create !== undefined;
  }

  get canDelete(): boolean {
    return this.#provider.delete !== undefined;
  }

  get watch(): SpaceProvider["watch"] {
    return this.#provider.watch?.bind(this.#provider);
  }

  /** @throws Error from the provider, or ProviderTimeout */
  list(call: ProviderCall): Promise<ReadonlyMap<string, PhysicalSpace>> {
    return this.#bounded("list", call, async (bounded) => checkedList(await this.#provider.list(bounded)));
  }

  /** Gets one space outside the call limit, for the reflector. @throws as {@link list} */
  poll(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    return this.#bounded("get", call, (bounded) => this.#get(name, bounded));
  }

  /** @throws as {@link list}; ProviderBusy */
  get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    return this.#limited("get", call, (bounded) => this.#get(name, bounded));
  }

  /** @throws as {@link get} */
  access(name: string, call: ProviderCall): Promise<SpaceAccess> {
    return this.#limited("access", call, async (bounded) => checkedAccess(await this.#provider.access(name, bounded)));
  }

  /** @throws as {@link get} */
  create(name: string, call: ProviderCall): Promise<void> {
    return this.#limited("create", call, async (bounded) => this.#provider.create?.(name, bounded));
  }

  /** @throws as {@link get} */
  delete(name: string, call: ProviderCall): Promise<void> {
    return this.#limited("delete", call, async (bounded) => this.#provider.delete?.(name, bounded));
  }

  async #get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    const space = await this.#provider.get(name, call);
    return space === undefined ? undefined : checkedSpace({ ...space, name });
  }

  async #limited<T>(what: string, call: ProviderCall, ask: (call: ProviderCall) => Promise<T>): Promise<T> {
    if (this.#running >= MOST_CALLS) throw new ProviderBusy(`the provider already has ${MOST_CALLS} calls in progress`);
    this.#running += 1;
    try {
      return await this.#bounded(what, call, ask);
    } finally {
      this.#running -= 1;
    }
  }

  #bounded<T>(what: string, call: ProviderCall, ask: (call: ProviderCall) => Promise<T>): Promise<T> {
    const { signal } = call;
    return withTimeout(what, { timeout: this.#timeout, signal }, (bounded) => ask({ ...call, signal: bounded }));
  }
}

/** Maximum length of a kubeconfig, characters. A Secret holds 1 MiB. */
const LONGEST = 256 * 1024;
const LONGEST_TEXT = 253;
const LONGEST_MESSAGE = 1024;

/** Validates a space that a provider returned. @throws Error that names the invalid field */
function checkedSpace(said: PhysicalSpace): PhysicalSpace {
  const { name, id, phase, message, externalName, accessVersion } = said;
  if (!isText(name))
    throw new Error(`the provider returned a space without a valid name: use 1 to ${LONGEST_TEXT} characters`);
  const about = `the provider returned the space ${JSON.stringify(name)} with`;
  if (phase !== "Initializing" && phase !== "Ready")
    throw new Error(`${about} an invalid phase: use "Initializing" or "Ready"`);
  for (const [field, value] of Object.entries({ id, externalName, accessVersion }))
    if (value !== undefined && !isText(value))
      throw new Error(`${about} an invalid ${field}: use 1 to ${LONGEST_TEXT} characters`);
  return {
    name,
    phase,
    ...(id !== undefined && { id }),
    ...(message !== undefined && phase !== "Ready" && { message: String(message).slice(0, LONGEST_MESSAGE) }),
    ...(externalName !== undefined && { externalName }),
    ...(accessVersion !== undefined && { accessVersion }),
  };
}

/** Validates a whole list. @throws Error that names the invalid field */
function checkedList(said: readonly PhysicalSpace[]): ReadonlyMap<string, PhysicalSpace> {
  if (!Array.isArray(said)) throw new Error("the provider did not return a list of spaces");
  const spaces = new Map<string, PhysicalSpace>();
  for (const one of said as readonly PhysicalSpace[]) {
    const space = checkedSpace(one);
    if (spaces.has(space.name))
      throw new Error(`the provider returned two spaces with the name ${JSON.stringify(space.name)}`);
    spaces.set(space.name, space);
  }
  return spaces;
}

/** Validates the kubeconfigs of a space. @throws Error that names the problem */
function checkedAccess(said: SpaceAccess): SpaceAccess {
  const { incluster, external } = said;
  for (const kubeconfig of [incluster, external])
    if (kubeconfig !== undefined && !(typeof kubeconfig === "string" && kubeconfig.length <= LONGEST))
      throw new Error(`the provider returned an invalid kubeconfig: use a string of at most ${LONGEST} characters`);
  // An empty kubeconfig counts as missing.
  if (!incluster && !external) throw new Error("the provider returned no kubeconfig for the space");
  return { ...(incluster && { incluster }), ...(external && { external }) };
}

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= LONGEST_TEXT;

/** Error of a call that the provider did not answer in time. The provider may have done the work or not. */
export class ProviderTimeout extends Error {}

/** Time limit of a call. */
interface TimeLimit {
  /** ms */
  readonly timeout: number;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
}

/** Runs a call with a time limit, even if it ignores the signal. @throws ProviderTimeout; the signal's reason; errors of `ask` */
export async function withTimeout<T>(
  what: string,
  { timeout, signal: wanted }: TimeLimit,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const signal = AbortSignal.any([wanted, over.signal]);
  const late = pause(timeout, undefined, { signal }).then(() => {
    throw new ProviderTimeout(`the provider did not answer ${what} within ${timeout / 1000} s`);
  });
  try {
    return await Promise.race([ask(signal), late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
