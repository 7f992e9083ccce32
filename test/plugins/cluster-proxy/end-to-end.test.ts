// TLS from a hub to the remote API server: the agent and other hubs copy bytes.
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { Agent } from "@virtual-workspaces/cluster-proxy";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { createAuthority } from "../../_support/server.ts";
import { untilAnswer } from "../../_support/until.ts";
import { grant } from "../../workspace-server/support/logical-clusters.ts";
import { kubeconfigOf, linesOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, conditionOf, isReady, OtherHub, type TestAgent, TestHub } from "./support/hub.ts";

const alice = { user: "alice" };
const secretRef = { namespace: "default", name: "remote" };

describe("remote cluster with TLS from the hub to its API server", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;
  let agent: TestAgent;
  /** All bytes that the agent has copied. */
  const passed: Buffer[] = [];

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget((req, res) => {
      if (req.url?.includes("watch=true") === true)
        return void res.writeHead(200, { "content-type": "application/json" }).write('{"type":"BOOKMARK"}\n');
      res.end(`${req.method} ${req.url}`);
    });
    await hub.keep("remote", { token: "hubs-own", "ca.crt": target.authority.ca });
    await hub.make("shop", { tls: "EndToEnd", secretRef, serverName: "target.example" });
    agent = await hub.agent("shop", { api: { url: target.url, dial: recording }, endToEnd: true });
    await hub.until("shop", isReady);
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  async function recording({ host, port }: { readonly host: string; readonly port: number }) {
    const socket = connect({ host, port, allowHalfOpen: true });
    const tap = new PassThrough().on("data", (bytes: Buffer) => passed.push(bytes));
    const { write } = socket;
    socket.write = ((bytes: Buffer, ...rest: never[]) => {
      tap.write(bytes);
      return write.call(socket, bytes, ...rest);
    }) as typeof socket.write;
    socket.on("data", (bytes: Buffer) => passed.push(bytes));
    socket.pause();
    return socket;
  }

  const asked = (path = "/api/v1/pods") => hub.at("shop").get(path, alice);

  it("has a status with that mode, and is called as the caller with the Secret's credential, which the agent never sees", async () => {
    const { status } = await hub.until("shop", isReady);
    expect([status.tls, status.agent.tls, conditionOf({ status }, "CredentialValid")]).to.deep.equal([
      "EndToEnd",
      "EndToEnd",
      "True",
    ]);
    const answer = await asked("/api/v1/namespaces/recognisable/pods");
    expect([answer.status, answer.text]).to.deep.equal([200, "GET /api/v1/namespaces/recognisable/pods"]);
    const lines = linesOf(target.asked.at(-1) as never);
    expect(lines).to.include.members([
      "impersonate-user: alice",
      "impersonate-group: system:authenticated",
      "authorization: Bearer hubs-own",
    ]);
    const all = Buffer.concat(passed).toString("latin1");
    expect(all.length).to.be.greaterThan(1_000);
    for (const secret of ["recognisable", "hubs-own", "alice", "HTTP/1.1"]) expect(all).not.to.include(secret);
  });

  it("is also called by a hub without a tunnel, over one that cannot read the bytes either", async () => {
    await using other = await OtherHub.start(hub, { renewEvery: 50 });
    const answer = await untilAnswer(
      () => other.at("shop", hub).get("/api/v1/pods", alice),
      ({ status }) => status !== 503,
    );
    expect([answer.status, answer.text]).to.deep.equal([200, "GET /api/v1/pods"]);
    expect(linesOf(target.asked.at(-1) as never)).to.include("authorization: Bearer hubs-own");
  });

  it("loses its open connections when the Secret changes, and is then called with the new contents", async () => {
    const watch = await hub.at("shop").watch("/api/v1/pods?watch=true", alice);
    await watch.next();
    await hub.keep("remote", { token: "another", "ca.crt": target.authority.ca });
    expect(await watch.rest().catch(() => "cut")).to.equal("cut");
    await hub.until("shop", isReady);
    expect((await asked()).status).to.equal(200);
    expect(linesOf(target.asked.at(-1) as never)).to.include("authorization: Bearer another");
  });

  it("is not called if another server answers in its place", async () => {
    const before = target.asked.length;
    const untrusted = [503, "ServiceUnavailable", "the remote cluster of this ClusterProxy cannot be trusted"];
    await hub.keep("remote", { token: "hubs-own", "ca.crt": createAuthority().ca });
    await hub.until("shop", isReady);
    expect(outcome(await asked())).to.deep.equal(untrusted);
    await hub.keep("remote", { token: "hubs-own", "ca.crt": target.authority.ca });
    await hub.change("shop", { spec: { serverName: "another.example" } });
    await hub.until("shop", isReady);
    expect(outcome(await asked())).to.deep.equal(untrusted);
    expect(target.asked.length).to.equal(before);
    await hub.change("shop", { spec: { serverName: "target.example" } });
  });

  it("is called as a kubeconfig in the Secret specifies", async () => {
    const server = "https://target.example/clusters/root";
    const kubeconfig = kubeconfigOf(target, { token: "of-kubeconfig" }, { server });
    await hub.keep("whole", { kubeconfig });
    await hub.make("whole", { tls: "EndToEnd", secretRef: { namespace: "default", name: "whole" } });
    await using _ = await hub.agent("whole", { api: { url: target.url }, endToEnd: true });
    await hub.until("whole", isReady);
    expect((await hub.at("whole").get("/version", alice)).text).to.equal("GET /clusters/root/version");
    expect(linesOf(target.asked.at(-1) as never)).to.include("authorization: Bearer of-kubeconfig");
  });

  it("reports what is wrong with its Secret", async () => {
    await hub.make("poor", { tls: "EndToEnd", secretRef: { namespace: "default", name: "poor" } });
    await using _ = await hub.agent("poor", { api: { url: target.url }, endToEnd: true });
    const said = (wanted: string) => hub.until("poor", (one) => conditionOf(one, "CredentialValid") === wanted);
    await said("False SecretNotFound");
    const { body } = await hub.at("poor").get("/api/v1/pods", alice);
    expect([body.code, body.message]).to.deep.equal([
      503,
      'the ClusterProxy "poor" cannot be reached: Secret "default/poor" (spec.secretRef) not found',
    ]);
    await hub.keep("poor", { "ca.crt": target.authority.ca });
    await said("False CredentialMissing");
    await hub.keep("poor", { token: "t", "tls.crt": "no key" });
    expect((await said("False SecretInvalid")).status.phase).not.to.equal("Ready");
    await hub.keep("poor", { token: "t", "ca.crt": target.authority.ca });
    await said("True");
  });

  it("does not match an agent in the other TLS mode, either way", async () => {
    await hub.make("other", {});
    const bytes = await hub.agent("other", { api: { url: target.url }, endToEnd: true });
    await hub.until("other", (one) => conditionOf(one, "AgentConnected") === "False ModeMismatch");
    const { body } = await hub.at("other").get("/api/v1/pods", alice);
    expect([body.code, body.message]).to.deep.equal([
      503,
      "the agent of this ClusterProxy does not support its spec.tls: change spec.tls, or how the agent is started",
    ]);
    const [certificate] = bytes.kept;
    await bytes[Symbol.asyncDispose]();
    await using _ = await hub.agent("other", { api: apiOf(target), ...(certificate && { certificate }) });
    const ready = await hub.until("other", isReady);
    expect([ready.status.tls, conditionOf(ready, "CredentialValid")]).to.deep.equal(["Agent", ""]);
    await hub.change("other", { spec: { tls: "EndToEnd", secretRef } });
    await hub.until("other", (one) => conditionOf(one, "AgentConnected") === "False ModeMismatch");
    expect((await hub.at("other").get("/api/v1/pods", alice)).status).to.equal(503);
  });

  it("references only a Secret that its writer may get, and needs one in this mode", async () => {
    const path = `/clusters/${hub.edge}/apis/proxy.kcp.io/v1alpha1/clusterproxies` as const;
    const make = (spec: object, user: string) => {
      const object = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "ClusterProxy", metadata: { name: "mine" }, spec };
      return hub.server.send(`POST ${path}`, object, { user });
    };
    await grant(hub.server, hub.edge, { user: "bob", verbs: ["create"] });
    const refused = await make({ tls: "EndToEnd", secretRef }, "bob");
    expect([refused.status, refused.body.message]).to.deep.equal([
      403,
      'clusterproxies.proxy.kcp.io "mine" is forbidden: spec.secretRef: the author of a ClusterProxy must be allowed to get the Secret "default/remote" that it names',
    ]);
    for (const spec of [{ tls: "EndToEnd" }, { secretRef }, { tls: "Agent", serverName: "a.example" }, { tls: "None" }])
      expect((await make(spec, "alice")).status).to.equal(422);
  });

  it("needs an agent with an https API server and without rules", () => {
    const given = { hub: { url: "http://127.0.0.1:1" }, keep: () => undefined, endToEnd: true };
    const made = (options: object) => () => new Agent({ ...given, ...options } as never);
    expect(made({ api: { url: "http://127.0.0.1:1" } })).to.throw(/use an https URL/);
    expect(made({ api: { url: target.url }, allow: [] })).to.throw(/not supported with endToEnd/);
  });
});
