// Requests of browser pages from other origins (CORS).
import { allow, createServer, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { proxy } from "@virtual-workspaces/framework/proxy";
import { expect } from "chai";
import { startListener } from "../_support/listener.ts";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const CONSOLE = "https://console.example.com";
const views = () => [
  defineVirtualWorkspace({
    ...{ name: "notes", path: "/clusters/:cluster", authorize: () => allow() },
    resources: [Note.serve(Note.collection())],
  }),
];
const start = (corsAllowedOrigins: readonly string[]) => startPlain(views(), { corsAllowedOrigins });
const PREFLIGHT = { "access-control-request-method": "PATCH", "access-control-request-headers": "authorization" };

async function preflight(url: string, origin: string) {
  const response = await fetch(`${url}${NOTES}`, { method: "OPTIONS", headers: { origin, ...PREFLIGHT } });
  await response.arrayBuffer();
  return response;
}

describe("a page of an allowed origin", () => {
  it("may send requests with a token and read the responses", async () => {
    await using server = await start(["^https://[a-z]+\\.example\\.com$"]);
    const asked = await preflight(server.url, CONSOLE);
    expect(asked.status).to.equal(204);
    expect(asked.headers.get("access-control-allow-origin")).to.equal(CONSOLE);
    expect(asked.headers.get("access-control-allow-credentials")).to.equal("true");
    expect(asked.headers.get("access-control-allow-methods")).to.include("PATCH");
    expect(asked.headers.get("access-control-allow-headers")).to.include("Authorization");
    const { status, headers } = await server.get(NOTES, { headers: { origin: CONSOLE } });
    expect([status, headers["access-control-allow-origin"], headers.vary]).to.deep.equal([200, CONSOLE, "Origin"]);
    expect(headers["access-control-expose-headers"]).to.include("Warning");
  });

  it("may read errors too", async () => {
    await using server = await start(["^https://console\\.example\\.com$"]);
    const { status, headers } = await server.get("/services/none", { headers: { origin: CONSOLE } });
    expect([status, headers["access-control-allow-origin"]]).to.deep.equal([404, CONSOLE]);
  });
});

describe("a page of another origin", () => {
  it("gets no header, and its preflight request is rejected as any request without credentials", async () => {
    await using server = await start(["^https://console\\.example\\.com$"]);
    for (const origin of ["https://evil.test", `${CONSOLE}.evil.test`, "null"]) {
      const asked = await preflight(server.url, origin);
      expect([asked.status, asked.headers.get("access-control-allow-origin")]).to.deep.equal([401, null]);
      const { headers } = await server.get(NOTES, { headers: { origin } });
      expect(headers).not.to.have.property("access-control-allow-origin");
      expect(headers.vary).to.equal("Origin");
    }
  });

  it("gets no header from a server that allows none", async () => {
    await using server = await start([]);
    const { headers } = await server.get(NOTES, { headers: { origin: CONSOLE } });
    expect(headers).not.to.have.any.keys("access-control-allow-origin", "vary");
    expect((await preflight(server.url, CONSOLE)).status).to.equal(401);
  });
});

describe("a response whose form depends on more headers", () => {
  it("names the origin among them", async () => {
    await using server = await start(["^https://console\\.example\\.com$"]);
    const { headers } = await server.get("/services/notes/clusters/root/apis", { headers: { origin: CONSOLE } });
    expect(headers.vary).to.equal("Origin, Accept");
  });
});

describe("a response that an upstream allows pages to read", () => {
  it("is readable only for pages of this server's allowed origins", async () => {
    await using there = await startListener((_req, res) => {
      res.setHeader("Access-Control-Allow-Origin", "https://evil.test");
      res.setHeader("Access-Control-Allow-Credentials", "true");
      res.setHeader("Access-Control-Expose-Headers", "X-Own");
      res.setHeader("Vary", "Accept");
      res.setHeader("X-Own", "1");
      res.end("{}");
    });
    await using passing = proxy({ upstream: { url: there.url } });
    const { handle } = passing;
    const view = defineVirtualWorkspace({ name: "there", path: "/", authorize: () => allow(), handle });
    await using server = await startPlain([view], { corsAllowedOrigins: ["^https://console\\.example\\.com$"] });
    const evil = await server.get("/services/there/x", { headers: { origin: "https://evil.test" } });
    expect([evil.status, evil.headers["x-own"], evil.headers.vary]).to.deep.equal([200, "1", "Origin, Accept"]);
    expect(Object.keys(evil.headers).filter((name) => name.startsWith("access-control-"))).to.deep.equal([]);
    const own = await server.get("/services/there/x", { headers: { origin: CONSOLE } });
    expect(own.headers["access-control-allow-origin"]).to.equal(CONSOLE);
    expect(own.headers["access-control-expose-headers"]).to.include("Warning");
  });
});

describe("an expression for allowed origins", () => {
  const ANCHOR = "anchor the regular expression at the start and the end of the host";
  const EVERY = "it matches every host: name the hosts of your pages";
  const WRONG = {
    "https://console.example.com": ANCHOR,
    "^https://console.example.com": ANCHOR,
    "example.com$": ANCHOR,
    "^.*$": EVERY,
    "//.*(:|$)": EVERY,
    "^https://.*$": EVERY,
    "^(https://a$": "it is no regular expression (RE2): correct it",
  };
  for (const [expression, why] of Object.entries(WRONG))
    it(`is rejected: ${expression}`, () => {
      const make = () => createServer({ virtualWorkspaces: [], authentication: [], corsAllowedOrigins: [expression] });
      expect(make).to.throw(
        `invalid allowed origin ${JSON.stringify(expression)}: ${why}, such as ^https://console\\.example\\.com$`,
      );
    });
});
