// A space that is not a workspace: an API server with in-memory config maps and a short history, over a connection that a test can
// interrupt.
import {
  allow,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  type Resource,
  staticTokens,
} from "@virtual-workspaces/framework";
import { type PlainServer, startPlain } from "../../../_support/plain.ts";
import { type Relay, startRelay } from "../../../_support/relay.ts";
import type { Lent } from "./lent.ts";

type Maps = { readonly data?: Readonly<Record<string, string>> };

/** Returns the resource that is served as config maps. */
export const plainMaps = (kind = "ConfigMap"): Resource<Maps> =>
  defineResource({
    group: "",
    version: "v1",
    kind,
    plural: "configmaps",
    scope: "Namespaced",
    schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
  }) as unknown as Resource<Maps>;

export class PlainSpace implements AsyncDisposable {
  readonly maps: Collection<Maps>;
  readonly wire: Relay;
  readonly #server: PlainServer;
  #isAway = false;

  private constructor(maps: Collection<Maps>, server: PlainServer, wire: (port: () => number) => Relay) {
    this.maps = maps;
    this.#server = server;
    const { port } = new URL(server.url);
    this.wire = wire(() => (this.#isAway ? 1 : Number(port)));
  }

  /** Starts a server and creates the imported Space `default/<name>` for it. */
  static async lend(lent: Lent, name: string, kind = plainMaps()): Promise<PlainSpace> {
    const maps = kind.collection({ history: { events: 4 } });
    const view = defineVirtualWorkspace({
      name: "plain",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [kind.serve(maps)],
    });
    const server = await startPlain([view], { authentication: [staticTokens({ root: { name: "root" } })] });
    let port = (): number => 1;
    const wire = await startRelay(() => port());
    const space = new PlainSpace(maps, server, (to) => {
      port = to;
      return wire;
    });
    const kubeconfig = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": name,
      clusters: [{ name, cluster: { server: `http://127.0.0.1:${wire.port}/services/plain/clusters/root` } }],
      users: [{ name, user: { token: "root" } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    });
    for (const scope of ["incluster", "external"]) await lent.management.keep(`${scope}-${name}`, { kubeconfig });
    await lent.management.make("default", name, { Type: "imported" });
    return space;
  }

  /** Creates or changes a config map in the namespace `default`. */
  put(name: string, soup: string): void {
    this.maps.in("root", "default").set(name, { data: { soup } });
  }

  take(name: string): void {
    this.maps.in("root", "default").delete(name);
  }

  /** Makes the server unreachable. */
  down(): void {
    this.#isAway = true;
    this.wire.cut();
  }

  up(): void {
    this.#isAway = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.wire[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
  }
}
