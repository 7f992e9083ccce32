// Why: a served provider gives access to all its spaces. Unauthorized callers get nothing, and authorized ones get only valid operations.
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { authenticated, staticTokens } from "@virtual-workspaces/framework";
import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
import { type PhysicalSpace, type SpaceProvider, spaceProviderView } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import express from "express";
import { KeptSpaces, kubeconfigOf } from "../support/kept-spaces.ts";
import { type Served, STRANGER, serve, TOKEN } from "./support/served.ts";

interface Asked {
  readonly method?: string;
  readonly token?: string;
  readonly body?: string;
  readonly type?: string;
}

/** Sends a request with an unchanged path, since URL would normalize it. */
async function ask(url: string, path: string, asked: Asked = {}): Promise<IncomingMessage> {
  const { method = "GET", token = TOKEN, body, type = "application/json" } = asked;
  const { hostname, port, pathname } = new URL(url);
  const headers = {
    ...(token !== "" && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { "content-type": type, "content-length": Buffer.byteLength(body) }),
  };
  const sent = request({ hostname, port, path: `${pathname}${path}`, method, headers });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

async function said(url: string, path: string, asked: Asked = {}): Promise<string> {
  const answer = await ask(url, path, asked);
  const body = await text(answer);
  const { message = "" } = body === "" ? {} : (JSON.parse(body) as { readonly message?: string });
  return `${answer.statusCode} ${message}`.trim();
}

describe("spaceProviderView", function () {
  this.timeout(20_000);
  let kept: KeptSpaces;
  let served: Served;

  beforeEach(async () => {
    kept = new KeptSpaces();
    served = await serve(kept, { heartbeat: 30_000 });
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const EVERYTHING = [
    ["GET", "/openapi.json"],
    ["GET", "/v1/status"],
    ["GET", "/v1/spaces"],
    ["GET", "/v1/spaces?watch=1"],
    ["GET", "/v1/spaces/a"],
    ["PUT", "/v1/spaces/a"],
    ["DELETE", "/v1/spaces/a"],
    ["GET", "/v1/spaces/a/kubeconfig?scope=external"],
    ["GET", "/v1/nothing"],
  ] as const;

  it("rejects unauthenticated and unauthorized requests without a call of the provider", async () => {
    kept.set("a");
    for (const [method, path] of EVERYTHING) {
      const body = method === "PUT" ? { body: "{}" } : {};
      for (const token of ["", "another", `${TOKEN}x`, TOKEN.toUpperCase()])
        expect(await said(served.url, path, { method, token, ...body }), `${method} ${path}`).to.equal(
          "401 Unauthorized",
        );
      expect(await said(served.url, path, { method, token: STRANGER, ...body }), `${method} ${path}`).to.match(/^403 /);
    }
    expect(kept.calls).to.deep.equal([]);
    expect([...kept.spaces.keys()]).to.deep.equal(["a"]);
  });

  it("rejects names that would be another path, in any encoding", async () => {
    const names = [
      "..",
      ".",
      "%2e%2e",
      "%2E",
      "..%2f..%2fstatus",
      "a%2fb",
      "a%252fb",
      "a%5cb",
      "a%00",
      "%zz",
      "%ff",
      "a%20b",
      "-a",
      "a".repeat(254),
      "a;b",
      "a%0ab",
      "é",
      "%C3%A9",
      "a:b",
      "*",
      "~",
    ];
    for (const name of names)
      for (const [method, rest] of [
        ["GET", ""],
        ["PUT", ""],
        ["DELETE", ""],
        ["GET", "/kubeconfig?scope=external"],
      ] as const) {
        const body = method === "PUT" ? { body: "{}" } : {};
        const answer = await said(served.url, `/v1/spaces/${name}${rest}`.replace("é", "\u00e9"), { method, ...body });
        expect(answer, `${method} ${name}`).to.match(/^40[04] /);
      }
    expect(kept.calls).to.deep.equal([]);
    expect(await said(served.url, "/v1/spaces/%61", { method: "PUT", body: "{}" })).to.equal("202");
    expect([...kept.spaces.keys()]).to.deep.equal(["a"]);
    for (const path of [
      "/v1/spaces/",
      "/v1/spaces/a/",
      "/v1",
      "/",
      "",
      "/v1/spaces/a/kubeconfig/",
      "/v2/spaces",
      "/api",
      "/apis",
    ])
      expect(await said(served.url, path), path).to.match(/^404 /);
  });

  it("supports the methods of each path and lists them in Allow", async () => {
    for (const [path, allowed] of [
      ["/v1/spaces", "GET"],
      ["/v1/spaces/a", "GET, PUT, DELETE"],
      ["/v1/status", "GET"],
      ["/v1/spaces/a/kubeconfig?scope=external", "GET"],
    ] as const)
      for (const method of ["POST", "PATCH", "OPTIONS", "HEAD"]) {
        const answer = await ask(served.url, path, { method });
        answer.resume();
        expect([answer.statusCode, answer.headers.allow], `${method} ${path}`).to.deep.equal([405, allowed]);
      }
  });

  it("accepts only known fields for a new space, and no long bodies", async () => {
    const put = (body: string, type?: string): Promise<string> =>
      said(served.url, "/v1/spaces/a", { method: "PUT", body, ...(type !== undefined && { type }) });
    expect(await put('{"type":"big"}')).to.match(/^400 invalid request body: .*without fields$/);
    for (const body of ["", "[]", "null", "{", '"a"']) expect(await put(body), body).to.match(/^400 /);
    expect(await put("{}", "text/yaml")).to.match(/^415 /);
    expect(await put(" ".repeat(65 * 1024))).to.match(/^413 /);
    expect([...kept.spaces.keys()]).to.deep.equal([]);
    expect(await put(" {} ", "application/json; charset=utf-8")).to.equal("202");
  });

  it("lists pages sorted by name, whatever changes between them", async () => {
    for (const name of ["d", "b", "f", "a", "c"]) kept.set(name);
    const page = async (query: string) =>
      JSON.parse(await text(await ask(served.url, `/v1/spaces?${query}`))) as {
        readonly items: readonly PhysicalSpace[];
        readonly continue?: string;
      };
    const first = await page("limit=2");
    kept.remove("b");
    kept.set("aa");
    kept.set("e");
    const second = await page(`limit=2&continue=${first.continue}`);
    kept.remove("d");
    const third = await page(`limit=2&continue=${second.continue}`);
    const names = [first, second, third].map(({ items }) => items.map(({ name }) => name).join(" "));
    expect(names).to.deep.equal(["a b", "c d", "e f"]);
    expect(third.continue).to.equal(undefined);
    expect((await page("limit=2&watch=0")).items).to.have.length(2);
  });

  it("returns kubeconfigs of ready spaces with no-store, and a single one for both scopes", async () => {
    const both: SpaceProvider = {
      list: () => kept.list({ signal: AbortSignal.abort() }),
      get: (name) => kept.get(name, { signal: AbortSignal.abort() }),
      access: async () => ({ incluster: "# near", external: "# far" }),
    };
    kept.set("a");
    const kubeconfig = async (url: string, scope: string): Promise<string> => {
      const answer = await ask(url, `/v1/spaces/a/kubeconfig?scope=${scope}`);
      expect(answer.headers).to.include({ "content-type": "application/yaml", "cache-control": "no-store" });
      return text(answer);
    };
    for (const scope of ["incluster", "external"])
      expect(await kubeconfig(served.url, scope)).to.equal(kubeconfigOf("a", "first"));
    await using other = await serve(both);
    expect([await kubeconfig(other.url, "incluster"), await kubeconfig(other.url, "external")]).to.deep.equal([
      "# near",
      "# far",
    ]);
    const status = JSON.parse(await text(await ask(other.url, "/v1/status")));
    expect(status.capabilities).to.deep.equal({ create: false, delete: false, watch: false, hierarchy: false });
    for (const [method, path] of [
      ["PUT", "/v1/spaces/a"],
      ["DELETE", "/v1/spaces/a"],
      ["GET", "/v1/spaces?watch=1"],
    ] as const)
      expect(await said(other.url, path, { method, ...(method === "PUT" && { body: "{}" }) })).to.match(/^501 /);
    kept.set("a", { phase: "Initializing", message: "not now" });
    expect(await said(served.url, "/v1/spaces/a/kubeconfig?scope=external")).to.match(
      /^409 .*the space is not ready: not now$/,
    );
  });

  it("passes a parent to a provider with a hierarchy", async () => {
    const parents: (string | undefined)[] = [];
    const hierarchy: SpaceProvider = {
      list: async ({ parent }) => {
        parents.push(parent);
        return [];
      },
      get: async () => undefined,
      access: async () => ({}),
      create: async (_, { parent }) => void parents.push(parent),
    };
    await using other = await serve(hierarchy, { hierarchy: true });
    await said(other.url, "/v1/spaces?parent=root:org");
    await said(other.url, "/v1/spaces");
    await said(other.url, "/v1/spaces/a?parent=root:org%3Ateam", { method: "PUT", body: "{}" });
    expect(parents).to.deep.equal(["root:org", undefined, "root:org:team"]);
    expect(await said(other.url, "/v1/spaces?parent=")).to.match(/^400 parent: /);
    expect(await said(other.url, "/v1/spaces?parent=a&parent=b")).to.match(/^400 parent: duplicate query parameter/);
    expect(await said(served.url, "/v1/spaces?parent=root:org")).to.match(/^501 parent: /);
  });

  it("reports errors of a provider's own upstreams as 500", async () => {
    const told: string[] = [];
    await using other = await serve(kept, { onError: (error) => void told.push(String(error)) });
    const { ApiError } = await import("@virtual-workspaces/apimachinery");
    for (const error of [ApiError.unauthorized(), ApiError.notFound({ group: "", resource: "spaces" }, "a")]) {
      kept.before = () => {
        throw error;
      };
      expect(await said(other.url, "/v1/spaces/a")).to.equal(`500 Internal error occurred: ${error.message}`);
    }
    kept.before = () => undefined;
    kept.said = [{ name: "a/b", phase: "Ready" }];
    expect(await said(other.url, "/v1/spaces")).to.match(/^500 .*has a space with the invalid name "a\/b": use 1/);
    kept.said = [{ name: "a", phase: "Gone" as never }];
    expect(await said(other.url, "/v1/spaces")).to.match(/^500 .*an invalid phase: use "Initializing" or "Ready"$/);
  });

  it("is a middleware of Express and of a plain server, with their authenticators", async () => {
    const options = () => ({
      virtualWorkspaces: [spaceProviderView(kept, { authorize: authenticated(), name: "mine" })],
      authentication: [staticTokens({ [TOKEN]: { name: "manager" } })],
    });
    await using inExpress = virtualWorkspaces(options());
    await using plain = virtualWorkspaces(options());
    const app = express()
      .use(inExpress)
      .get("/", (_, res) => void res.send("home"));
    const servers = [createServer(app), createServer((req, res) => plain(req, res, () => res.writeHead(404).end()))];
    for (const server of servers) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/mine`;
      expect(await said(url, "/v1/spaces/m", { method: "PUT", body: "{}" })).to.equal("202");
      expect(await said(url, "/v1/spaces", { token: "" })).to.equal("401 Unauthorized");
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    }
    expect([...kept.spaces.keys()]).to.deep.equal(["m"]);
  });

  it("rejects invalid options", () => {
    const authorize = authenticated();
    for (const [options, problem] of [
      [{ heartbeat: 30_001 }, /^invalid heartbeat .*1 to 30000 ms/],
      [{ callTimeout: 0 }, /^invalid callTimeout /],
      [{ version: "" }, /^invalid version /],
      [{ authorize: undefined as never }, /authorize/],
    ] as const)
      expect(() => spaceProviderView(kept, { authorize, ...options })).to.throw(problem);
  });
});
