// A server with the views of cluster proxies, a workspace `root:edge` with the bound kind, and agents.
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type ClusterProxyOptions,
  clusterProxy,
  clusterProxyManifests,
  type HubAddress,
  type KeptByAgent,
} from "@virtual-workspaces/cluster-proxy";
import { CLUSTER_PROXY_EXPORT } from "@virtual-workspaces/kcp";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { Upstream } from "@virtual-workspaces/transport";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Answer, type Calls, callsTo, startPlain } from "../../../_support/plain.ts";
import type { TestAuthority } from "../../../_support/server.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, bindingOf } from "../../../workspace-server/bindings/support/shard.ts";
import { grant, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { secret, type Target } from "../../mounts/support/mounted.ts";

const root = { user: "root" };
const MERGE = { headers: { "content-type": "application/merge-patch+json" }, ...root };
const PROXIES = "/apis/proxy.kcp.io/v1alpha1/clusterproxies";
const TOKENS = "/apis/agents.proxy.kcp.io/v1alpha1/agenttokens";

type Proxy = Answer["body"];

/** Options of test agents. */
export type TestAgentOptions = Pick<AgentOptions, "api"> & Partial<AgentOptions>;

export class TestHub implements AsyncDisposable {
  readonly server: Workspaces;
  /** Logical cluster of `root:edge`: `alice` administers it, `carol` may read it, and `bob` has no access. */
  readonly edge: string;
  /** Other errors. */
  readonly errors: unknown[];

  private constructor(server: Workspaces, edge: string, errors: unknown[]) {
    this.server = server;
    this.edge = edge;
    this.errors = errors;
  }

  static async start(options: Partial<ClusterProxyOptions> = {}, store: Store = memoryStore()): Promise<TestHub> {
    const own = loopback();
    const { upstream } = own;
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const { promise: address, resolve } = Promise.withResolvers<HubAddress>();
    const virtualWorkspaces = clusterProxy({ upstream, allowCache: 0, patience: 300, address, onError, ...options });
    const server = await startWorkspaces(store, { loopback: own, virtualWorkspaces, users: ["carol", "dave"] });
    resolve({ url: server.url });
    for (const object of clusterProxyManifests())
      await post(server, `root/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`, object);
    const edge = await makeWorkspace(server, "edge");
    await grant(server, edge, { user: "alice", verbs: ["*"] });
    await grant(server, edge, { user: "carol", verbs: ["get", "list", "watch"] });
    await post(server, `${edge}${APIS}/apibindings`, bindingOf("remote", `root:${CLUSTER_PROXY_EXPORT}`));
    await untilAnswer(
      () => server.get(`/clusters/${edge}${PROXIES}`, root),
      ({ status }) => status === 200,
    );
    return new TestHub(server, edge, errors);
  }

  /** Creates a ClusterProxy. */
  make(name: string, spec: object = {}): Promise<Proxy> {
    const about = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy" };
    return post(this.server, `${this.edge}${PROXIES}`, { ...about, metadata: { name }, spec });
  }

  async change(name: string, patch: object): Promise<void> {
    const changed = await this.server.send(`PATCH /clusters/${this.edge}${PROXIES}/${name}`, patch, MERGE);
    expect(changed.status, changed.text).to.equal(200);
  }

  /** Creates or replaces a Secret in the namespace `default`. */
  async keep(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const secrets = `${this.edge}/api/v1/namespaces/default/secrets`;
    const { resourceVersion } = (await this.server.get(`/clusters/${secrets}/${name}`, root)).body.metadata ?? {};
    const object = { apiVersion: "v1", kind: "Secret", metadata: { name, resourceVersion }, ...secret(data) };
    const call = resourceVersion === undefined ? `POST /clusters/${secrets}` : `PUT /clusters/${secrets}/${name}`;
    const kept = await this.server.send(call as `PUT /${string}`, object, root);
    expect(kept.status, kept.text).to.be.oneOf([200, 201]);
  }

  async remove(name: string): Promise<void> {
    const gone = await this.server.send(`DELETE /clusters/${this.edge}${PROXIES}/${name}`, undefined, root);
    expect(gone.status, gone.text).to.equal(200);
  }

  /** Waits until a ClusterProxy meets a condition, and returns it. */
  async until(name: string, is: (proxy: Proxy) => boolean): Promise<Proxy> {
    const ask = (): Promise<Answer> => this.server.get(`/clusters/${this.edge}${PROXIES}/${name}`, root);
    return (await untilAnswer(ask, ({ body }) => is(body))).body;
  }

  /** Returns a caller for a remote cluster. */
  at(name: string, where = this.edge): Calls {
    return callsTo(`${this.server.url}/services/clusterproxy/${where}/${name}`);
  }

  /** Returns a caller for the view of agents. */
  agentsAt(name: string, where = this.edge): Calls & { readonly url: string } {
    const url = `${this.server.url}/services/clusterproxy-agents/${where}/${name}`;
    return { ...callsTo(url), url };
  }

  /** Requests a token for an agent. */
  askToken(name: string, user = "alice", spec: object = {}): Promise<Answer> {
    const about = { apiVersion: "agents.proxy.kcp.io/v1alpha1", kind: "AgentToken" };
    return this.agentsAt(name).send(`POST ${TOKENS}`, { ...about, spec }, { user });
  }

  async token(name: string): Promise<string> {
    const made = await this.askToken(name);
    expect(made.status, made.text).to.equal(201);
    return made.body.status.token;
  }

  /** Starts an agent, by default enrolled with a new token. It ends with the test's stack. */
  async agent(name: string, options: TestAgentOptions): Promise<TestAgent> {
    const { certificate, token = certificate === undefined ? await this.token(name) : undefined } = options;
    return new TestAgent({ hub: { url: this.agentsAt(name).url }, ...(token !== undefined && { token }), ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

/** Another process that serves the views for the workspaces of a hub. */
export class OtherHub implements AsyncDisposable {
  readonly errors: unknown[];
  readonly #stack: AsyncDisposableStack;
  readonly url: string;

  private constructor(url: string, stack: AsyncDisposableStack, errors: unknown[]) {
    this.url = url;
    this.#stack = stack;
    this.errors = errors;
  }

  /** @param authority issuer of its serving certificate. @default none, plain HTTP */
  static async start(
    { server }: TestHub,
    options: Partial<ClusterProxyOptions> = {},
    authority?: TestAuthority,
  ): Promise<OtherHub> {
    const stack = new AsyncDisposableStack();
    const errors: unknown[] = [];
    const credential = { headers: ["Authorization", "Bearer root"] };
    const upstream = stack.use(new Upstream({ url: server.url, credentials: { get: () => credential } }));
    const { promise: address, resolve } = Promise.withResolvers<HubAddress>();
    const onError = (error: unknown): void => void errors.push(error);
    const views = clusterProxy({ upstream, allowCache: 0, patience: 300, address, onError, ...options });
    const { url } = stack.use(await startPlain(views, authority && { tls: authority.server }));
    resolve({ url, ...(authority && { ca: authority.ca }) });
    return new OtherHub(url, stack, errors);
  }

  /** Returns a caller for a remote cluster at this hub. */
  at(name: string, { edge }: TestHub): Calls {
    return callsTo(`${this.url}/services/clusterproxy/${edge}/${name}`);
  }

  /** Returns a caller for the view of agents at this hub. */
  agentsAt(name: string, { edge }: TestHub): Calls & { readonly url: string } {
    const url = `${this.url}/services/clusterproxy-agents/${edge}/${name}`;
    return { ...callsTo(url), url };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** An agent that records its events. */
export class TestAgent implements AsyncDisposable {
  readonly agent: Agent;
  readonly events: AgentEvent[] = [];
  readonly kept: KeptByAgent["certificate"][] = [];
  others: KeptByAgent["others"] = [];
  readonly #waiting = new Set<() => void>();

  constructor(options: Omit<AgentOptions, "keep"> & Partial<AgentOptions>) {
    this.agent = new Agent({
      keep: ({ certificate, others }) => {
        if (certificate !== this.kept.at(-1)) this.kept.push(certificate);
        this.others = others;
        this.#look();
      },
      onEvent: (event) => {
        this.events.push(event);
        this.#look();
      },
      ...options,
    });
  }

  /** Waits until an event has occurred that many times. */
  async seen<T extends AgentEvent["type"]>(type: T, times = 1): Promise<Extract<AgentEvent, { readonly type: T }>> {
    const all = () =>
      this.events.filter((event): event is Extract<AgentEvent, { readonly type: T }> => event.type === type);
    await this.until(() => all().length >= times);
    return all()[times - 1] as Extract<AgentEvent, { readonly type: T }>;
  }

  /** Waits until a condition of the agent's events and state holds. */
  async until(is: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (is()) resolve();
    };
    this.#waiting.add(look);
    look();
    await promise;
    this.#waiting.delete(look);
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.agent[Symbol.asyncDispose]();
  }
}

export const isReady = (proxy: Proxy): boolean => proxy.status?.phase === "Ready";

/** Returns status and reason of a condition. */
export function conditionOf(proxy: Proxy, type: string): string {
  const found = proxy.status?.conditions?.find((one: { readonly type: string }) => one.type === type);
  return found === undefined ? "" : [found.status, found.reason].filter(Boolean).join(" ");
}

async function post(server: Calls, path: string, object: object): Promise<Proxy> {
  const made = await server.send(`POST /clusters/${path}`, object, root);
  expect(made.status, made.text).to.equal(201);
  return made.body;
}

/** Returns the settings of an agent for a target. */
export function apiOf({ url, authority }: Target): AgentOptions["api"] {
  const credential = { headers: ["Authorization", "Bearer agents-own"] };
  return { url, tls: { ca: authority.ca }, credentials: { get: () => credential } };
}

/** Returns a kubeconfig for an agent's program, as `agent token` prints it. */
export function bootstrapOf(
  { url, ca }: { readonly url: string; readonly ca?: string | undefined },
  token: string,
): string {
  const authority = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "hub" },
    clusters: [{ name: "hub", cluster: { server: url, ...authority } }],
    users: [{ name: "agent", user: { token } }],
    contexts: [{ name: "hub", context: { cluster: "hub", user: "agent" } }],
  });
}
