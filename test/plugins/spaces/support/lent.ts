// Workspaces as imported Spaces, each over a connection that a test can interrupt, with credentials that it can replace.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import type { SpaceManager, Spaces } from "@virtual-workspaces/spaces";
import { type Relay, startRelay } from "../../../_support/relay.ts";
import { makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { isReady, MAP, Management, SECRET } from "./management.ts";

export type AnyMap = ObjectOf<{ readonly data?: Readonly<Record<string, string>> }>;

export class Lent implements AsyncDisposable {
  readonly management: Management;
  readonly wires = new Map<string, Relay>();
  readonly #workspaces = new Set<string>();
  /** Ports that connections lead to instead of the server. */
  readonly #astray = new Map<string, number>();
  readonly #stack = new AsyncDisposableStack();

  private constructor(management: Management, manager: SpaceManager) {
    this.management = this.#stack.use(management);
    this.#stack.use(manager);
  }

  /** Starts a management cluster with a manager, and Spaces `default/<name>` of workspaces with these names. */
  static async start(...names: readonly string[]): Promise<Lent> {
    const management = await Management.start();
    const manager = management.manager();
    const lent = new Lent(management, manager);
    await manager.started;
    for (const name of names) await lent.lend(name);
    return lent;
  }

  /** Creates a workspace and a Space, and waits until it is Ready. */
  async lend(name: string): Promise<void> {
    if (!this.#workspaces.has(name)) await makeWorkspace(this.management.server, name);
    this.#workspaces.add(name);
    await this.show(name);
    await this.management.make("default", name, { Type: "imported" });
    await this.management.until("default", name, isReady);
  }

  /** Opens another address for a Space and writes it to its Secrets. */
  async show(name: string, token = "root"): Promise<Relay> {
    const port = Number(new URL(this.management.server.url).port);
    const wire = this.#stack.use(await startRelay(() => this.#astray.get(name) ?? port));
    this.wires.set(name, wire);
    await this.rotate(name, token);
    return wire;
  }

  /** Makes the server of a Space unreachable. */
  down(name: string): void {
    this.#astray.set(name, NOBODY);
    this.wires.get(name)?.cut();
  }

  /** Replaces the server by one that accepts connections and does not respond. */
  async silence(name: string): Promise<void> {
    const silent = createServer((socket) => socket.resume().on("error", () => undefined)).listen(0, "127.0.0.1");
    this.#stack.defer(() => void silent.close());
    await once(silent, "listening");
    this.#astray.set(name, (silent.address() as AddressInfo).port);
    this.wires.get(name)?.cut();
  }

  up(name: string): void {
    this.#astray.delete(name);
  }

  /** Replaces the credential in the Secrets of a Space. */
  async rotate(name: string, token: string): Promise<void> {
    const url = `http://127.0.0.1:${this.wires.get(name)?.port}`;
    const kubeconfig = this.management.kubeconfig(`root:${name}`, token, url);
    for (const scope of ["incluster", "external"]) await this.management.keep(`${scope}-${name}`, { kubeconfig });
  }

  /** Returns a client of the workspace itself. */
  inside(name: string): Client {
    return this.management.client.cluster(`root:${name}`);
  }

  /** Creates or changes a ConfigMap there. */
  async put(space: string, name: string, data: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.inside(space)
      .resource(MAP)
      .in("default")
      .apply({ metadata: { name }, data } as never, { force: true });
  }

  async take(space: string, name: string): Promise<void> {
    await this.inside(space).resource(MAP).in("default").delete(name);
  }

  /** Deletes the external access Secret of a Space. */
  async conceal(space: string): Promise<void> {
    await this.management.client.resource(SECRET).in("default").delete(`external-${space}`);
  }

  remove(space: string): Promise<void> {
    return this.management.removeSpace("default", space);
  }

  /** Deletes a Space and empties its workspace. */
  async giveBack(space: string): Promise<void> {
    this.up(space);
    const maps = this.inside(space).resource(MAP).in("default");
    for (const { metadata } of (await maps.all()).items) await maps.delete(metadata.name ?? "");
    await this.remove(space);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** A port without a listener. */
const NOBODY = 1;

/** Waits until a condition of the Spaces holds. */
export async function when(spaces: Spaces, is: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (is()) resolve();
  };
  using _ = spaces.onChange(look);
  look();
  await promise;
}
