// Identities of requests to targets, and protected credentials: over real sockets, for each identity type.
import { expect } from "chai";
import {
  isReady,
  kubeconfigOf,
  linesOf,
  MERGE,
  type Mounted,
  reasonOf,
  refTo,
  secret,
  startMounted,
  startTarget,
  type Target,
} from "./support/mounted.ts";

const BROUGHT_NONE =
  "forbidden: this mount forwards the caller's own bearer token to its target: send one, without impersonation";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the identity of a mount", function () {
  this.timeout(60_000);
  let mounted: Mounted;
  let target: Target;

  before(async () => {
    mounted = await startMounted();
    target = await startTarget();
    const { cert, key } = target.authority.client("front-proxy", []);
    const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
    await mounted.make("Secret", "token", secret({ kubeconfig: kubeconfigOf(target) }));
    await mounted.make("Secret", "certificate", secret({ kubeconfig: kubeconfigOf(target, user) }));
    await mounted.make("Secret", "nobody", secret({ kubeconfig: kubeconfigOf(target, {}) }));
    await mounted.make(
      "Secret",
      "password",
      secret({ kubeconfig: kubeconfigOf(target, { username: "a", password: "b" }) }),
    );
  });

  after(async () => {
    await mounted?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  beforeEach(() => {
    target.asked.splice(0);
    target.certificates.splice(0);
  });

  /** Returns the identity headers that the target has received since the last call. */
  const told = (): string[] =>
    target.asked
      .splice(0)
      .flatMap(linesOf)
      .filter((line) => /^(authorization|impersonate|x-remote)/.test(line));

  /** Returns the identity headers that a target receives through a mount with this name. */
  async function toldBy(name: string): Promise<string[]> {
    await mounted.until(name, isReady);
    const headers = { "x-remote-user": "mallory", "x-remote-group": "system:masters", "x-remote-extra-a": "b" };
    expect((await mounted.at(name).get("/api", { headers })).status).to.equal(200);
    return told();
  }

  const mount = (name: string, from: string, type?: string) =>
    mounted.make("Mount", name, { spec: { ref: refTo(from), ...(type !== undefined && { identity: { type } }) } });

  it("Impersonate sends the caller, with any credential of the Secret", async () => {
    await mount("by-token", "token");
    expect(await toldBy("by-token")).to.deep.equal([
      "impersonate-user: alice",
      "impersonate-group: system:authenticated",
      "authorization: Bearer their-token",
    ]);
    target.asked.splice(0);
    await mount("by-password", "password", "Impersonate");
    expect(await toldBy("by-password")).to.include(`authorization: Basic ${base64("a:b")}`);
    target.asked.splice(0);
    await mount("by-certificate", "certificate", "Impersonate");
    expect(await toldBy("by-certificate")).to.deep.equal([
      "impersonate-user: alice",
      "impersonate-group: system:authenticated",
    ]);
    expect(target.certificates.at(-1)).to.equal("front-proxy");
  });

  it("RequestHeader sends the caller in a front proxy's headers, with a client certificate", async () => {
    await mount("as-proxy", "certificate", "RequestHeader");
    expect(await toldBy("as-proxy")).to.deep.equal(["x-remote-user: alice", "x-remote-group: system:authenticated"]);
    expect(target.certificates).to.deep.equal(["front-proxy"]);
  });

  it("Fixed sends the Secret's identity for every caller", async () => {
    await mount("fixed", "token", "Fixed");
    expect(await toldBy("fixed")).to.deep.equal(["authorization: Bearer their-token"]);
  });

  it("None sends no identity, even if the Secret has a credential", async () => {
    await mount("none", "certificate", "None");
    expect(await toldBy("none")).to.deep.equal([]);
    expect(target.certificates).to.deep.equal([""]);
  });

  it("sends no request when the Secret lacks the credential for the identity", async () => {
    for (const [type, from] of [
      ["Impersonate", "nobody"],
      ["Fixed", "nobody"],
      ["RequestHeader", "nobody"],
      ["RequestHeader", "token"],
    ] as const) {
      const name = `${type}-${from}`.toLowerCase();
      await mount(name, from, type);
      await mounted.until(name, (one) => reasonOf(one) === "CredentialMissing");
      expect((await mounted.at(name).get("/api")).status, name).to.equal(503);
    }
    expect(target.asked).to.have.length(0);
  });

  it("Caller sends no token to a host that is not listed for it", async () => {
    await mount("caller", "nobody", "Caller");
    await mounted.until("caller", (one) => reasonOf(one) === "CallerRefused");
    expect((await mounted.at("caller").get("/api")).status).to.equal(503);
    expect(target.asked).to.have.length(0);
  });

  it("Caller sends the caller's own token to a listed host, and none of an impersonated user", async () => {
    await using listing = await startMounted({ callerHosts: ["127.0.0.1"] });
    const unknown = await startTarget((req, res) => res.writeHead(req.url === "/api" ? 200 : 401).end());
    await using _unknown = unknown;
    await listing.make("Secret", "there", secret({ kubeconfig: kubeconfigOf(unknown) }));
    await listing.make("Mount", "there", { spec: { ref: refTo("there"), identity: { type: "Caller" } } });
    await listing.until("there", isReady);
    const at = listing.at("there");
    expect((await at.get("/api", { headers: { "x-remote-user": "mallory" } })).status).to.equal(200);
    const told = linesOf(unknown.asked[0] as never).filter((line) =>
      /^(authorization|impersonate|x-remote)/.test(line),
    );
    expect(told).to.deep.equal(["authorization: Bearer alice"]);
    const refused = await at.get("/apis");
    expect([refused.status, refused.body.message]).to.deep.equal([
      403,
      "forbidden: the target of this mount rejects your token, which was forwarded to it",
    ]);
    unknown.asked.splice(0);
    const headers = { "impersonate-user": "alice" };
    const as = await at.get("/api", { user: "root", headers });
    expect([as.status, as.body.message]).to.deep.equal([403, BROUGHT_NONE]);
    expect(unknown.asked).to.have.length(0);
  });

  it("Caller sends the token through a mounted workspace and a link to one, and none for callers without a token", async () => {
    await using listing = await startMounted({ callerHosts: ["127.0.0.1"] });
    const { server, team, itself } = listing;
    await listing.make("Secret", "there", secret({ kubeconfig: kubeconfigOf(target) }));
    await listing.make("Mount", "there", { spec: { ref: refTo("there"), identity: { type: "Caller" } } });
    const { status } = await listing.until("there", isReady);
    const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name: "there" };
    for (const [name, URL] of [
      ["there", status.URL],
      ["link", `${server.url}/clusters/root:team:there`],
    ]) {
      await listing.make("Workspace", name, { spec: { mount: { ref } } });
      const path = `/clusters/${team}/apis/tenancy.kcp.io/v1alpha1/workspaces/${name}` as const;
      expect((await server.send(`PATCH ${path}`, { spec: { URL } }, MERGE)).status).to.equal(200);
      const ready = await server.send(`PATCH ${path}/status`, { status: { phase: "Ready" } }, MERGE);
      expect(ready.status, ready.text).to.equal(200);
    }
    const stolen = { "x-remote-token": Buffer.from("stolen").toString("base64url") };
    for (const name of ["there", "link"]) {
      const path = `/clusters/root:team:${name}/api`;
      expect((await server.get(path, { headers: stolen })).text).to.equal("GET /api");
      expect(told()).to.deep.equal(["authorization: Bearer alice"]);
      for (const headers of [{ "impersonate-user": "alice" }, { "impersonate-user": "alice", ...stolen }]) {
        const as = await server.get(path, { user: "root", headers });
        expect([as.status, as.body.message], name).to.deep.equal([403, BROUGHT_NONE]);
      }
      // For requests of the server's own controllers: the target must not receive its secret.
      expect((await itself.send({ path })).status, name).to.equal(403);
      expect(target.asked).to.have.length(0);
    }
  });

  it("comes only from the Secret: the server runs no program, reads no file and skips no verification", async () => {
    const users = [
      { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/false" } },
      { "auth-provider": { name: "gcp" } },
      { tokenFile: "/etc/hostname" },
      { "client-certificate": "/etc/hostname", "client-key": "/etc/hostname" },
      { token: "a", as: "system:masters" },
    ];
    const clusters = [
      { "certificate-authority": "/etc/hostname" },
      { "insecure-skip-tls-verify": true },
      { "proxy-url": "http://127.0.0.1:1" },
    ];
    const configs = [
      ...users.map((user) => kubeconfigOf(target, user)),
      ...clusters.map((cluster) => kubeconfigOf(target, { token: "a" }, cluster)),
      "a: &a [*a, *a]",
      "{",
      "",
      "x".repeat(65 * 1024),
    ];
    for (const [at, kubeconfig] of configs.entries()) {
      await mounted.make("Secret", `bad-${at}`, secret({ kubeconfig }));
      await mount(`bad-${at}`, `bad-${at}`);
      const found = await mounted.until(`bad-${at}`, (one) => reasonOf(one) === "SecretInvalid");
      expect(JSON.stringify(found.status), kubeconfig).to.include("kubeconfig").and.to.not.include("/etc/hostname");
    }
    expect(target.asked).to.have.length(0);
  });

  it("keeps secrets out of all messages", async () => {
    await mount("told", "token");
    const found = await mounted.until("told", isReady);
    expect(JSON.stringify([found, String(mounted.errors)])).to.not.include("their-token");
  });
});
