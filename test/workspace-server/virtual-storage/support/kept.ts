// An export whose widgets a view stores, a workspace that binds it, and a view that records its requests.
import type { IncomingMessage } from "node:http";
import {
  allow,
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  groups,
  union,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
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

const Widget = defineResource({
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

/** Answer of {@link echo}. */
export interface Told {
  readonly path: string;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly hops: number;
  readonly headers: IncomingMessage["rawHeaders"];
}

/** Answers with the request; to discovery, that widgets are readable. */
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

/** A view that keeps widgets in memory. */
export function shelf(name: string): VirtualWorkspace {
  const widgets = Widget.collection();
  return defineVirtualWorkspace({
    name,
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: union(groups("system:masters"), authenticated()),
    resources: [Widget.serve(widgets)],
  });
}

/** Server with these workspaces and views. */
export class Kept implements AsyncDisposable {
  readonly server: Workspaces;
  /** Logical cluster of the export. */
  readonly provider: string;
  /** Logical cluster with the binding, where `alice` may read and `bob` has no rights. */
  readonly shop: string;

  private constructor(server: Workspaces, provider: string, shop: string) {
    this.server = server;
    this.provider = provider;
    this.shop = shop;
  }

  static async start(options: WorkspacesOptions): Promise<Kept> {
    return Kept.on(await startWorkspaces(undefined, options));
  }

  /** Uses a started server, and closes it at the end. @param place creates the workspace with the binding */
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

  /** Publishes endpoints of the view. */
  async says(...endpoints: readonly unknown[]): Promise<void> {
    await this.shelf({ endpoints });
  }

  async shelf(status: unknown): Promise<void> {
    await new ClusterClient(this.server, this.provider).patch(`${SHELVES}/main`, { status: null });
    await new ClusterClient(this.server, this.provider).patch(`${SHELVES}/main`, { status });
  }

  /** Client of the workspace with the binding. */
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

/** Returns the body of a failed response, checked to be a Status. */
export function failed({ status, body, text }: Answer): Body {
  expect(body, text).to.include({ kind: "Status", status: "Failure", code: status });
  return body;
}
