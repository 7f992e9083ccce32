// A custom kind whose objects list the URLs of their views, and a server with two shards.
import { Client, type ReconcileFailure } from "@virtual-workspaces/client";
import { defineResource } from "@virtual-workspaces/framework";
import { type PublishURLsOptions, type Shard, viewURL } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { type Body, root, type Stores, startSharded, untilAt } from "../../../workspace-server/shards/support.ts";
import { define, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";

const TEXT = { type: "string" } as const;
export const STATUS = {
  type: "object",
  properties: {
    endpoints: {
      type: "array",
      items: { type: "object", required: ["url"], properties: { url: TEXT, shards: OPEN() } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["url"],
    },
    virtualWorkspaces: { type: "array", items: { type: "object", required: ["url"], properties: { url: TEXT } } },
    conditions: { type: "array", items: OPEN() },
    note: TEXT,
  },
} as const;

function OPEN() {
  return { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
}

export const Menu = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Menu",
  scope: "Cluster",
  spec: { type: "object", properties: { day: TEXT } },
  status: STATUS,
});

const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "menus.example.dev" },
  spec: {
    group: "example.dev",
    scope: "Cluster",
    names: { plural: "menus", kind: "Menu", singular: "menu", listKind: "MenuList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { day: TEXT } }, status: STATUS },
          },
        },
      },
    ],
  },
};

const URLS = {
  urls: () => ({
    baseURL: "https://a.test",
    externalURL: "https://a.test",
    virtualWorkspaceURL: "https://vw-root.test",
  }),
};
const FAR = {
  urls: (name: string) => ({ baseURL: `https://${name}.test`, virtualWorkspaceURL: `https://${name}.test/in` }),
};

/** Workspace `kitchen` with menus, on a server with two shards. */
export class Kitchen implements AsyncDisposable {
  readonly server: Workspaces;
  readonly cluster: string;
  readonly client: Client;
  readonly failures: ReconcileFailure[] = [];

  constructor(server: Workspaces, cluster: string) {
    this.server = server;
    this.cluster = cluster;
    this.client = this.clientOf("root");
  }

  static async start(stores: Stores, options: object = {}): Promise<Kitchen> {
    const server = await startSharded(stores, { ...URLS, shards: FAR, ...options });
    const cluster = await makeWorkspace(server, "kitchen");
    await define(server, cluster, [CRD]);
    return new Kitchen(server, cluster);
  }

  clientOf(user: string): Client {
    const credentials = { get: () => ({ headers: ["Authorization", `Bearer ${user}`] }) };
    return new Client({ upstream: { url: this.server.url, credentials } });
  }

  get menus(): `/${string}` {
    return `/clusters/${this.cluster}/apis/example.dev/v1/menus`;
  }

  async cook(name: string, day = "monday"): Promise<Body> {
    const menu = { apiVersion: "example.dev/v1", kind: "Menu", metadata: { name }, spec: { day } };
    const { status, text, body } = await this.server.send(`POST ${this.menus}`, menu, root);
    expect(status, text).to.equal(201);
    return body;
  }

  async send(call: `${string} /${string}`, body?: unknown, headers = {}): Promise<void> {
    const { status, text } = await this.server.send(call, body, { ...root, headers });
    expect(status, text).to.equal(200);
  }

  /** Returns options to publish `/services/menus/<name>` of one or several shards. */
  publication(
    shards: string,
  ): Omit<PublishURLsOptions<typeof Menu extends { type?: (o: infer T) => unknown } ? T & object : never>, "urls"> {
    return {
      client: this.client,
      resource: Menu as never,
      cluster: this.cluster,
      shards,
      onError: (failure) => this.failures.push(failure),
    };
  }

  /** Waits until a menu has these URLs. @returns the menu */
  async having(name: string, urls: readonly string[], field = "endpoints"): Promise<Body> {
    const wanted = JSON.stringify([...urls].sort());
    const found = await untilAt(
      this.server,
      `${this.menus}/${name}`,
      ({ body }) => JSON.stringify((body.status?.[field] ?? []).map(({ url }: Body) => url).sort()) === wanted,
    );
    return found.body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** URLs of a menu's view on each shard. */
export const urlOn = {
  root: (name: string) => `https://vw-root.test/services/menus/${name}`,
  far: (name: string) => `https://shard-1.test/in/services/menus/${name}`,
};

/** Returns one URL for each shard. */
export const byShards = ({ metadata }: { metadata: { name?: string } }, shards: readonly Shard[]): readonly string[] =>
  shards.map(({ spec }) => viewURL(spec?.virtualWorkspaceURL ?? "", "menus", metadata.name ?? ""));
