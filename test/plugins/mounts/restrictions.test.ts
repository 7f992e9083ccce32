// Forbidden targets and requests of mounts: hostile mounts and names, over real sockets.
import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { expect } from "chai";
import { createAuthority } from "../../_support/server.ts";
import {
  isReady,
  kubeconfigOf,
  type Mounted,
  reasonOf,
  refTo,
  secret,
  startMounted,
  startTarget,
  type Target,
} from "./support/mounted.ts";

/** Creates a mount of any address; only `allow` permits it. */
async function mountOf(mounted: Mounted, name: string, target: Pick<Target, "url" | "authority">): Promise<void> {
  await mounted.make("Secret", name, secret({ kubeconfig: kubeconfigOf(target) }));
  await mounted.make("Mount", name, { spec: { ref: refTo(name) } });
}

/** Addresses of the machine's interfaces besides the loopback one, as hosts of URLs. */
function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address));
}

describe("a mount may not lead", function () {
  this.timeout(60_000);
  let target: Target;
  let port: string;

  before(async () => {
    target = await startTarget();
    port = new URL(target.url).port;
  });

  after(async () => target?.[Symbol.asyncDispose]());

  beforeEach(() => target.asked.splice(0));

  it("to this machine, its links and addresses with cloud credentials, in any notation", async () => {
    await using mounted = await startMounted({ allow: [] });
    const hosts = [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[64:ff9b:1::7f00:1]",
      "[2002:7f00:1::]",
      "169.254.169.254",
      "[fe80::1]",
      "[fd00:ec2::254]",
      "224.0.0.1",
      "[ff02::1]",
      "255.255.255.255",
      ...ownAddresses(),
    ];
    for (const [at, host] of hosts.entries()) {
      await mountOf(mounted, `m${at}`, { url: `https://${host}:${port}`, authority: target.authority });
      const found = await mounted.until(
        `m${at}`,
        (one) => reasonOf(one) !== undefined && reasonOf(one) !== "SecretUnknown",
      );
      expect(reasonOf(found), host).to.equal("Restricted");
      expect((await mounted.at(`m${at}`).get("/api")).status, host).to.equal(503);
    }
    expect(target.asked).to.have.length(0);
  });

  it("to such an address by a name", async () => {
    await using mounted = await startMounted({ allow: [], lookup: async () => ["127.0.0.1"] });
    await mountOf(mounted, "loop", { url: `https://target.example:${port}`, authority: target.authority });
    const found = await mounted.until("loop", (one) => reasonOf(one) === "Restricted");
    expect(JSON.stringify(found.status)).to.not.include("127.0.0.1");
    expect((await mounted.at("loop").get("/api")).status).to.equal(503);
    expect(target.asked).to.have.length(0);
  });

  it("to such an address by a name that changes with the next lookup", async () => {
    let connections = 0;
    const inner = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(Number(port), "127.0.0.2");
    await once(inner, "listening");
    let address = "127.0.0.1";
    await using mounted = await startMounted({ lookup: async () => [address] });
    await mountOf(mounted, "turning", { url: `https://target.example:${port}`, authority: target.authority });
    await mounted.until("turning", isReady);
    expect((await mounted.at("turning").get("/api")).text).to.equal("GET /api");
    address = "127.0.0.2";
    target.hangUp();
    const refused = await mounted.at("turning").get("/api");
    expect([refused.status, refused.body.message]).to.deep.equal([
      503,
      "the target of this mount cannot be reached; try again",
    ]);
    expect(String(mounted.errors)).to.include("target.example: its address is restricted for mounts");
    inner.close();
    await once(inner, "close");
    expect([connections, target.asked.length]).to.deep.equal([0, 1]);
  });

  it("over a connection that can be read, nor to a server with an unverified certificate", async () => {
    await using mounted = await startMounted({ lookup: async () => ["127.0.0.1"] });
    await mountOf(mounted, "plain", { url: "http://cluster.example", authority: target.authority });
    await mounted.until("plain", (one) => reasonOf(one) === "Insecure");
    await mountOf(mounted, "stranger", { url: target.url, authority: createAuthority() });
    await mounted.until("stranger", (one) => reasonOf(one) === "Untrusted");
    await mountOf(mounted, "renamed", { url: `https://other.example:${port}`, authority: target.authority });
    await mounted.until("renamed", (one) => reasonOf(one) === "Untrusted");
    expect(target.asked).to.have.length(0);
  });
});

describe("the filters of a mount", function () {
  this.timeout(60_000);

  it("allow only requests that a rule covers, by verb, group, resource and path", async () => {
    await using mounted = await startMounted();
    await using target = await startTarget();
    const filters = [
      { verbs: ["get", "list"], groups: [""], resources: ["pods", "pods/log"] },
      { verbs: ["*"], groups: ["apps"], resources: ["*"] },
      { verbs: ["get"], paths: ["/version", "/openapi/*"] },
    ];
    await mounted.make("Secret", "there", secret({ kubeconfig: kubeconfigOf(target) }));
    await mounted.make("Mount", "there", { spec: { ref: refTo("there"), filters } });
    await mounted.until("there", isReady);
    const at = mounted.at("there");
    const pods = "/api/v1/namespaces/a/pods";
    const codeOf = async (call: `${string} /${string}`) => (await at.send(call)).status;
    for (const call of [
      `GET ${pods}`,
      `GET ${pods}/b/log`,
      "DELETE /apis/apps/v1/namespaces/a/deployments/b",
      "GET /openapi/v3",
    ] as const)
      expect(await codeOf(call), call).to.equal(200);
    target.asked.splice(0);
    for (const call of [
      `DELETE ${pods}/b`,
      `GET ${pods}?watch=true`,
      `GET ${pods}/b/exec`,
      `POST ${pods}/b/exec`,
      "GET /api/v1/secrets",
      "GET /apis/batch/v1/jobs",
      "POST /version",
      "GET /clusters/root/api/v1/pods",
      "GET /",
    ] as const)
      expect(await codeOf(call), call).to.equal(403);
    expect(target.asked).to.have.length(0);
    expect((await at.get("/api/v1/secrets")).body.message).to.include(
      "the filters of the mount do not allow this request",
    );
  });
});
