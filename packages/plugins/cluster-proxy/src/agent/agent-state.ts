import type { KeyPair } from "@virtual-workspaces/framework/tls";
import type { AgentOptions, NamedHub } from "./options.ts";

/** State that an agent needs after a restart. */
export class AgentState {
  readonly #options: Pick<AgentOptions, "keep" | "onEvent">;
  #certificate: KeyPair | undefined;
  #others: readonly NamedHub[];
  #kept = true;

  constructor(options: Pick<AgentOptions, "certificate" | "others" | "keep" | "onEvent">) {
    this.#options = options;
    this.#certificate = options.certificate;
    this.#others = options.others ?? [];
  }

  get certificate(): KeyPair | undefined {
    return this.#certificate;
  }

  get others(): readonly NamedHub[] {
    return this.#others;
  }

  /** Replaces the certificate. */
  async certify(certificate: KeyPair): Promise<void> {
    this.#certificate = certificate;
    this.#kept = false;
    await this.keep();
  }

  /** Replaces the list of other hubs. */
  async learn(others: readonly NamedHub[]): Promise<void> {
    if (hubsText(others) !== hubsText(this.#others)) this.#kept = false;
    this.#others = others;
    await this.keep();
  }

  /** Stores the state if it has changed. */
  async keep(): Promise<void> {
    if (this.#kept || this.#certificate === undefined) return;
    const [certificate, others] = [this.#certificate, this.#others];
    try {
      await this.#options.keep({ certificate, others });
      // A change during the call is not stored yet.
      this.#kept = certificate === this.#certificate && others === this.#others;
    } catch (error) {
      // The state remains valid until the agent ends.
      this.#options.onEvent?.({ type: "failed", what: "keep", error });
    }
  }
}

const hubsText = (hubs: readonly NamedHub[]): string =>
  JSON.stringify(
    hubs.map(({ id, url, ca }) => [id, url, ca]).sort(([one = ""], [other = ""]) => (one < other ? -1 : 1)),
  );
