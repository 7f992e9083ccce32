import { setTimeout as pause } from "node:timers/promises";
import type { PhysicalSpace, ProviderCall, SpaceAccess, SpaceProvider } from "./provider.ts";

/** A provider has too much to do. */
export class ProviderBusy extends Error {
  /** When to ask again, ms. */
  readonly retryAfter: number;

  constructor(message: string, retryAfter = 500) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** Calls of one provider that are under way at once: one that hangs is to stop nobody else. */
const MOST_CALLS = 16;

/** A provider, as the manager asks it: no call takes longer than it may, whether or not the provider minds the signal, and what it says is checked. */
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

  /** @throws Error with what the provider says, or that it does not answer */
  list(call: ProviderCall): Promise<ReadonlyMap<string, PhysicalSpace>> {
    return this.#bounded("list", call, async (bounded) => checkedList(await this.#provider.list(bounded)));
  }

  /** One, at the pace of whoever follows them all. @throws as {@link list} */
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
    if (this.#running >= MOST_CALLS) throw new ProviderBusy(`its provider has ${MOST_CALLS} calls to answer already`);
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

/** The longest kubeconfig that is taken, characters: a Secret holds 1 MiB. */
const LONGEST = 256 * 1024;
const LONGEST_TEXT = 253;
const LONGEST_MESSAGE = 1024;

/** What a provider says, as far as it can be believed. @throws Error that says what cannot */
function checkedSpace(said: PhysicalSpace): PhysicalSpace {
  const { name, id, phase, message, externalName, accessVersion } = said;
  if (!isText(name)) throw new Error(`it has a space of which it says no name of 1 to ${LONGEST_TEXT} characters`);
  const about = `of the space ${JSON.stringify(name)} it says`;
  if (phase !== "Initializing" && phase !== "Ready") throw new Error(`${about} no phase: Initializing or Ready`);
  for (const [field, value] of Object.entries({ id, externalName, accessVersion }))
    if (value !== undefined && !isText(value))
      throw new Error(`${about} an ${field} that is not 1 to ${LONGEST_TEXT} characters`);
  return {
    name,
    phase,
    ...(id !== undefined && { id }),
    ...(message !== undefined && phase !== "Ready" && { message: String(message).slice(0, LONGEST_MESSAGE) }),
    ...(externalName !== undefined && { externalName }),
    ...(accessVersion !== undefined && { accessVersion }),
  };
}

/** All of a list. @throws Error that says what cannot be believed */
function checkedList(said: readonly PhysicalSpace[]): ReadonlyMap<string, PhysicalSpace> {
  if (!Array.isArray(said)) throw new Error("it has answered without a list of spaces");
  const spaces = new Map<string, PhysicalSpace>();
  for (const one of said as readonly PhysicalSpace[]) {
    const space = checkedSpace(one);
    if (spaces.has(space.name)) throw new Error(`it has two spaces of the name ${JSON.stringify(space.name)}`);
    spaces.set(space.name, space);
  }
  return spaces;
}

/** How a space is reached. @throws Error that says what cannot be believed */
function checkedAccess(said: SpaceAccess): SpaceAccess {
  const { incluster, external } = said;
  for (const kubeconfig of [incluster, external])
    if (kubeconfig !== undefined && !(typeof kubeconfig === "string" && kubeconfig.length <= LONGEST))
      throw new Error(`its provider gives a kubeconfig that is no text of at most ${LONGEST} characters`);
  // What is empty is not there.
  if (!incluster && !external) throw new Error("its provider gives no access to it");
  return { ...(incluster && { incluster }), ...(external && { external }) };
}

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= LONGEST_TEXT;

/** A provider has not answered in time: what it was to do may be done, or not. */
export class ProviderTimeout extends Error {}

/** How long something may take. */
interface TimeLimit {
  /** ms */
  readonly timeout: number;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** What a provider does, for as long as it may take, whether or not it minds the signal. @throws ProviderTimeout; the signal's reason; what `ask` throws */
export async function withTimeout<T>(
  what: string,
  { timeout, signal: wanted }: TimeLimit,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const signal = AbortSignal.any([wanted, over.signal]);
  const late = pause(timeout, undefined, { signal }).then(() => {
    throw new ProviderTimeout(`its provider has not answered ${what} within ${timeout / 1000} s`);
  });
  try {
    return await Promise.race([ask(signal), late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
