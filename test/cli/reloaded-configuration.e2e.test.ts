// Files of authorization and authentication that the server reads again when they change.
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { parseExposition } from "../_support/exposition.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { createAuthority } from "../_support/server.ts";
import { until } from "../_support/until.ts";
import { type Answer, Start } from "./support/start.ts";

const MAPS = "/clusters/root/api/v1/namespaces/default/configmaps";

/** Replaces a file at once, so that no reader sees a part. */
function replace(path: string, content: object | string): void {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Returns the value of a counter or gauge by status, 0 while it is missing. */
async function metric(server: Start, name: string, status: string): Promise<number> {
  const { body } = await server.get("/metrics", { token: server.token("shard-admin") });
  return parseExposition(body).get(name)?.series.get(`${name}{status="${status}"}`) ?? 0;
}

async function logged(server: Start, text: string): Promise<void> {
  await server.until(text, () => server.stderr.includes(text), 20_000);
}

async function untilCode(read: () => Promise<Answer>, code: number): Promise<Answer> {
  return until(async () => {
    const answer = await read();
    return answer.code === code ? answer : undefined;
  });
}

const authorization = (...authorizers: readonly object[]): object => ({
  ...{ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthorizationConfiguration", authorizers },
});
const RBAC = { type: "RBAC", name: "rbac" };

/** Webhook that denies everything, and its kubeconfig. */
async function closed() {
  const authority = createAuthority();
  const reviews: object[] = [];
  const webhook = createServer(authority.server, async (req, res) => {
    let text = "";
    for await (const piece of req.setEncoding("utf8")) text += piece;
    reviews.push(JSON.parse(text));
    const { apiVersion, kind } = JSON.parse(text);
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify({ apiVersion, kind, status: { allowed: false, denied: true, reason: "closed" } }));
  }).listen(0, "127.0.0.1");
  await once(webhook, "listening");
  const server = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/authorize`;
  const cluster = { server, "certificate-authority-data": Buffer.from(authority.ca).toString("base64") };
  const kubeconfig = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "webhook" },
    clusters: [{ name: "webhook", cluster }],
    contexts: [{ name: "webhook", context: { cluster: "webhook", user: "" } }],
  };
  return {
    kubeconfig,
    reviews,
    [Symbol.asyncDispose]: async () => {
      webhook.closeAllConnections();
      webhook.close();
      await once(webhook, "close");
    },
  };
}

describe("a configuration that changes while virtual-workspaces start runs", function () {
  this.timeout(120_000);

  it("of authorization is in use within seconds, and an invalid one changes nothing", async () => {
    await using webhook = await closed();
    using folder = tree({});
    const at = (name: string): string => join(folder.path, name);
    const file = at("authorization.json");
    replace(file, authorization(RBAC));
    replace(at("webhook.kubeconfig"), webhook.kubeconfig);
    await using started = await Start.ready({ in: folder.path, flags: [`--authorization-config=${file}`] });
    const read = () => started.get(MAPS, { token: started.token("kcp-admin") });
    const RELOADS = "apiserver_authorization_config_controller_automatic_reloads_total";
    await untilCode(read, 200);
    expect(webhook.reviews).to.deep.equal([]);

    const first = {
      type: "Webhook",
      name: "closed",
      webhook: {
        ...{ timeout: "3s", subjectAccessReviewVersion: "v1", failurePolicy: "Deny" },
        connectionInfo: { type: "KubeConfigFile", kubeConfigFile: at("webhook.kubeconfig") },
      },
    };
    replace(file, authorization(first, RBAC));
    const denied = await untilCode(read, 403);
    expect(denied.body).to.include("closed");
    await logged(started, "authorization configuration reloaded");
    expect(await metric(started, RELOADS, "success")).to.equal(1);

    for (const [content, why] of [
      [authorization(), "at least one authorization mode must be defined"],
      ["no: [yaml", "authorization configuration"],
      [
        authorization({
          ...first,
          webhook: { ...first.webhook, connectionInfo: { type: "KubeConfigFile", kubeConfigFile: at("none") } },
        }),
        "cannot read",
      ],
    ] as const) {
      const before = await metric(started, RELOADS, "failure");
      replace(file, content);
      await until(async () => (await metric(started, RELOADS, "failure")) === before + 1);
      expect(started.stderr).to.include(why);
      expect((await read()).code).to.equal(403);
    }
    expect(started.stderr).to.include("authorization configuration not reloaded, the previous one stays in use");

    replace(file, authorization(RBAC));
    await untilCode(read, 200);
    expect(await metric(started, RELOADS, "success")).to.equal(2);
    const LAST = "apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds";
    const seconds = Date.now() / 1000;
    expect(await metric(started, LAST, "success")).to.be.within(seconds - 60, seconds + 1);
    expect(await metric(started, LAST, "failure")).to.be.within(seconds - 60, seconds + 1);
  });

  it("of authentication is in use within seconds, except for anonymous requests", async () => {
    await using issuer = await TestIssuer.start();
    const token = issuer.token({ aud: "new" });
    const configuration = (audience: string, anonymous: boolean) => ({
      ...{ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration" },
      jwt: [
        {
          issuer: { url: issuer.url, audiences: [audience], certificateAuthority: issuer.authority.cert },
          claimMappings: { username: { claim: "sub", prefix: "" } },
        },
      ],
      anonymous: { enabled: anonymous },
    });
    using folder = tree({});
    const file = join(folder.path, "authentication.json");
    replace(file, configuration("old", false));
    await using started = await Start.ready({ in: folder.path, flags: [`--authentication-config=${file}`] });
    const RELOADS = "apiserver_authentication_config_controller_automatic_reloads_total";
    const read = () => started.get(MAPS, { token });
    expect((await read()).code).to.equal(401);
    replace(file, configuration("new", false));
    await untilCode(read, 403);
    await logged(started, "authentication configuration reloaded");
    expect(await metric(started, RELOADS, "success")).to.equal(1);
    replace(file, configuration("old", true));
    await logged(started, "authentication configuration not reloaded, the previous one stays in use");
    expect(started.stderr).to.include("anonymous: Forbidden: changed from initial configuration file");
    expect([(await read()).code, (await started.get(MAPS)).code]).to.deep.equal([403, 401]);
    expect(await metric(started, RELOADS, "failure")).to.equal(1);
    replace(file, configuration("old", false));
    await untilCode(read, 401);
  });
});
