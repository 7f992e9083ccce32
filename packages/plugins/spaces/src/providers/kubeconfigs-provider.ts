import { SecretFault, secretKubeconfig } from "@virtual-workspaces/kcp/targets";
import type { PhysicalSpace, ProviderContext, SpaceProvider, SpaceProviderType } from "../provider/provider.ts";
import { digestOf } from "./reached-server.ts";

/**
 * Provider type for existing clusters: the Secret of a SpaceProviderDesc has the kubeconfig of each cluster under its name. The provider
 * cannot create or delete clusters, so their Spaces are unmanaged. Security: a kubeconfig cannot run programs or read files of the
 * manager's machine.
 */
export function kubeconfigsProvider(): SpaceProviderType {
  return {
    needsSecret: true,
    place: ({ secret }) => `kubeconfigs ${digestOf(JSON.stringify(Object.entries(secret).sort()))}`,
    open: ({ secret }: ProviderContext) => new Kubeconfigs(secret),
  };
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
      // The address identifies a cluster; its credentials may change.
      return { name, id: server.slice(0, 253), phase: "Ready", accessVersion: digestOf(text) };
    } catch (error) {
      if (!(error instanceof SecretFault)) throw error;
      return { name, phase: "Initializing", message: error.message };
    }
  }
}
