// A server with the controller of mounted workspaces, kinds of mount objects, and the controller's requests.
import { type WorkspaceMountsOptions, workspaceMounts } from "@virtual-workspaces/mounts";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import type { Upstream } from "@virtual-workspaces/transport";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { reportFault } from "../../../../_setup/faults.ts";
import { crd } from "../../../../_support/crd.ts";
import type { Answer } from "../../../../_support/plain.ts";
import { untilAt } from "../../../../workspace-server/shards/support.ts";
import {
  startWorkspaces,
  type Workspaces,
  type WorkspacesOptions,
} from "../../../../workspace-server/support/workspaces.ts";

export const root = { user: "root" };
export const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
export const MERGE = { headers: { "content-type": "application/merge-patch+json" } };
export const MARK = { "experimental.tenancy.kcp.io/is-mount": "true" };
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
export type Body = any;

/** Returns a kind that follows the contract. */
export function mountKind(kind: string, scope: "Cluster" | "Namespaced" = "Cluster"): object {
  const status = { type: "object", properties: { phase: { type: "string" }, URL: { type: "string" } } };
  return crd(kind, { scope, properties: { status }, version: { subresources: { status: {} } } });
}

/** Mount object of such a kind. */
export interface Named {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  /** Logical cluster. @default root */
  readonly cluster?: string;
}

function placeIn({ kind, namespace, cluster = "root" }: Named): `/clusters/${string}` {
  const within = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return `/clusters/${cluster}/apis/example.dev/v1${within}/${kind.toLowerCase()}s`;
}

export interface MountedOptions extends WorkspacesOptions, Pick<WorkspaceMountsOptions, "requireAnnotation"> {
  readonly store?: Store;
  /** Whether a controller runs. @default true */
  readonly isKept?: boolean;
  /** Upstream of the controller. @default within the process */
  readonly upstreamOf?: (server: Workspaces) => Upstream;
}

function starting(options: Omit<WorkspaceMountsOptions, "onError">): () => AsyncDisposable {
  return () => workspaceMounts({ ...options, onError: (error) => reportFault("mounts", error) });
}

/** Server with a controller that can be stopped and started. */
export class Mounted implements AsyncDisposable {
  readonly server: Workspaces;
  readonly #start: () => AsyncDisposable;
  readonly #stack: AsyncDisposableStack;
  #controller: AsyncDisposable;

  private constructor(server: Workspaces, start: () => AsyncDisposable, stack: AsyncDisposableStack) {
    this.server = server;
    this.#start = start;
    this.#stack = stack;
    this.#controller = start();
  }

  static async start({
    store,
    upstreamOf,
    requireAnnotation,
    isKept = true,
    ...options
  }: MountedOptions = {}): Promise<Mounted> {
    const stack = new AsyncDisposableStack();
    const own = loopback();
    const kept = store ?? stack.use(memoryStore());
    const server = stack.use(await startWorkspaces(kept, { loopback: own, ...options }));
    const upstream = upstreamOf?.(server) ?? own.upstream;
    const start = starting({ upstream, ...(requireAnnotation && { requireAnnotation }) });
    return new Mounted(server, isKept ? start : () => new AsyncDisposableStack(), stack);
  }

  /** Starts the controller over an existing server. */
  static over(server: Workspaces, { upstream }: Loopback): Mounted {
    return new Mounted(server, starting({ upstream }), new AsyncDisposableStack());
  }

  /** Stops the controller. */
  async stop(): Promise<void> {
    await this.#controller[Symbol.asyncDispose]();
  }

  restart(): void {
    this.#controller = this.#start();
  }

  /** Defines a kind, and waits until it is established. */
  async define(kind: object, cluster = "root"): Promise<void> {
    const { body } = await this.post(`/clusters/${cluster}${DEFINITIONS}`, kind);
    const { name } = body.metadata;
    await untilAt(this.server, `/clusters/${cluster}${DEFINITIONS}/${name}`, ({ body: { status } }) =>
      status?.conditions?.some((one: Body) => one.type === "Established" && one.status === "True"),
    );
  }

  /** Deletes a kind with its objects. */
  async undefine(kind: string, cluster = "root"): Promise<void> {
    const path = `clusters/${cluster}${DEFINITIONS}/${kind.toLowerCase()}s.example.dev`;
    expect((await this.server.send(`DELETE /${path}`, undefined, root)).status).to.equal(200);
    await untilAt(this.server, `/${path}`, ({ status }) => status === 404);
  }

  /** Creates a mount object with this status. */
  async object(ref: Named, status?: object, annotations: object = MARK): Promise<void> {
    const { kind, name } = ref;
    await this.post(placeIn(ref), { apiVersion: "example.dev/v1", kind, metadata: { name, annotations } });
    if (status !== undefined) await this.says(ref, status);
  }

  async says(ref: Named, status: object): Promise<void> {
    const call = `PATCH ${placeIn(ref)}/${ref.name}/status` as const;
    const { status: code, text } = await this.server.send(call, { status }, { ...root, ...MERGE });
    expect(code, text).to.equal(200);
  }

  async remove(ref: Named): Promise<void> {
    const { status, text } = await this.server.send(`DELETE ${placeIn(ref)}/${ref.name}`, undefined, root);
    expect(status, text).to.equal(200);
  }

  /** Creates a Workspace that mounts an object. */
  async mount(name: string, ref: object, { cluster = "root", user = "root" } = {}): Promise<void> {
    const spec = { mount: { ref: { apiVersion: "example.dev/v1", ...ref } } };
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
    await this.post(`/clusters/${cluster}${WORKSPACES}`, workspace, user);
  }

  workspace(name: string, cluster = "root"): Promise<Answer> {
    return this.server.get(`/clusters/${cluster}${WORKSPACES}/${name}`, root);
  }

  /** Waits until a Workspace has this state. @returns the state */
  async until(name: string, is: (said: Said) => boolean, cluster = "root"): Promise<Said> {
    const { body } = await untilAt(this.server, `/clusters/${cluster}${WORKSPACES}/${name}`, ({ body }) =>
      is(saidBy(body)),
    );
    return saidBy(body);
  }

  async post(path: `/${string}`, object: object, user = "root"): Promise<Answer> {
    const made = await this.server.send(`POST ${path}`, object, { user });
    expect(made.status, made.text).to.equal(201);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#stack.disposeAsync();
  }
}

/** State of a mounted Workspace. */
export interface Said {
  readonly phase: string | undefined;
  readonly url: string | undefined;
  /** Status, reason, severity and message of its condition. */
  readonly condition: readonly unknown[] | undefined;
}

export function saidBy({ spec, status }: Body): Said {
  const found = status?.conditions?.find(({ type }: Body) => type === "WorkspaceMountReady");
  return {
    phase: status?.phase,
    url: spec?.URL,
    condition: found && [found.status, found.reason, found.severity, found.message],
  };
}
