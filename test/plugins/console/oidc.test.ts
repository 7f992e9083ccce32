// Signing in to the console by OpenID Connect, with a real issuer: authorization code with PKCE.
import { request } from "node:https";
import { createConsole } from "@virtual-workspaces/console";
import {
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { jwt } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { testLog } from "../../_setup/log.ts";
import { TestIssuer } from "../../_support/issuer.ts";
import { Note } from "../../_support/note.ts";
import { createAuthority } from "../../_support/server.ts";
import { until } from "../../_support/until.ts";

const MARK = { "x-requested-with": "virtual-workspaces-console" };

interface Answer {
  readonly status: number;
  readonly location: string;
  /** Cookies that the answer sets, for a `Cookie` header. */
  readonly cookies: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  readonly body: any;
}

async function call(url: string, ca: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const req = request(url, { ca, agent: false, headers }).end();
  const res = await new Promise<import("node:http").IncomingMessage>((resolve, reject) =>
    req.once("response", resolve).once("error", reject),
  );
  let text = "";
  for await (const piece of res.setEncoding("utf8")) text += piece;
  const set = (res.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0]?.split(/=(.*)/s, 2) ?? []);
  const cookies = Object.fromEntries(set.map(([name, value]) => [name, value]));
  const isJson = text !== "" && res.headers["content-type"]?.includes("json") === true;
  return {
    status: res.statusCode ?? 0,
    location: res.headers.location ?? "",
    cookies,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

const cookieOf = (cookies: Readonly<Record<string, string>>): string =>
  Object.entries(cookies)
    .filter(([, value]) => value !== "")
    .map((pair) => pair.join("="))
    .join("; ");

/** A view with an object to watch. */
function notes(): VirtualWorkspace {
  return defineVirtualWorkspace({
    ...{ name: "notes", path: "/clusters/:cluster", authorize: authenticated() },
    resources: [Note.serve(Note.collection())],
  });
}

/** @param knows whether the server knows the issuer, or only the workspace `shop` */
async function start(audience = "vw", knows: "server" | "workspace" = "server") {
  const issuer = await TestIssuer.start();
  const { log, records } = testLog();
  const authority = createAuthority();
  const oidc = [{ issuer: issuer.url, clientId: "vw", ca: issuer.authority.cert }];
  const page = createConsole({ oidc, log });
  /** Records of the access log and of the audit log. */
  const requests: unknown[] = [];
  const accepted = issuer.config({
    issuer: { url: issuer.url, audiences: [audience], certificateAuthority: issuer.authority.cert },
  });
  const known = jwt([accepted], { log });
  const server = createServer({
    virtualWorkspaces: [
      notes(),
      defineVirtualWorkspace({
        ...{ name: "workspaces", prefix: "/clusters", path: "/:cluster", authorize: authenticated() },
        authentication: ({ cluster }) => (cluster === "shop" && knows === "workspace" ? [known] : []),
        resources: [Note.serve(Note.collection())],
      }),
    ],
    authentication: knows === "server" ? [known] : [],
    tls: authority.server,
    log,
    pages: page.pages,
    onRequest: (record) => void requests.push(record),
    audit: audit({
      policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "RequestResponse" }] },
      to: (line) => void requests.push(line),
    }),
  });
  const { url } = await server.listen({ port: 0 });
  const get = (path: string, headers?: Readonly<Record<string, string>>) =>
    call(`${url}/console/${path}`, authority.ca, headers);
  return {
    ...{ issuer, url, get, records, authority, requests },
    /** Goes to the issuer and back, like a browser. */
    signIn: async (session = "", query = ""): Promise<{ readonly callback: string; readonly cookie: string }> => {
      const begun = await get(`sign-in/0${query}`, session === "" ? {} : { cookie: session });
      const back = await call(begun.location, issuer.authority.cert);
      return { callback: back.location.slice(`${url}/console/`.length), cookie: cookieOf(begun.cookies) };
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

describe("signing in to the console by OpenID Connect", () => {
  it("leads to the issuer and back, and begins the session of the ID token", async () => {
    await using it = await start();
    expect((await it.get("issuers")).body).to.deep.equal({
      issuers: [{ name: new URL(it.issuer.url).host, path: "sign-in/0" }],
    });
    const begun = await it.get("sign-in/0");
    const parameters = new URL(begun.location).searchParams;
    expect(Object.fromEntries(parameters)).to.include({
      ...{ response_type: "code", client_id: "vw", scope: "openid profile email", code_challenge_method: "S256" },
      redirect_uri: `${it.url}/console/callback`,
    });
    const { callback, cookie } = await it.signIn();
    const ended = await it.get(callback, { cookie });
    expect([ended.status, ended.location]).to.deep.equal([303, "./"]);
    const [login] = Object.keys(begun.cookies);
    expect([login?.replace(/[\da-f]{12}/, "…"), ended.cookies[login ?? ""]]).to.deep.equal([
      ...["__Host-virtual-workspaces-…-login", ""],
    ]);
    const session = await it.get("session", { cookie: cookieOf(ended.cookies), ...MARK });
    expect(session.body.user).to.deep.equal({ username: "jane", groups: ["readers", "system:authenticated"] });
    expect(it.records.map(({ message }) => message)).to.include("signed in to the console");
  });

  it("begins the session of the workspace that knows the issuer, if the server does not", async () => {
    await using it = await start("vw", "workspace");
    for (const [query, location] of [
      ["?workspace=shop", "./"],
      ["?workspace=other", "./#sign-in=rejected"],
      ["?workspace=../services/notes", "./#sign-in=rejected"],
      ["", "./#sign-in=rejected"],
    ] as const) {
      const { callback, cookie } = await it.signIn("", query);
      const ended = await it.get(callback, { cookie });
      expect(ended.location, query).to.equal(location);
      if (location !== "./") continue;
      const { body } = await it.get("session", { cookie: cookieOf(ended.cookies), ...MARK });
      expect([body.user.username, body.workspace]).to.deep.equal(["jane", "shop"]);
    }
    expectFault(/token of the console's issuer rejected/);
  });

  it("needs the browser that began, its state, and a code that was not used", async () => {
    await using it = await start();
    const { callback, cookie } = await it.signIn();
    const other = await it.signIn();
    expect((await it.get(callback)).location).to.equal("./#sign-in=expired");
    expect((await it.get(callback, { cookie: cookie.slice(0, -20) })).location).to.equal("./#sign-in=expired");
    expect((await it.get(callback, { cookie: other.cookie })).location).to.equal("./#sign-in=failed");
    expect((await it.get(callback, { cookie })).location).to.equal("./");
    const again = await it.get(callback, { cookie });
    expect([again.location, cookieOf(again.cookies)]).to.deep.equal(["./#sign-in=failed", ""]);
    expectFault(/sign-in to the console failed/);
  });

  it("ends the session that it replaces, with its watches", async () => {
    await using it = await start();
    const first = await it.signIn();
    const session = cookieOf((await it.get(first.callback, { cookie: first.cookie })).cookies);
    const path = "/services/notes/clusters/root/apis/test.dev/v1/notes?watch=true";
    const req = request(`${it.url}${path}`, {
      ca: it.authority.ca,
      agent: false,
      headers: { cookie: session, ...MARK },
    });
    const watch = await new Promise<import("node:http").IncomingMessage>((resolve) =>
      req.end().once("response", resolve),
    );
    expect(watch.statusCode).to.equal(200);
    const closed = new Promise((resolve) => watch.resume().once("close", resolve));
    watch.on("error", () => undefined);
    // The issuer is another site: the browser comes back without the cookie of the session.
    const second = await it.signIn(session);
    const ended = await it.get(second.callback, { cookie: second.cookie });
    expect(ended.location).to.equal("./");
    await closed;
    expect((await it.get("session", { cookie: session, ...MARK })).status).to.equal(401);
    expect((await it.get("session", { cookie: cookieOf(ended.cookies), ...MARK })).status).to.equal(200);
  });

  it("is not begun by pages of other sites", async () => {
    await using it = await start();
    for (const site of ["cross-site", "same-site"]) {
      const { status, location, cookies } = await it.get("sign-in/0", { "sec-fetch-site": site });
      expect([status, location, cookieOf(cookies)]).to.deep.equal([303, "../", ""]);
    }
    for (const site of ["same-origin", "none"])
      expect((await it.get("sign-in/0", { "sec-fetch-site": site })).location).to.include(it.issuer.url);
  });

  it("says so if the user denies the sign-in, or the server does not accept the token", async () => {
    await using it = await start();
    it.issuer.browser = undefined;
    const { callback, cookie } = await it.signIn();
    expect((await it.get(callback, { cookie })).location).to.equal("./#sign-in=denied");
    await using strict = await start("another");
    const begun = await strict.signIn();
    const ended = await strict.get(begun.callback, { cookie: begun.cookie });
    expect([ended.location, cookieOf(ended.cookies)]).to.deep.equal(["./#sign-in=rejected", ""]);
    expectFault(/token of the console's issuer rejected|token rejected/);
  });

  it("leaves the code of the issuer in no log: neither of requests, nor of audit events, nor of failures", async () => {
    await using it = await start();
    const { callback, cookie } = await it.signIn();
    const code = new URL(callback, it.url).searchParams.get("code") ?? "";
    expect(code).to.have.length.above(5);
    await it.get(callback, { cookie });
    await it.get(callback, { cookie });
    await it.get(callback);
    expectFault(/sign-in to the console failed/);
    // Each request has a record and an event.
    await until(() => it.requests.length === 8);
    const logged = JSON.stringify([it.requests, it.records]);
    expect(logged).to.include("/console/callback").and.not.include(code);
  });

  it("returns to the page below a proxy's path, and to no other host", async () => {
    await using it = await start();
    const redirectFor = async (page: string) => (await it.get(`sign-in/0?page=${encodeURIComponent(page)}`)).location;
    const below = new URL(await redirectFor(`${it.url}/platform/console/`)).searchParams.get("redirect_uri");
    expect(below).to.equal(`${it.url}/platform/console/callback`);
    for (const page of [
      "https://evil.test/console/",
      `${it.url}/other/`,
      `${it.url}.evil.test/console/`,
      "javascript:alert(1)",
    ])
      expect((await it.get(`sign-in/0?page=${encodeURIComponent(page)}`)).status, page).to.equal(400);
    expect((await it.get("sign-in/1")).status).to.equal(404);
  });

  it("is 503 while the issuer cannot be reached, and works when it is back", async () => {
    await using it = await start();
    await it.issuer.down();
    const { status, body } = await it.get("sign-in/0");
    expect([status, body.message]).to.deep.equal([
      503,
      "the issuer cannot be reached: try again, or sign in with a token",
    ]);
    expectFault(/cannot read the issuer of the console/);
    await it.issuer.up();
    expect((await it.get("sign-in/0")).status).to.equal(303);
  });
});
