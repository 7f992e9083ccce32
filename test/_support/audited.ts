// Server whose audit events are collected, with the events of one request at a time.
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import { type AuditOptions, type AuditPolicy, type AuditRule, audit } from "@virtual-workspaces/framework/audit";
import { testLog } from "../_setup/log.ts";

export const Memo = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Memo",
  scope: "Namespaced",
  spec: { type: "object", properties: { text: { type: "string" } } },
  status: { type: "object", properties: { seen: { type: "boolean" } } },
});

/** Base path of `/services/memos/clusters/root/apis/test.dev/v1/namespaces/default/memos`. */
export const VIEW = "/services/memos/clusters/root";
export const MEMOS = `${VIEW}/apis/test.dev/v1/namespaces/default/memos`;

/** Audit event as its readers see it. */
// biome-ignore lint/suspicious/noExplicitAny: particulars differ from event to event
export type AuditEvent = Readonly<Record<string, any>> & { readonly stage: string; readonly auditID: string };

export function policy(...rules: readonly AuditRule[]): AuditPolicy {
  return { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules };
}

/** Audit policy, or all options of `audit` except the destination of events. */
export interface AuditedOptions extends Partial<Omit<ServerOptions, "audit">> {
  readonly policy?: AuditPolicy;
  readonly audit?: Partial<AuditOptions>;
}

/** Starts a server for memos. `alice` may do everything in `root` except delete; `admin` may impersonate everyone. */
export async function startAudited({ policy: given, audit: more, ...options }: AuditedOptions = {}) {
  const events: AuditEvent[] = [];
  const waiting = new Set<() => void>();
  const memos = Memo.collection();
  memos.in("root", "default").set("first", { text: "hello" });
  const server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "memos",
        path: "/clusters/:cluster",
        authorize: ({ verb, params }) => {
          if (verb === "deletecollection") throw new Error("the rule is broken");
          return params.cluster === "root" && verb !== "delete" ? allow() : deny("memos are for ever");
        },
        resources: [Memo.serve(memos)],
      }),
    ],
    authentication: [
      staticTokens({
        "alice-token": { name: "alice", uid: "7", groups: ["team"], extra: { scopes: ["a"] } },
        "admin-token": { name: "admin" },
      }),
    ],
    impersonation: ({ user }) => (user.name === "admin" ? allow() : deny("only admin may")),
    log: testLog().log,
    audit: audit({
      policy: given ?? policy({ level: "Metadata" }),
      to: (line) => {
        events.push(JSON.parse(line));
        for (const wake of [...waiting]) wake();
      },
      ...more,
    }),
    ...options,
  });
  const { url, port } = await server.listen({ port: 0 });
  const ask = (path: string, init: RequestInit & { readonly token?: string } = {}): Promise<Response> => {
    const { token = "alice-token", headers, ...rest } = init;
    const authorization = token === "" ? {} : { authorization: `Bearer ${token}` };
    return fetch(url + path, { ...rest, headers: { connection: "close", ...authorization, ...headers } });
  };
  /** Waits until this number of events exists, and returns them. */
  const until = async (count: number): Promise<readonly AuditEvent[]> => {
    while (events.length < count)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
      });
    return events.splice(0);
  };
  /** Sends a request and returns its events. */
  const eventsOf = async (path: string, init: Parameters<typeof ask>[1] = {}, count = 2) => {
    const answer = await ask(path, init);
    const body = await answer.text();
    return { answer, body, events: await until(count) };
  };
  return { server, url, port, memos, events, ask, until, eventsOf, [Symbol.asyncDispose]: () => server.close() };
}

/** Returns an object to send. */
export function memo(
  name: string,
  text = "x",
): { readonly method: string; readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const object = { apiVersion: "test.dev/v1", kind: "Memo", metadata: { name }, spec: { text } };
  return { method: "POST", body: JSON.stringify(object), headers: { "content-type": "application/json" } };
}
