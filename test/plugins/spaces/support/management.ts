// A workspace as management cluster, with a manager of Spaces, and another workspace as parent of the spaces.
import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import { Client, Informer } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import {
  Space,
  type SpaceContent,
  SpaceManager,
  type SpaceManagerOptions,
  SpaceProviderDesc,
  type SpaceProviderDescContent,
  spaceManifests,
  workspacesProvider,
} from "@virtual-workspaces/spaces";
import type { Store } from "@virtual-workspaces/store";
import { parse } from "yaml";
import { define, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../../../workspace-server/support/workspaces.ts";

export const SECRET: KindReference<SecretData> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
};
export const NAMESPACE = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
} as const;
export const MAP = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" } as const;

export interface SecretData {
  readonly data?: Readonly<Record<string, string>>;
}

export type AnySpace = ObjectOf<SpaceContent>;
export type AnyProvider = ObjectOf<SpaceProviderDescContent>;

export class Management implements AsyncDisposable {
  readonly server: Workspaces;
  /** Client of the management cluster. */
  readonly client: Client;
  /** Client of the parent of the spaces. */
  readonly below: Client;
  readonly logged: string[] = [];
  readonly #stack = new AsyncDisposableStack();

  private constructor(server: Workspaces) {
    this.server = this.#stack.use(server);
    this.client = this.#stack.use(clientOf(server, "root:mgmt"));
    this.below = this.#stack.use(clientOf(server, "root:below"));
  }

  static async start(store?: Store): Promise<Management> {
    const server = await startWorkspaces(...(store === undefined ? [] : [store]));
    await makeWorkspace(server, "mgmt");
    await makeWorkspace(server, "below");
    await define(server, "root:mgmt", spaceManifests());
    return new Management(server);
  }

  /** Starts a manager with the provider type of workspaces and others. */
  manager(options: Partial<SpaceManagerOptions> = {}): SpaceManager {
    const { types = {}, ...rest } = options;
    return new SpaceManager({
      client: this.client,
      pollEvery: 25,
      longestWait: 200,
      log: ({ message, error }) => void this.logged.push(`${message} ${error ?? ""}`),
      ...rest,
      types: { workspaces: workspacesProvider(), ...types },
    });
  }

  /** Returns a client of the management cluster for another user. */
  as(user: string): Client {
    return clientOf(this.server, "root:mgmt", user);
  }

  /** Returns a kubeconfig of a workspace with a token. */
  kubeconfig(workspace: string, token = "root", url = this.server.url): string {
    const name = "it";
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": name,
      clusters: [{ name, cluster: { server: `${url}/clusters/${workspace}` } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    });
  }

  /** Creates a SpaceProviderDesc with its Secret. */
  async provide(name: string, { type = "workspaces", secret = {}, ...spec }: Provided = {}): Promise<void> {
    const data = { ...(type === "workspaces" && { kubeconfig: this.kubeconfig("root:below") }), ...secret };
    const secretRef = { name: `provider-${name}`, namespace: "default" };
    if (Object.keys(data).length > 0) await this.keep(secretRef.name, data);
    await this.client.resource(SpaceProviderDesc).create({
      metadata: { name },
      spec: { ProviderType: type, ...(Object.keys(data).length > 0 && { secretRef }), ...spec },
    });
  }

  /** Creates or replaces a Secret. */
  async keep(name: string, content: Readonly<Record<string, string>>, namespace = "default"): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(content).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    );
    const secrets = this.client.resource(SECRET).in(namespace);
    await secrets.apply({ metadata: { name }, data }, { force: true });
  }

  async make(
    namespace: string,
    name: string,
    { metadata = {}, ...spec }: SpaceContent["spec"] & { readonly metadata?: object } = {},
  ): Promise<AnySpace> {
    return this.client
      .resource(Space)
      .in(namespace)
      .create({ metadata: { name, ...metadata }, spec });
  }

  /** Deletes a Space and waits until it is gone. */
  async removeSpace(namespace: string, name: string): Promise<void> {
    await this.client.resource(Space).in(namespace).delete(name);
    await this.until(namespace, name, (space) => space === undefined);
  }

  /** Deletes a SpaceProviderDesc and waits until it is gone. */
  async removeProvider(name: string): Promise<void> {
    const providers = this.client.resource(SpaceProviderDesc);
    await providers.delete(name).catch(onCode<unknown>(404, () => undefined));
    await this.untilProvider(name, (provider) => provider === undefined);
  }

  /** Waits until a Space meets a condition, and returns it. */
  until(namespace: string, name: string, is: (space: AnySpace | undefined) => boolean): Promise<AnySpace | undefined> {
    return follow(new Informer({ resource: this.client.resource(Space).in(namespace) }), { namespace, name }, is);
  }

  untilProvider(name: string, is: (provider: AnyProvider | undefined) => boolean): Promise<AnyProvider | undefined> {
    return follow(new Informer({ resource: this.client.resource(SpaceProviderDesc) }), { namespace: "", name }, is);
  }

  /** Returns a client from the Secret of a Space. */
  async reached(
    { status }: AnySpace,
    scope: "inClusterSecretRef" | "externalSecretRef" = "externalSecretRef",
  ): Promise<Client> {
    const { name = "", namespace = "" } = status?.[scope] ?? {};
    const secret = await this.client.resource(SECRET).in(namespace).get(name);
    const content = parse(Buffer.from(secret.data?.["kubeconfig"] ?? "", "base64").toString());
    return this.#stack.use(await Client.fromKubeconfig({ contents: [{ file: name, content }] }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

interface Provided {
  readonly type?: string;
  readonly secret?: Readonly<Record<string, string>>;
  readonly SpacePrefixForDiscovery?: string;
}

export const isReady = (space: AnySpace | undefined): boolean => space?.status?.Phase === "Ready";

/** Returns status and reason of a condition. */
export function conditionOf(object: AnySpace | AnyProvider | undefined, type: string): string {
  const found = object?.status?.conditions?.find((one) => one.type === type);
  return found === undefined ? "" : [found.status, found.reason].filter(Boolean).join(" ");
}

export function messageOf(object: AnySpace | AnyProvider | undefined, type: string): string {
  return object?.status?.conditions?.find((one) => one.type === type)?.message ?? "";
}

function clientOf({ url }: Workspaces, cluster: string, user = "root"): Client {
  const credential = { headers: ["Authorization", `Bearer ${user}`] };
  return new Client({ upstream: { url, credentials: { get: () => credential } }, cluster });
}

async function follow<T extends object>(
  informer: Informer<T>,
  key: { readonly namespace: string; readonly name: string },
  is: (object: ObjectOf<T> | undefined) => boolean,
): Promise<ObjectOf<T> | undefined> {
  await using _ = informer.start();
  await informer.synced;
  const { promise, resolve } = Promise.withResolvers<ObjectOf<T> | undefined>();
  const look = (): void => {
    const object = informer.store.get(key);
    if (is(object)) resolve(object);
  };
  using _handlers = informer.on({ added: look, updated: look, deleted: look });
  look();
  return await promise;
}
