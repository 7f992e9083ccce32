import { SecretFault, secretKubeconfig } from "@virtual-workspaces/kcp/targets";
import type { PhysicalSpace, ProviderContext, SpaceProvider, SpaceProviderType } from "../provider/provider.ts";
import { digestOf } from "./reached-server.ts";

/**
 * Clusters that are there already, as a list: the Secret of a SpaceProviderDesc has a kubeconfig of each, by its name. Nothing in a kubeconfig is run, and no file of
 * the manager's machine is read. None can be made here, or deleted: Spaces of them are unmanaged.
 */
export function kubeconfigsProvider(): SpaceProviderType {
  return { needsSecret: true, open: ({ secret }: ProviderContext) => new Kubeconfigs(secret) };
}

class Kubeconfigs implements SpaceProvider {
  readonly #texts: ReadonlyMap<string, string>;

  constructor(secret: Readonly<Record<string, string>>) {
    this.#texts = new Map(Object.entries(secret));
  }

  async list(): Promise<readonly PhysicalSpace[]> {
    return [...this.#texts.keys()].flatMap((name) => this.#space(name) ?? []);
  }

  async get(name: string): Promise<PhysicalSpace | undefined> {
    return this.#space(name);
  }

  async access(name: string): Promise<{ readonly external: string }> {
    return { external: this.#texts.get(name) ?? "" };
  }

  #space(name: string): PhysicalSpace | undefined {
    const text = this.#texts.get(name);
    if (text === undefined) return undefined;
    try {
      const { server } = secretKubeconfig(text);
      // Whoever is at another address is another one; who it is there may change.
      return { name, id: server.slice(0, 253), phase: "Ready", accessVersion: digestOf(text) };
    } catch (error) {
      if (!(error instanceof SecretFault)) throw error;
      return { name, phase: "Initializing", message: error.message };
    }
  }
}
