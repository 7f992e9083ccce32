import type { KeyPair } from "@virtual-workspaces/framework/tls";
import type { AgentOptions, NamedHub } from "./options.ts";

/** What an agent has to know when it is started again. */
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

  /** It is this from now on. */
  async certify(certificate: KeyPair): Promise<void> {
    this.#certificate = certificate;
    this.#kept = false;
    await this.keep();
  }

  /** There are these hubs now. */
  async learn(others: readonly NamedHub[]): Promise<void> {
    if (hubsText(others) !== hubsText(this.#others)) this.#kept = false;
    this.#others = others;
    await this.keep();
  }

  /** Has what is new kept, if it is not. */
  async keep(): Promise<void> {
    if (this.#kept || this.#certificate === undefined) return;
    const [certificate, others] = [this.#certificate, this.#others];
    try {
      await this.#options.keep({ certificate, others });
      // What came meanwhile is not.
      this.#kept = certificate === this.#certificate && others === this.#others;
    } catch (error) {
      // It is good all the same, until the agent ends.
      this.#options.onEvent?.({ type: "failed", what: "keep", error });
    }
  }
}

const hubsText = (hubs: readonly NamedHub[]): string =>
  JSON.stringify(
    hubs.map(({ id, url, ca }) => [id, url, ca]).sort(([one = ""], [other = ""]) => (one < other ? -1 : 1)),
  );
