// A server with the view of mounts, a workspace `root:team` that has bound their kind, and targets.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { apiExportView } from "@virtual-workspaces/apiexport";
import type { Condition } from "@virtual-workspaces/kcp/conditions";
import { type MountsViewOptions, mountManifests, mountsView } from "@virtual-workspaces/mounts";
import { memoryStore } from "@virtual-workspaces/store";
import type { Upstream } from "@virtual-workspaces/transport";
import { builtInKinds, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import type { Answer, Calls } from "../../../_support/plain.ts";
import { callsTo } from "../../../_support/plain.ts";
import { createAuthority, type TestAuthority } from "../../../_support/server.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, bindingOf } from "../../../workspace-server/bindings/support/shard.ts";
import { grant, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../../../workspace-server/support/workspaces.ts";

const root = { user: "root" };
export const MERGE = { headers: { "content-type": "application/merge-patch+json" }, ...root };
const MOUNTS = "/apis/proxy.kcp.io/v1alpha1/mounts";
const PLURALS: Readonly<Record<string, string>> = {
  Mount: MOUNTS,
  Secret: "/api/v1/namespaces/default/secrets",
  Workspace: "/apis/tenancy.kcp.io/v1alpha1/workspaces",
};

type Make = (kind: "Mount" | "Secret" | "Workspace", name: string, content: object) => Promise<Answer["body"]>;

/** Server with mounts, and helpers to create and call them. */
export interface Mounted extends AsyncDisposable {
  readonly server: Workspaces;
  /** Upstream of the server to itself. */
  readonly itself: Upstream;
  /** Logical cluster of `root:team`, which `alice` may access, and `bob` may not. */
  readonly team: string;
  /** Reported errors. */
  readonly errors: unknown[];
  /** Creates an object in the logical cluster of the team. */
  make: Make;
  /** Returns a function that creates objects in another logical cluster. */
  makeIn(cluster: string): Make;
  /** Waits until a mount matches. */
  until(name: string, is: (mount: Answer["body"]) => boolean): Promise<Answer["body"]>;
  /** Returns a client of a mount. */
  at(name: string): Calls;
}

/** Starts a server with mounts. */
export async function startMounted(options: Partial<MountsViewOptions> = {}): Promise<Mounted> {
  const own = loopback();
  const { upstream, identity } = own;
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const kinds = builtInKinds.map(({ resource }) => resource);
  const views = [
    apiExportView({ upstream, identity, kinds }),
    mountsView({ upstream, allow: ["127.0.0.1"], allowCache: 200, onError, ...options }),
  ];
  const server = await startWorkspaces(memoryStore(), { loopback: own, virtualWorkspaces: views });
  const post = async (cluster: string, path: string, object: object): Promise<Answer["body"]> => {
    const made = await server.send(`POST /clusters/${cluster}${path}`, object, root);
    expect(made.status, made.text).to.equal(201);
    return made.body;
  };
  const makeIn =
    (cluster: string): Make =>
    (kind, name, content) =>
      post(cluster, PLURALS[kind] ?? "", { apiVersion: versionOf(kind), kind, metadata: { name }, ...content });
  for (const object of mountManifests()) {
    const plural = `${object.kind.toLowerCase()}s`;
    await post("root", `/apis/${object.apiVersion}/${plural}`, object);
  }
  const team = await makeWorkspace(server, "team");
  await grant(server, team, { user: "alice", verbs: ["get"] });
  await post(team, `${APIS}/apibindings`, bindingOf("proxy.kcp.io", "root:proxy.kcp.io"));
  await untilAnswer(
    () => server.get(`/clusters/${team}${MOUNTS}`, root),
    ({ status }) => status === 200,
  );
  return {
    ...{ server, itself: upstream, team, errors },
    make: makeIn(team),
    makeIn,
    until: async (name, is) => {
      const ask = (): Promise<Answer> => server.get(`/clusters/${team}${MOUNTS}/${name}`, root);
      return (await untilAnswer(ask, ({ body }) => is(body))).body;
    },
    at: (name) => callsTo(`${server.url}/services/mounts/${team}/${name}`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function versionOf(kind: string): string {
  const path = (PLURALS[kind] ?? "").split("/");
  return path[1] === "api" ? "v1" : path.slice(2, 4).join("/");
}

export const isReady = (mount: Answer["body"]): boolean => mount.status?.phase === "Ready";

/** Returns the reason of the condition `Reachable`. */
export const reasonOf = (mount: Answer["body"]): string | undefined => reachable(mount)?.reason;

function reachable(mount: Answer["body"]): Condition | undefined {
  return mount.status?.conditions?.find(({ type }: Condition) => type === "Reachable");
}

/** Foreign API server with a certificate of its own authority. */
export interface Target extends AsyncDisposable {
  readonly url: string;
  readonly authority: TestAuthority;
  /** Received requests, except those for its version. */
  readonly asked: IncomingMessage[];
  /** Names of the client certificates of these requests; "" for none. */
  readonly certificates: string[];
  /** Number of version requests. */
  readonly probed: number;
  /** Closes all connections: the next request opens a new one. */
  hangUp(): void;
}

/** Options of {@link startTarget}. */
interface TargetOptions {
  readonly authority?: TestAuthority;
  readonly port?: number;
  /** Whether it rejects connections without a client certificate of its authority. @default false */
  readonly strict?: boolean;
}

/** Starts a target. @param answer handles all requests except those for its version @default answers with method and path */
export async function startTarget(
  answer: (req: IncomingMessage, res: ServerResponse) => void = (req, res) => res.end(`${req.method} ${req.url}`),
  { authority = createAuthority({ hosts: ["target.example"] }), port: wanted = 0, strict = false }: TargetOptions = {},
): Promise<Target> {
  const asked: IncomingMessage[] = [];
  const certificates: string[] = [];
  let probed = 0;
  const note = (req: IncomingMessage): void => {
    asked.push(req);
    certificates.push((req.socket as TLSSocket).getPeerCertificate().subject?.CN?.toString() ?? "");
  };
  const tls = { ...authority.server, ca: authority.ca, requestCert: true, rejectUnauthorized: strict };
  const server = createHttps(tls, (req, res) => {
    if (req.url === "/version") {
      probed += 1;
      return void res.end("{}");
    }
    note(req);
    answer(req, res);
  });
  const sockets = new Set<Duplex>();
  server.on("upgrade", (req: IncomingMessage, socket) => {
    note(req);
    sockets.add(socket.on("error", () => undefined));
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello ");
    socket.pipe(socket);
  });
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `https://127.0.0.1:${port}`, authority, asked, certificates },
    get probed() {
      return probed;
    },
    hangUp: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Returns the content of a Secret. */
export function secret(data: Readonly<Record<string, string>>): object {
  return { data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])) };
}

/** Returns a kubeconfig for a target. @param user the kubeconfig's user @default a token */
export function kubeconfigOf(
  { url, authority }: Pick<Target, "url" | "authority">,
  user: object = { token: "their-token" },
  cluster: object = {},
): string {
  const about = { server: url, "certificate-authority-data": base64(authority.ca), ...cluster };
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
    clusters: [{ name: "it", cluster: about }],
    users: [{ name: "it", user }],
  });
}

/** Returns `spec.ref` for a Secret. */
export function refTo(name: string): object {
  return { apiVersion: "v1", kind: "Secret", namespace: "default", name };
}

/** Returns the header lines of a request that reached a target. */
export const linesOf = ({ rawHeaders }: IncomingMessage): string[] =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : []));
