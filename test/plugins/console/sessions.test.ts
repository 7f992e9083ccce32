// Sessions of the console: signing in by token and by link, cookies, requests of other pages, and what the page is served with.
import { randomBytes } from "node:crypto";
import { createConsole } from "@virtual-workspaces/console";
import { staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { ensureConsole } from "../../../tools/console.mjs";
import { openWatch } from "../../_support/web-socket.ts";
import { LONG, MARK, NOTES, startConsole as start } from "./support/console-server.ts";

describe("a session of the console", () => {
  it("begins with a token, authenticates the page's requests, and ends", async () => {
    await using server = await start();
    const { status, cookie } = await server.signIn({ token: "alice" });
    expect(status).to.equal(204);
    const headers = { cookie, ...MARK };
    expect((await server.call("/console/session", { headers })).body.user).to.deep.equal({
      username: "alice",
      groups: ["staff", "system:authenticated"],
    });
    expect((await server.call(NOTES, { headers })).status).to.equal(200);
    using watch = await openWatch(server.url, `${NOTES}?watch=true`, { headers: { cookie, origin: server.url } });
    expect(watch.response.statusCode).to.equal(101);
    const ended = await server.call("/console/session", { method: "DELETE", headers });
    expect([ended.status, ended.headers.getSetCookie().every((line) => /=; Max-Age=0;/.test(line))]).to.deep.equal([
      204,
      true,
    ]);
    expect((await server.call(NOTES, { headers })).status).to.equal(401);
  });

  it("is a cookie that scripts, other hosts and other sites cannot use, and that does not show the token", async () => {
    await using server = await start();
    const { set } = await server.signIn({ token: "alice" });
    expect(set[0]).to.match(
      /^__Host-virtual-workspaces-[\da-f]{12}-0=[\w-]+; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    expect(Buffer.from(/=([\w-]+)/.exec(set[0] ?? "")?.[1] ?? "", "base64url").toString("latin1")).to.not.include(
      "alice",
    );
  });

  it("is ignored in requests that the page has not caused", async () => {
    await using server = await start();
    const { cookie } = await server.signIn({ token: "alice" });
    const unmarked = await server.call(NOTES, { headers: { cookie } });
    expect(unmarked.status).to.equal(401);
    for (const site of ["same-site", "cross-site", "none"])
      expect(
        (await server.call(NOTES, { headers: { cookie, ...MARK, "sec-fetch-site": site } })).status,
        site,
      ).to.equal(401);
    expect((await server.call("/console/session", { headers: { cookie } })).status).to.equal(403);
    for (const origin of ["https://evil.test", `${server.url}0`]) {
      const rejected = openWatch(server.url, `${NOTES}?watch=true`, { headers: { cookie, origin } });
      expect(await rejected.then(() => "open", String), origin).to.match(/401|403/);
    }
    const other = await openWatch(server.url, `${NOTES}?watch=true`, { headers: { cookie } }).then(
      () => "open",
      String,
    );
    expect(other).to.include("401");
  });

  it("is invalid if the cookie was changed, is of another key or has expired", async () => {
    await using server = await start({ lifetime: 1_000 });
    await using another = await start();
    const { cookie } = await server.signIn({ token: "alice" });
    const at = cookie.length - 30;
    const changed = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
    const name = cookie.slice(0, cookie.indexOf("="));
    for (const one of [changed, cookie.slice(0, -40), `${name}=`, `${name}=AAAA`])
      expect((await server.call(NOTES, { headers: { cookie: one, ...MARK } })).status).to.equal(401);
    expect((await another.call(NOTES, { headers: { cookie, ...MARK } })).status).to.equal(401);
    await using expired = await start({ lifetime: 0 });
    const { cookie: old } = await expired.signIn({ token: "alice" });
    expect((await expired.call(NOTES, { headers: { cookie: old, ...MARK } })).status).to.equal(401);
  });

  it("goes on in another process with the same key", async () => {
    const key = randomBytes(32);
    await using server = await start({ key });
    await using another = await start({ key });
    const { cookie } = await server.signIn({ token: "alice" });
    expect((await another.call(NOTES, { headers: { cookie, ...MARK } })).status).to.equal(200);
    expect(() => createConsole({ key: randomBytes(16) })).to.throw(
      "invalid key of sessions with 16 bytes: use 32 random bytes",
    );
  });

  it("leaves the sessions of other consoles on the host, whose cookies browsers send to every port", async () => {
    const jar = new Map<string, string>();
    const keep = (set: readonly string[]): string => {
      for (const line of set) {
        const [pair = ""] = line.split(";", 1);
        const [name = "", value = ""] = pair.split("=");
        jar.delete(name);
        if (value !== "") jar.set(name, value);
      }
      return [...jar].map((pair) => pair.join("=")).join("; ");
    };
    await using first = await start();
    await using second = await start();
    const others = await Promise.all(Array.from({ length: 4 }, () => start()));
    keep((await first.signIn({ token: "alice" })).set);
    const cookie = keep((await second.signIn({ token: "bob" }, keep([]))).set);
    for (const [{ call }, user] of [[first, "alice"] as const, [second, "bob"] as const])
      expect((await call("/console/session", { headers: { ...MARK, cookie } })).body.user.username).to.equal(user);
    const ended = await second.call("/console/session", { method: "DELETE", headers: { ...MARK, cookie } });
    keep(ended.headers.getSetCookie());
    expect([...jar.keys()]).to.have.length(1);
    // Those of consoles that are no longer there do not accumulate.
    for (const other of others) keep((await other.signIn({ token: "alice" }, keep([]))).set);
    keep((await second.signIn({ token: "bob" }, keep([]))).set);
    expect([...jar.keys()]).to.have.length(5);
    expect((await first.call(NOTES, { headers: { ...MARK, cookie: keep([]) } })).status).to.equal(401);
    for (const other of others) await other[Symbol.asyncDispose]();
  });

  it("has an error of its own when the server no longer accepts its token, as after a restart with other tokens", async () => {
    const key = randomBytes(32);
    await using server = await start({ key });
    await using restarted = await start(
      { key },
      { authentication: [staticTokens({ "new-token": { name: "alice" } })] },
    );
    const { cookie } = await server.signIn({ token: "alice" });
    const read = async (headers: Readonly<Record<string, string>>) => {
      const { status, body } = await restarted.call("/console/session", { headers: { ...MARK, ...headers } });
      return [status, body.message, body.details?.kind];
    };
    const ended = "the server no longer accepts the token of this session";
    expect(await read({ cookie })).to.deep.equal([401, ended, "sessions"]);
    expect(await read({})).to.deep.equal([401, "Unauthorized", undefined]);
  });

  it("takes several cookies for a long token, and rejects one that is too long", async () => {
    await using server = await start();
    const { status, cookie } = await server.signIn({ token: LONG.slice(0, 9_000) });
    expect([status, cookie.split("; ").length]).to.deep.equal([204, 4]);
    expect((await server.call(NOTES, { headers: { cookie, ...MARK } })).status).to.equal(200);
    const rejected = await server.signIn({ token: LONG });
    expect([rejected.status, rejected.message]).to.deep.equal([
      400,
      "the token is too long for a session: use one of at most 11,000 characters",
    ]);
  });

  it("does not replace the credentials of a request", async () => {
    await using server = await start();
    const { cookie } = await server.signIn({ token: "alice" });
    expect((await server.call(NOTES, { headers: { cookie, ...MARK, authorization: "Bearer wrong" } })).status).to.equal(
      401,
    );
  });
});

describe("cookies of the console", () => {
  it("reach no upstream, that of a sign-in under way and those of other consoles included", () => {
    const { credentials } = createConsole().pages;
    const ours = ["0=x", "login=y"].map((end) => `__Host-virtual-workspaces-0123456789ab-${end}`);
    const cookie = ["a=1", ...ours, "__Host-virtual-workspaces-0=z", "b=2"].join("; ");
    expect(credentials?.({ cookie })).to.deep.include({ cookie: "a=1; b=2" });
  });
});

describe("signing in to the console", () => {
  it("works once by a link, whose code is in no request before", async () => {
    await using server = await start();
    const link = new URL(server.page.link(server.url, "alice"));
    expect([link.pathname, link.search]).to.deep.equal(["/console/", ""]);
    const code = link.hash.slice("#code=".length);
    const { status, cookie } = await server.signIn({ code });
    expect(status).to.equal(204);
    expect((await server.call(NOTES, { headers: { cookie, ...MARK } })).status).to.equal(200);
    const again = await server.signIn({ code });
    expect([again.status, again.message]).to.deep.equal([401, "the link has been used or is too old: make a new one"]);
    const signedIn = server.logged.records.filter(({ message }) => message === "signed in to the console");
    expect(signedIn).to.deep.equal([{ level: "info", message: "signed in to the console", user: "alice", by: "link" }]);
  });

  it("by a link is possible for a limited time", async () => {
    await using server = await start({ linkLifetime: -1 });
    const code = new URL(server.page.link(server.url, "alice")).hash.slice("#code=".length);
    expect((await server.signIn({ code })).status).to.equal(401);
  });

  it("by a token that only the authenticators of sign-ins know is no failed attempt", async () => {
    const others = [staticTokens({ elsewhere: { name: "ada" } })];
    await using server = await start(
      { authentication: others },
      { authenticationFailures: { failures: 1, forgiveEvery: 3_600_000, trusted: [] } },
    );
    for (let times = 0; times < 4; times++) expect((await server.signIn({ token: "elsewhere" })).status).to.equal(204);
    const statuses = [];
    for (let times = 0; times < 3; times++) statuses.push((await server.signIn({ token: "wrong" })).status);
    expect(statuses).to.deep.equal([401, 429, 429]);
  });

  it("rejects invalid requests", async () => {
    await using server = await start();
    const TEXT = 'invalid sign-in: send {"token": "…"} with a bearer token, or {"code": "…"} with that of a link';
    for (const body of [{}, { token: "a", code: "b" }, { token: 1 }, { token: "" }, { token: "a b" }])
      expect((await server.signIn(body)).message).to.equal(TEXT);
    for (const body of ["x", "1", "null"])
      expect((await server.signIn(body)).message).to.equal("invalid sign-in: send a JSON object");
    expect((await server.signIn({ token: "x".repeat(70_000) })).status).to.equal(413);
    expect((await server.signIn({ token: "wrong" })).status).to.equal(401);
    expect((await server.call("/console/session", { method: "PUT", headers: MARK })).status).to.equal(405);
    expect((await server.call("/console/session", { headers: MARK })).status).to.equal(401);
  });

  it("makes a code for the caller's token, and for no one else", async () => {
    await using server = await start();
    const codes = (headers: Readonly<Record<string, string>>) =>
      server.call("/console/codes", { method: "POST", headers });
    expect((await codes({})).status).to.equal(401);
    expect((await codes({ authorization: "Bearer wrong" })).status).to.equal(401);
    const { status, body } = await codes({ authorization: "Bearer alice" });
    expect(status).to.equal(200);
    expect((await server.signIn({ code: body.code })).status).to.equal(204);
    expect((await server.call("/console/codes", { headers: { authorization: "Bearer alice" } })).status).to.equal(405);
  });
});

describe("the page of the console", () => {
  before(async function () {
    this.timeout(60_000);
    const { ok, output } = await ensureConsole();
    expect(ok, output).to.equal(true);
  });

  it("is served without authentication, with headers that forbid inline code, frames and other hosts", async () => {
    await using server = await start();
    const { status, headers } = await server.call("/console");
    expect([status, headers.get("location")]).to.deep.equal([308, "./console/"]);
    const page = await server.call("/console/");
    expect([page.status, page.headers.get("content-type")]).to.deep.equal([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'").and.not.include("unsafe");
    const again = await server.call("/console/", { headers: { "if-none-match": page.headers.get("etag") ?? "" } });
    expect(again.status).to.equal(304);
    for (const path of [
      "/console/nothing.js",
      "/console/assets/",
      "/console/..%2f..%2fpackage.json",
      "/console/assets/../../package.json",
    ])
      expect((await server.call(path)).status, path).to.be.oneOf([404, 401]);
    expect((await server.call("/console/", { method: "POST" })).status).to.equal(405);
  });
});
