// An export whose widgets a view keeps, a workspace that binds it, and a view that tells what it was asked, and by whom.
import type { IncomingMessage } from "node:http";
import { allow, defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { crdManifest, exportManifests } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import type { Answer, Calls } from "../../../_support/plain.ts";
import { define, grant, makeWorkspace } from "../../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../../support/objects.ts";
import { startWorkspaces, type Workspaces, type WorkspacesOptions } from "../../support/workspaces.ts";

const APIS = "/apis/apis.kcp.io/v1alpha2";
export const GROUP = "/apis/example.dev/v1";
export const WIDGETS = `${GROUP}/widgets`;
const SHELVES = `${GROUP}/shelves`;
export const root = { user: "root" };

export const Widget = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  scope: "Cluster",
  spec: { type: "object", properties: { size: { type: "integer" } } },
  status: { type: "object", properties: { phase: { type: "string" } } },
});
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
const Shelf = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Shelf",
  plural: "shelves",
  scope: "Cluster",
  schema: { type: "object", properties: { status: open } },
  subresources: { status: false },
});

/** What an answer of {@link echo} says. */
export interface Told {
  readonly path: string;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly hops: number;
  readonly headers: IncomingMessage["rawHeaders"];
}

/** Says what it was asked; of discovery, that widgets can be read. */
export function echo(name: string, told: Told[] = []): VirtualWorkspace {
  const verbs = ["get", "list", "watch"];
  const resources = [
    { name: "widgets", namespaced: false, kind: "Widget", verbs },
    { name: "widgets/status", namespaced: false, kind: "Widget", verbs: ["get"] },
  ];
  return defineVirtualWorkspace({
    name,
    path: "/",
    authorize: () => allow(),
    handle: (req, res, { tail, search, user, hops }) => {
      const { name: caller, groups } = user;
      const said = { path: tail + search, user: { name: caller, groups }, hops, headers: req.rawHeaders };
      told.push(said);
      res.setHeader("content-type", "application/json");
      const list = { kind: "APIResourceList", apiVersion: "v1", groupVersion: "example.dev/v1", resources };
      res.end(JSON.stringify(tail.endsWith("/clusters/*/apis/example.dev/v1") ? list : { view: name, ...said }));
    },
    upgrade: (_req, socket, { tail, user, head }) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      socket.write(`${user.name} ${tail} `);
      socket.write(head);
      socket.on("error", () => undefined).pipe(socket);
    },
  });
}

/** The server with all that. */
export class Kept implements AsyncDisposable {
  readonly server: Workspaces;
  /** The logical cluster of the export. */
  readonly provider: string;
  /** The one that binds it, in which `alice` may read, and `bob` nothing. */
  readonly shop: string;

  private constructor(server: Workspaces, provider: string, shop: string) {
    this.server = server;
    this.provider = provider;
    this.shop = shop;
  }

  static async start(options: WorkspacesOptions): Promise<Kept> {
    return Kept.on(await startWorkspaces(undefined, options));
  }

  /** On a server that has been started, which is closed with it. @param place makes the workspace that binds */
  static async on(server: Workspaces, place = (name: string) => makeWorkspace(server, name)): Promise<Kept> {
    const provider = await makeWorkspace(server, "provider");
    const of = new ClusterClient(server, provider);
    await define(server, provider, [crdManifest(Shelf)]);
    await of.create(SHELVES, { apiVersion: "example.dev/v1", kind: "Shelf", metadata: { name: "main" } });
    const reference = { apiGroup: "example.dev", kind: "Shelf", name: "main" };
    const storage = { virtual: { reference, identityHash: "shelf" } };
    for (const object of exportManifests({ name: "widgets", resources: [Widget], storage }))
      await of.create(`/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`, object);
    const shop = await place("shop");
    const kept = new Kept(server, provider, shop);
    await kept.bind(shop);
    await grant(server, shop, { user: "alice", verbs: ["get", "list", "watch"] });
    return kept;
  }

  async bind(cluster: string): Promise<void> {
    const client = new ClusterClient(this.server, cluster);
    const reference = { export: { path: this.provider, name: "widgets" } };
    const about = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "widgets" } };
    await client.create(`${APIS}/apibindings`, { ...about, spec: { reference } });
    const bound = await client.until(`${APIS}/apibindings/widgets`, ({ body }) => body.status?.phase === "Bound");
    expect(bound.body.status.boundResources).to.have.length(1);
    expect(bound.body.status.boundResources[0]).to.not.have.property("storageVersions");
  }

  /** Says where the view is. */
  async says(...endpoints: readonly unknown[]): Promise<void> {
    await this.shelf({ endpoints });
  }

  async shelf(status: unknown): Promise<void> {
    await new ClusterClient(this.server, this.provider).patch(`${SHELVES}/main`, { status: null });
    await new ClusterClient(this.server, this.provider).patch(`${SHELVES}/main`, { status });
  }

  /** In the workspace that binds. */
  get in(): Calls {
    const at = (path: string): string => `/clusters/${this.shop}${path}`;
    return {
      get: (path, options = root) => this.server.get(at(path), options),
      send: (call, body, options = root) => {
        const [method = "", path = ""] = call.split(" ", 2);
        return this.server.send(`${method} ${at(path)}` as `GET /`, body, options);
      },
      watch: (path, options = root) => this.server.watch(at(path), options),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

/** The body of an answer that is a failure's, checked to be a Status. */
export function failed({ status, body, text }: Answer): Body {
  expect(body, text).to.include({ kind: "Status", status: "Failure", code: status });
  return body;
}
