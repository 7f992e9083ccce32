// The caller's own token, given to views that accept it, by a server that only its own process can reach.
import { allow, defineVirtualWorkspace, type ServerOptions } from "@virtual-workspaces/framework";
import { callersTokenHeaders } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

const heard: string[] = [];
const view = (takesToken: boolean) =>
  defineVirtualWorkspace({
    ...{ name: takesToken ? "takes" : "other", path: "/", takesToken, authorize: () => allow() },
    handle: (req, res, { user, token }) => {
      heard.push(...req.rawHeaders.filter((text) => /token/i.test(text)));
      res.end(`${user.name}: ${token}`);
    },
    upgrade: (_, socket, { token }) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${token}`),
  });
const start = (options: Partial<ServerOptions> = {}) =>
  startPlain([view(true), view(false)], { impersonation: () => allow(), ...options });
const said = (token: string): Record<string, string> => {
  const [name = "", value = ""] = callersTokenHeaders(token);
  return { [name]: value };
};
const AS = { "impersonate-user": "bob" };

describe("the caller's token", () => {
  it("is the one of the request, whatever else a client sends, and undefined for impersonated users", async () => {
    await using server = await start();
    const ask = async (headers = {}) => (await server.get("/services/takes", { headers })).text;
    expect(await ask()).to.equal("alice: alice");
    expect(await ask(said("stolen"))).to.equal("alice: alice");
    expect(await ask({ ...AS, ...said("stolen") })).to.equal("bob: undefined");
    expect((await server.get("/services/other", { headers: said("stolen") })).text).to.equal("alice: undefined");
    expect(heard).to.deep.equal([]);
  });

  it("is the one in the header if the server accepts it, and never the one that authenticated the request", async () => {
    await using server = await start({ takesCallersTokens: true });
    const ask = async (headers = {}, path = "takes") => (await server.get(`/services/${path}`, { headers })).text;
    expect(await ask({ ...AS, ...said("bob's Zwölf") })).to.equal("bob: bob's Zwölf");
    expect(await ask(AS)).to.equal("bob: undefined");
    expect(await ask()).to.equal("alice: undefined");
    expect(await ask({ ...AS, "x-remote-token": "_" })).to.equal("bob: undefined");
    expect(await ask({ ...AS, ...said("a") }, "other")).to.equal("bob: undefined");
    expect(heard).to.deep.equal([]);

    using wire = await Wire.open(Number(new URL(server.url).port));
    const lines = Object.entries({ ...AS, ...said("bob's") }).map(([name, value]) => `${name}: ${value}`);
    const upgrade = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: test"];
    wire.request("GET /services/takes HTTP/1.1", ...upgrade, ...lines);
    const answer = "HTTP/1.1 101 Switching Protocols\r\n\r\nbob's";
    expect(String(await wire.read(answer.length))).to.equal(answer);
  });

  it("is undefined when there are two", async () => {
    await using server = await start({ takesCallersTokens: true });
    using wire = await Wire.open(Number(new URL(server.url).port));
    const [name, value] = callersTokenHeaders("a");
    const lines = ["Host: x", "Authorization: Bearer alice", `${name}: ${value}`, `${name}: ${value}`];
    wire.request("GET /services/takes HTTP/1.1", ...lines);
    expect((await wire.answer())?.body).to.equal("alice: undefined");
  });
});
