import { checkedAccess, checkedList, checkedSpace } from "./checked.ts";
import type { PhysicalSpace, ProviderCall, SpaceAccess, SpaceProvider } from "./provider.ts";
import { within } from "./within.ts";

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
const MOST = 16;

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
    return this.#within("list", call, async (bounded) => checkedList(await this.#provider.list(bounded)));
  }

  /** One, at the pace of whoever follows them all. @throws as {@link list} */
  look(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    return this.#within("get", call, (bounded) => this.#get(name, bounded));
  }

  /** @throws as {@link list}; ProviderBusy */
  get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    return this.#inTurn("get", call, (bounded) => this.#get(name, bounded));
  }

  /** @throws as {@link get} */
  access(name: string, call: ProviderCall): Promise<SpaceAccess> {
    return this.#inTurn("access", call, async (bounded) => checkedAccess(await this.#provider.access(name, bounded)));
  }

  /** @throws as {@link get} */
  create(name: string, call: ProviderCall): Promise<void> {
    return this.#inTurn("create", call, async (bounded) => this.#provider.create?.(name, bounded));
  }

  /** @throws as {@link get} */
  delete(name: string, call: ProviderCall): Promise<void> {
    return this.#inTurn("delete", call, async (bounded) => this.#provider.delete?.(name, bounded));
  }

  async #get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    const space = await this.#provider.get(name, call);
    return space === undefined ? undefined : checkedSpace({ ...space, name });
  }

  async #inTurn<T>(what: string, call: ProviderCall, ask: (call: ProviderCall) => Promise<T>): Promise<T> {
    if (this.#running >= MOST) throw new ProviderBusy(`its provider has ${MOST} calls to answer already`);
    this.#running += 1;
    try {
      return await this.#within(what, call, ask);
    } finally {
      this.#running -= 1;
    }
  }

  #within<T>(what: string, call: ProviderCall, ask: (call: ProviderCall) => Promise<T>): Promise<T> {
    const { signal } = call;
    return within(what, { timeout: this.#timeout, signal }, (bounded) => ask({ ...call, signal: bounded }));
  }
}
