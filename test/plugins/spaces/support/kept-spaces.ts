// In-memory provider that a test can make fail, delay or return wrong results.
import type {
  PhysicalSpace,
  ProviderChange,
  SpaceAccess,
  SpaceProvider,
  SpaceProviderType,
} from "@virtual-workspaces/spaces";

export class KeptSpaces implements SpaceProvider {
  readonly spaces = new Map<string, PhysicalSpace>();
  /** Calls in order. */
  readonly calls: string[] = [];
  /** Runs before each call, and may throw or wait. */
  before: (call: string, signal: AbortSignal) => Promise<void> | void = () => undefined;
  /** Wrong result of `list`, if any. */
  said: readonly PhysicalSpace[] | undefined;
  /** Whether new spaces are ready at once. */
  readyAtOnce = true;
  /** Token in the kubeconfigs. */
  token = "first";
  #ids = 0;
  readonly #watching = new Set<(change: ProviderChange) => void>();

  /** Provider type that always opens this provider. */
  get type(): SpaceProviderType {
    return { open: () => this };
  }

  /** Creates or changes a space outside the manager. */
  set(name: string, space: Partial<PhysicalSpace> = {}): void {
    const before = this.spaces.get(name) ?? { name, id: `${name}-${++this.#ids}`, phase: "Ready" };
    this.spaces.set(name, { ...before, ...space });
    this.#tell({ name });
  }

  /** Reports a change of any space. */
  nudge(): void {
    this.#tell({});
  }

  /** Deletes a space outside the manager. */
  remove(name: string): void {
    this.spaces.delete(name);
    this.#tell({ name });
  }

  async list({ signal }: { readonly signal: AbortSignal }): Promise<readonly PhysicalSpace[]> {
    await this.#asked("list", signal);
    return this.said ?? [...this.spaces.values()];
  }

  async get(name: string, { signal }: { readonly signal: AbortSignal }): Promise<PhysicalSpace | undefined> {
    await this.#asked(`get ${name}`, signal);
    return this.spaces.get(name);
  }

  async access(name: string, { signal }: { readonly signal: AbortSignal }): Promise<SpaceAccess> {
    await this.#asked(`access ${name}`, signal);
    return { external: kubeconfigOf(name, this.token) };
  }

  async create(name: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.#asked(`create ${name}`, signal);
    if (!this.spaces.has(name)) this.set(name, { phase: this.readyAtOnce ? "Ready" : "Initializing" });
  }

  async delete(name: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.#asked(`delete ${name}`, signal);
    if (this.spaces.has(name)) this.remove(name);
  }

  async *watch({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<ProviderChange, void, undefined> {
    const changes: ProviderChange[] = [];
    let wake = (): void => undefined;
    const hear = (change: ProviderChange): void => {
      changes.push(change);
      wake();
    };
    this.#watching.add(hear);
    signal.addEventListener("abort", () => wake(), { once: true });
    try {
      while (!signal.aborted) {
        yield* changes.splice(0);
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        if (changes.length === 0 && !signal.aborted) await promise;
      }
    } finally {
      this.#watching.delete(hear);
    }
  }

  async #asked(call: string, signal: AbortSignal): Promise<void> {
    this.calls.push(call);
    await this.before(call, signal);
  }

  #tell(change: ProviderChange): void {
    for (const hear of this.#watching) hear(change);
  }
}

/** Returns a kubeconfig for a server that does not exist. */
export function kubeconfigOf(name: string, token: string, server = `https://${name}.example.com`): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
