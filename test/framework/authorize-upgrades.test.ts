// Connections into pods that a GET opens need the same permission as those that a POST opens.
import { once } from "node:events";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  defineVirtualWorkspace,
  deny,
} from "@virtual-workspaces/framework";
import { rbac } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";

/** Requests of clients that open terminals: GET for WebSockets, POST for SPDY. */
interface Asked {
  readonly method?: string;
  readonly user?: string;
  readonly upgrade?: boolean;
  /** @default "test" */
  readonly protocol?: string;
}

/** A view that forwards everything that its rule allows, as one in front of a plain cluster does. */
async function start(authorize: Authorizer<unknown>) {
  const open: Duplex[] = [];
  const view = defineVirtualWorkspace({
    ...{ name: "cluster", path: "/", authorize },
    handle: (_req, res) => void res.end("{}"),
    upgrade: (_req, socket) => {
      open.push(socket);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
    },
  });
  const server = await startPlain([view]);
  const asks = (path: string, { method = "GET", user = "alice", upgrade = true, protocol = "test" }: Asked = {}) => {
    const headers = { authorization: `Bearer ${user}`, ...(upgrade && { connection: "upgrade", upgrade: protocol }) };
    return request(`${server.url}/services/cluster${path}`, { method, headers }).end();
  };
  const said = async (path: string, asked?: Asked): Promise<readonly [number | undefined, string]> => {
    const req = asks(path, asked);
    const taken = once(req, "upgrade").then(([{ statusCode }, socket]) => {
      socket.destroy();
      return [statusCode, ""] as const;
    });
    const answered = once(req, "response").then(async ([res]) => {
      let text = "";
      for await (const piece of res) text += piece;
      return [res.statusCode, text.startsWith("{") ? (JSON.parse(text).message ?? "") : text] as const;
    });
    taken.catch(() => undefined);
    answered.catch(() => undefined);
    return Promise.race([taken, answered]);
  };
  return {
    ...{ asks, said, open },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

const PODS = "/api/v1/namespaces/ns/pods";
const WAYS_IN = [`${PODS}/p/exec`, `${PODS}/p/attach`, `${PODS}/p/portforward`, `${PODS}/p/proxy/shell`].concat(
  "/api/v1/namespaces/ns/services/http:s:80/proxy/shell",
  "/api/v1/nodes/n/proxy/exec/ns/p/c",
);
const rules = (verbs: readonly string[]) => ({
  apiGroups: ["", "test.dev"],
  resources: ["*"],
  verbs,
});
const role = (name: string, verbs: readonly string[]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules: [rules(verbs)],
});
const binding = (name: string, user: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
  subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
});

describe("connections into pods", () => {
  const policy = () =>
    rbac({
      objects: [
        role("viewer", ["get", "list", "watch"]),
        role("editor", ["get", "list", "watch", "create"]),
        role("opener", ["create"]),
        binding("viewer", "alice"),
        binding("editor", "admin"),
        binding("opener", "bob"),
      ],
    } as never);

  for (const path of WAYS_IN)
    it(`by GET ${path} are denied to users who may only read`, async () => {
      await using view = await start(policy());
      const [code, message] = await view.said(path);
      expect([code, message]).to.satisfy(() => code === 403 && message.includes('User "alice" cannot create resource'));
      expect(await view.said(path, { user: "admin" })).to.deep.equal([101, ""]);
      expect(await view.said(path, { user: "bob", method: "POST" })).to.deep.equal([101, ""]);
      const [asGet, why] = await view.said(path, { user: "bob" });
      expect([asGet, why]).to.satisfy(() => asGet === 403 && why.includes('User "bob" cannot get resource'));
      expect(view.open).to.have.length(2);
    });

  for (const path of [
    `${PODS}?watch=true`,
    `${PODS}/p/log?follow=true`,
    `${PODS}/p`,
    "/api/v1/namespaces/ns/constructor/p/exec",
    "/apis/test.dev/v1/namespaces/ns/pods/p/exec",
    "/apis/test.dev/v1/machines/m/console",
  ])
    it(`do not include other upgrades: GET ${path} is authorized once`, async () => {
      await using view = await start(policy());
      expect(await view.said(path)).to.deep.equal([101, ""]);
    });

  it("are authorized as the request and then as the connection; requests without an upgrade only as the request", async () => {
    const asked: string[] = [];
    await using view = await start(({ verb, group, resource, subresource, name, namespace, upgrade, ...rest }) => {
      asked.push([verb, group, resource, subresource, namespace, name, upgrade, rest.longRunning].join(" "));
      return allow();
    });
    for (const upgrade of [true, false]) await view.said(`${PODS}/p/exec`, { upgrade });
    await view.said(`${PODS}/p/exec`, { method: "POST" });
    expect(asked).to.deep.equal([
      "get  pods exec ns p true true",
      "create  pods exec ns p true true",
      "get  pods exec ns p false true",
      "create  pods exec ns p true true",
    ]);
  });

  it("are closed when a repeated authorization denies one of the two", async () => {
    for (const verb of ["get", "create"]) {
      let withdrawn = false;
      const rule = (request: AuthorizeRequest<unknown>) =>
        withdrawn && request.verb === verb ? deny("not any more") : allow();
      await using view = await start(Object.assign(rule, { watchesEvery: 100 }));
      const [, socket] = (await once(view.asks(`${PODS}/p/exec`), "upgrade")) as [unknown, Duplex];
      withdrawn = true;
      const closed = once(socket, "close");
      socket.on("error", () => undefined).resume();
      await closed;
    }
  });

  it("are closed, if they are watches over a WebSocket that the view takes, when upgrades are denied", async () => {
    let withdrawn = false;
    const rule = ({ upgrade }: AuthorizeRequest<unknown>) => (withdrawn && upgrade ? deny("not any more") : allow());
    await using view = await start(Object.assign(rule, { watchesEvery: 100 }));
    const [, socket] = (await once(view.asks(`${PODS}?watch=true`, { protocol: "websocket" }), "upgrade")) as [
      unknown,
      Duplex,
    ];
    withdrawn = true;
    const closed = once(socket, "close");
    socket.on("error", () => undefined).resume();
    await closed;
  });
});
