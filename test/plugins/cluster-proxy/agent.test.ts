// Why: an agent does not trust its hub. The hub of these tests sends anything.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { HubEnd } from "@virtual-workspaces/cluster-proxy";
import { issueCertificate, type KeyPair } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { linesOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, TestAgent } from "./support/hub.ts";

describe("agent with an untrusted hub", function () {
  this.timeout(30_000);
  let hub: Server;
  let target: Target;
  let certificate: KeyPair;
  const tunnels: { readonly end: HubEnd; readonly headers: Readonly<Record<string, unknown>> }[] = [];
  const dialled: (() => void)[] = [];
  let refusal: number | undefined;

  before(async () => {
    target = await startTarget();
    certificate = await issueCertificate({
      subject: { name: "agent", groups: [] },
      purpose: { kind: "client" },
      now: new Date(),
    });
    hub = createServer((_, res) => res.writeHead(refusal ?? 500).end("no Status"));
    hub.on("upgrade", (req, socket: Duplex) => {
      if (refusal !== undefined)
        return void socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: virtual-workspaces-tunnel.v1\r\nx-virtual-workspaces-epoch: 7\r\n\r\n",
        () => {
          tunnels.push({ end: new HubEnd(socket), headers: req.headers });
          for (const go of dialled.splice(0)) go();
        },
      );
    });
    hub.listen(0, "127.0.0.1");
    await once(hub, "listening");
  });
  afterEach(() => {
    refusal = undefined;
  });
  after(async () => {
    hub.closeAllConnections();
    hub.close();
    await target?.[Symbol.asyncDispose]();
  });

  async function dials(options: Partial<ConstructorParameters<typeof TestAgent>[0]> = {}): Promise<TestAgent> {
    const url = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/services/clusterproxy-agents/root/shop`;
    const { promise, resolve } = Promise.withResolvers<void>();
    dialled.push(resolve);
    const agent = new TestAgent({ hub: { url }, hubs: 1, api: apiOf(target), certificate, ...options });
    await promise;
    return agent;
  }

  /** Returns the head of the agent's response to a raw request. */
  async function asked(...lines: readonly string[]): Promise<string> {
    const stream = await (tunnels.at(-1) as (typeof tunnels)[0]).end.open("api");
    stream.write(`${["GET /api/v1/pods HTTP/1.1", "host: a", "connection: close", ...lines].join("\r\n")}\r\n\r\n`);
    return text(stream);
  }

  it("rejects requests without a user, and for users of the system", async () => {
    await using _ = await dials();
    const before = target.asked.length;
    expect(await asked()).to.match(
      /^HTTP\/1\.1 403 [\s\S]*the request of the hub names no user: send Impersonate-User/,
    );
    expect(await asked("impersonate-user: system:admin", "impersonate-group: system:masters")).to.match(
      /^HTTP\/1\.1 403 [\s\S]*has no identity in remote clusters/,
    );
    expect(await asked("x-remote-user: alice")).to.match(/^HTTP\/1\.1 403 /);
    expect(target.asked.length).to.equal(before);
    expect(
      await asked(
        "impersonate-user: alice",
        "impersonate-group: system:masters",
        "impersonate-group: devs",
        "impersonate-extra-scopes: all",
        "impersonate-uid: 1",
      ),
    ).to.match(/^HTTP\/1\.1 200 /);
    const said = linesOf(target.asked.at(-1) as never).filter((line) => /^(impersonate|authorization)/.test(line));
    expect(said).to.deep.equal([
      "impersonate-user: alice",
      "impersonate-group: devs",
      "impersonate-group: system:authenticated",
      "authorization: Bearer agents-own",
    ]);
  });

  it("gives connections to its cluster's API server and to nothing else", async () => {
    await using _ = await dials();
    const { end } = tunnels.at(-1) as (typeof tunnels)[0];
    for (const other of ["127.0.0.1:22", "kube-dns", "API", new URL(target.url).host])
      expect(await end.open(other).catch(({ code }: { readonly code: string }) => code), other).to.equal("refused");
  });

  it("allows what its rules allow, by verb, resource and path", async () => {
    const allow = [
      { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] },
      { verbs: ["get"], nonResourceURLs: ["/version"] },
    ];
    await using _ = await dials({ allow });
    const alice = "impersonate-user: alice";
    expect(await asked(alice)).to.match(/^HTTP\/1\.1 200 /);
    const stream = await (tunnels.at(-1) as (typeof tunnels)[0]).end.open("api");
    stream.write(`DELETE /api/v1/namespaces/a/pods/b HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${alice}\r\n\r\n`);
    expect(await text(stream)).to.match(/^HTTP\/1\.1 403 [\s\S]*the rules of the agent do not allow the request/);
  });

  it("sends a proof of its key that is valid for a minute, and its epoch when it redials", async () => {
    await using agent = await dials({ version: "3.2.1" });
    const { headers, end } = tunnels.at(-1) as (typeof tunnels)[0];
    expect(headers).to.include({ "x-virtual-workspaces-agent-version": "3.2.1" });
    expect(headers).not.to.have.property("x-virtual-workspaces-epoch");
    const [, claims = ""] = String(headers["authorization"]).split(".");
    const { exp, iat } = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, number>;
    expect(Number(exp) - Number(iat)).to.equal(60);
    await end[Symbol.asyncDispose]();
    await agent.seen("connected", 2);
    expect(tunnels.at(-1)?.headers).to.include({ "x-virtual-workspaces-epoch": "7" });
  });

  it("dials another tunnel before a drained one ends", async () => {
    await using agent = await dials();
    const first = (tunnels.at(-1) as (typeof tunnels)[0]).end;
    const open = await first.open("api");
    const drained = first.drain();
    await agent.seen("connected", 2);
    expect(agent.events.map(({ type }) => type)).to.deep.equal(["connected", "draining", "connected"]);
    open.write("GET /version HTTP/1.1\r\nhost: a\r\nconnection: close\r\nimpersonate-user: alice\r\n\r\n");
    expect(await text(open)).to.match(/^HTTP\/1\.1 200 /);
    open.end();
    await drained;
  });

  it("backs off longer after each rejection, and reports the reason", async () => {
    const agent = await dials();
    await using _ = agent;
    refusal = 502;
    await (tunnels.at(-1) as (typeof tunnels)[0]).end[Symbol.asyncDispose]();
    const failures = [await agent.seen("failed", 1), await agent.seen("failed", 2)];
    expect(String(failures[0]?.error)).to.match(/the hub: answered 502 without a Status/);
    for (const [at, least] of [250, 500].entries()) expect(failures[at]?.retryAfter).to.be.at.least(least);
  });
});
