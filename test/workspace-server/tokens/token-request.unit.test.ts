// TokenRequest, tokens in Secrets, and the issuer's documents.
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { inClusterUrl } from "@virtual-workspaces/kcp/users";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { accountNameIn } from "../../../packages/workspace-server/src/service-accounts/token-secrets.ts";
import {
  CONFIGURATION_PATH,
  issuerDocuments,
  KEYS_PATH,
} from "../../../packages/workspace-server/src/tokens/documents.ts";
import { run } from "../../../tools/run.mjs";
import { tree } from "../../_setup/tree.ts";
import { type Json, signed } from "../../_support/issuer.ts";
import { outcome } from "../../_support/plain.ts";
import { AccountServer, EC, KEYS, pemOf, RSA } from "../support/accounts.ts";

const claimsOf = (token: string): Json => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

describe("TokenRequest", () => {
  let server: AccountServer;
  let account: KubeObject;
  beforeEach(async () => {
    server = await AccountServer.start({ maxSeconds: 7200 });
    account = server.account();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("returns a valid token for this server, for one hour", async () => {
    const { status, body } = await server.request({});
    expect(status).to.equal(201);
    const { metadata, spec, status: given } = body;
    expect([metadata.name, metadata.namespace]).to.deep.equal(["builder", "default"]);
    expect(spec).to.deep.equal({ audiences: ["https://kcp.default.svc"], expirationSeconds: 3600 });
    const { exp, iat } = claimsOf(given.token) as { exp: number; iat: number };
    expect(exp - iat).to.equal(3600);
    expect(Date.parse(given.expirationTimestamp)).to.equal(exp * 1000);
    expect((await server.ask(given.token))?.uid).to.equal(account.metadata.uid);
  });

  it("returns one for other audiences, for the requested time up to the maximum", async () => {
    const { body, headers } = await server.request({ audiences: ["vault", "db"], expirationSeconds: 600 });
    expect(claimsOf(body.status.token)["aud"]).to.deep.equal(["vault", "db"]);
    expect(headers["warning"]).to.equal(undefined);
    expect(await server.ask(body.status.token)).to.equal(undefined);
    const cut = await server.request({ expirationSeconds: 10_000 });
    expect(cut.body.spec.expirationSeconds).to.equal(7200);
    expect(cut.headers["warning"]).to.equal('299 - "requested expiration of 10000 seconds shortened to 7200 seconds"');
  });

  it("rejects invalid requests with Kubernetes' text", async () => {
    const invalid = (seconds: number, text: string): unknown[] => [
      422,
      "Invalid",
      `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: ${seconds}: ${text}`,
    ];
    expect(outcome(await server.request({ expirationSeconds: 599 }))).to.deep.equal(
      invalid(599, "may not specify a duration less than 10 minutes"),
    );
    expect(outcome(await server.request({ expirationSeconds: 2 ** 32 + 1 }))).to.deep.equal(
      invalid(4294967297, "may not specify a duration larger than 2^32 seconds"),
    );
    expect(outcome(await server.request({}, "nobody"))).to.deep.equal([
      404,
      "NotFound",
      'serviceaccounts "nobody" not found',
    ]);
    const bound = async (ref: object): Promise<unknown[]> => outcome(await server.request({ boundObjectRef: ref }));
    const v1 = { apiVersion: "v1", name: "x" };
    expect(await bound({ ...v1, kind: "Pod" })).to.deep.equal([404, "NotFound", 'pods "x" not found']);
    expect(await bound({ ...v1, kind: "Node" })).to.deep.equal([404, "NotFound", 'nodes "x" not found']);
    expect(await bound({ ...v1, kind: "Secret" })).to.deep.equal([404, "NotFound", 'secrets "x" not found']);
    expect(await bound({ kind: "Deployment", apiVersion: "apps/v1", name: "x" })).to.deep.equal([
      400,
      "BadRequest",
      "cannot bind token to object of type apps/v1, Kind=Deployment",
    ]);
    expect(await bound({ kind: "Secret", apiVersion: "apps/v1", name: "x" })).to.deep.include(400);
  });

  it("binds to a Secret, and becomes invalid with it, even if its name is reused", async () => {
    const secrets = server.secrets.in("one", "default");
    const { uid } = secrets.set("lease", {}).metadata;
    const ref = { kind: "Secret", apiVersion: "v1", name: "lease" };
    const { token } = (await server.request({ boundObjectRef: { ...ref, uid } })).body.status;
    expect((claimsOf(token)["kubernetes.io"] as Json)["secret"]).to.deep.equal({ name: "lease", uid });
    expect(await server.ask(token)).not.to.equal(undefined);
    secrets.delete("lease");
    expect((await server.review(token))["error"]).to.equal(
      "[invalid bearer token, service account token has been invalidated]",
    );
    const next = secrets.set("lease", {}).metadata.uid;
    expect((await server.review(token))["error"]).to.equal(
      `[invalid bearer token, secret UID (${next}) does not match service account secret ref claim (${uid})]`,
    );
    expect(outcome(await server.request({ boundObjectRef: { ...ref, uid } }))).to.deep.equal([
      409,
      "Conflict",
      `Operation cannot be fulfilled on Secret "lease": the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    ]);
  });

  it("uses the logical cluster of its URL: another one's Secret is not found", async () => {
    server.secrets.in("two", "default").set("lease", {});
    const boundObjectRef = { kind: "Secret", apiVersion: "v1", name: "lease" };
    expect(outcome(await server.request({ boundObjectRef }))).to.deep.include('secrets "lease" not found');
  });
});

describe("tokens in Secrets", () => {
  const type = "kubernetes.io/service-account-token";
  const base64 = (text: string): string => Buffer.from(text).toString("base64");

  it("do not expire while the Secret holds them and the account is the same", async () => {
    await using server = await AccountServer.start();
    const account = server.account();
    const token = await server.minter.legacy({ cluster: "one", account, secretName: "builder-token" });
    const error = async (): Promise<unknown> => (await server.review(token))["error"];
    const secrets = server.secrets.in("one", "default");
    expect(await error()).to.equal("[invalid bearer token, token has been invalidated]");
    secrets.set("builder-token", { type, data: { token: base64("another") } });
    expect(await error()).to.equal("[invalid bearer token, token does not match server's copy]");
    secrets.set("builder-token", { type, data: { token: base64(token) } });
    server.ahead = 10 * 365 * 24 * 3600 * 1000;
    expect(await server.ask(token)).to.deep.equal({
      name: "system:serviceaccount:default:builder",
      uid: account.metadata.uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: {
        "authentication.kcp.io/cluster-name": ["one"],
        "authentication.kcp.io/scopes": ["cluster:one"],
      },
    });
    expect(claimsOf(token)).to.deep.equal({
      iss: "kubernetes/serviceaccount",
      "kubernetes.io/serviceaccount/clusterName": "one",
      "kubernetes.io/serviceaccount/namespace": "default",
      "kubernetes.io/serviceaccount/secret.name": "builder-token",
      "kubernetes.io/serviceaccount/service-account.name": "builder",
      "kubernetes.io/serviceaccount/service-account.uid": account.metadata.uid,
      sub: "system:serviceaccount:default:builder",
    });
    server.accounts.in("one", "default").delete("builder");
    expect(await error()).to.equal('[invalid bearer token, serviceaccounts "builder" not found]');
    const { uid } = server.account().metadata;
    expect(await error()).to.equal(
      `[invalid bearer token, service account UID (${uid}) does not match claim (${account.metadata.uid})]`,
    );
    secrets.set("builder-token", { type, data: { token: base64(token) } }, { finalizers: ["test.dev/hold"] });
    secrets.delete("builder-token");
    expect(await error()).to.equal("[invalid bearer token, token has been invalidated]");
  });

  it("are rejected without one of their claims", async () => {
    await using server = await AccountServer.start();
    const account = server.account();
    const token = await server.minter.legacy({ cluster: "one", account, secretName: "s" });
    for (const [claim, value] of Object.entries(claimsOf(token))) {
      if (claim === "iss") continue;
      const claims = { ...claimsOf(token), [claim]: undefined };
      const bad = signed({ alg: "RS256" }, claims, { key: RSA.privateKey, alg: "RS256" });
      expect((await server.review(bad))["error"], `${claim} ${value}`).to.match(/claim is missing\]$/);
    }
  });

  it("belong to the account that the Secret names", () => {
    const metadata = { annotations: { "kubernetes.io/service-account.name": "builder" } };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, type };
    expect([accountNameIn(secret), accountNameIn({ ...secret, type: "Opaque" })]).to.deep.equal(["builder", undefined]);
  });
});

describe("requests without a logical cluster", () => {
  it("go to that of their token", async () => {
    await using server = await AccountServer.start();
    const account = server.account();
    const authorization = `Bearer ${await server.token()}`;
    const legacy = await server.minter.legacy({ cluster: "one", account, secretName: "s" });
    const to = (url: string, headers = {}): unknown => inClusterUrl({ url, headers: { authorization, ...headers } });
    expect(to("/api/v1/secrets?watch=1")).to.equal("/clusters/one/api/v1/secrets?watch=1");
    expect(to("/api/", { authorization: `Bearer ${legacy}` })).to.equal("/clusters/one/api");
    for (const url of ["/clusters/two/api", "/services/x", "http://host/api", "*"])
      expect(to(url), url).to.equal(undefined);
    expect(to("/api", { "x-kubernetes-sharded-request": "1" })).to.equal(undefined);
    expect(to("/api", { authorization: authorization.replace("Bearer", "bearer") })).to.equal(undefined);
    expect(to("/api", { authorization: "Bearer alice" })).to.equal(undefined);
    expect(to("/api", { authorization: undefined })).to.equal(undefined);
  });

  it("are not redirected by an invalid name", () => {
    const forged = (clusterName: unknown): string =>
      signed({ alg: "RS256" }, { "kubernetes.io": { clusterName } }, { key: "secret", alg: "HS256" });
    for (const name of ["../services/x", "root:org", "*", "", 5, "a/b", "a%2fb"])
      expect(
        inClusterUrl({ url: "/api", headers: { authorization: `Bearer ${forged(name)}` } }),
        String(name),
      ).to.equal(undefined);
    const dots = inClusterUrl({ url: "/../two/api", headers: { authorization: `Bearer ${forged("one")}` } });
    expect(dots, "for the framework to refuse").to.equal("/clusters/one/../two/api");
  });
});

describe("the issuer's documents", () => {
  it("contain the issuer and its public keys, which verify its tokens, and no secrets", async () => {
    const keys = new ServiceAccountKeys({
      signing: pemOf(RSA.privateKey, "pkcs8"),
      verification: [pemOf(EC.privateKey, "pkcs8")],
    });
    const keysUrl = "https://kcp.test:6443/openid/v1/jwks";
    const documents = issuerDocuments({ keys, issuer: "https://kcp.default.svc", keysUrl });
    expect(JSON.parse(documents.get(CONFIGURATION_PATH)?.body ?? "")).to.deep.equal({
      issuer: "https://kcp.default.svc",
      jwks_uri: keysUrl,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256", "RS256"],
    });
    const set = JSON.parse(documents.get(KEYS_PATH)?.body ?? "") as { keys: Json[] };
    expect(set.keys.map((key) => Object.keys(key).sort())).to.deep.equal([
      ["alg", "e", "kid", "kty", "n", "use"],
      ["alg", "crv", "kid", "kty", "use", "x", "y"],
    ]);
    await using server = await AccountServer.start({ keys });
    const [head, body, signature = ""] = (await server.token()).split(".");
    const found = set.keys.find(({ kid }) => kid === KEYS.signing.kid);
    const key = createPublicKey({ key: found as never, format: "jwk" });
    expect(verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"))).to.equal(true);
  });
});

describe("kubectl create token", () => {
  it("prints a valid token", async function () {
    this.timeout(60_000);
    if (!(await run("kubectl", ["version", "--client"])).ok) this.skip();
    await using server = await AccountServer.start({ authenticators: [anonymous()] });
    const { uid } = server.account().metadata;
    // Over plain HTTP kubectl sends no token of its own.
    using home = tree({ config: "" });
    const to = ["--server", `${server.url}/services/accounts/clusters/one`];
    const args = ["--kubeconfig", join(home.path, "config"), ...to, "create", "token", "builder"];
    const { output } = await run("kubectl", args);
    expect(output).to.match(/^eyJ/);
    expect((await server.ask(output))?.uid).to.equal(uid);
    expect(Number(claimsOf(output)["exp"]) - Number(claimsOf(output)["iat"])).to.equal(3600);
  });
});
