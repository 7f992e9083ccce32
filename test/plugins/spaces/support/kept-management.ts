// A management cluster with a manager and an in-memory provider `here`. Each test has its own.
import { Space, type SpaceManagerOptions, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { KeptSpaces } from "./kept-spaces.ts";
import { type AnySpace, type Management, SECRET } from "./management.ts";

export class KeptManagement implements AsyncDisposable {
  readonly management: Management;
  readonly kept: KeptSpaces = new KeptSpaces();
  #running = new AsyncDisposableStack();

  private constructor(management: Management) {
    this.management = management;
  }

  static async start(management: Management): Promise<KeptManagement> {
    const started = new KeptManagement(management);
    await started.restart();
    await management.provide("here", { type: "kept" });
    await management.untilProvider("here", (one) => one?.status?.Phase === "Ready");
    return started;
  }

  /** Replaces the running manager. */
  async restart({ types = {}, ...options }: Partial<SpaceManagerOptions> = {}): Promise<void> {
    await this.#running.disposeAsync();
    this.#running = new AsyncDisposableStack();
    const all = { kept: this.kept.type, ...types };
    await this.#running.use(this.management.manager({ ...options, types: all })).started;
  }

  /** Runs a function for calls of the provider with this prefix, before they are answered. */
  on(call: string, what: (times: number, signal: AbortSignal) => Promise<void> | void): void {
    let times = 0;
    this.kept.before = (asked, signal) => (asked.startsWith(call) ? what(++times, signal) : undefined);
  }

  space(namespace: string, name: string): Promise<AnySpace> {
    return this.management.client.resource(Space).in(namespace).get(name);
  }

  async secrets(namespace: string): Promise<readonly (string | undefined)[]> {
    const { items } = await this.management.client.resource(SECRET).in(namespace).list();
    return items.map(({ metadata }) => metadata.name);
  }

  /** Deletes a Space and waits until it is gone. */
  async delete(namespace: string, name: string): Promise<void> {
    await this.management.client.resource(Space).in(namespace).delete(name);
    await this.management.until(namespace, name, (space) => space === undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kept.before = () => undefined;
    this.kept.said = undefined;
    const spaces = this.management.client.resource(Space);
    const { items } = await spaces.list();
    for (const { metadata } of items)
      await spaces
        .in(metadata.namespace ?? "")
        .delete(metadata.name ?? "")
        .catch(() => undefined);
    await this.management.client.resource(SpaceProviderDesc).deleteCollection();
    this.kept.spaces.clear();
    for (const { metadata } of items)
      await this.management.until(metadata.namespace ?? "", metadata.name ?? "", (space) => space === undefined);
    await this.management.untilProvider("here", (one) => one === undefined);
    await this.#running.disposeAsync();
  }
}
