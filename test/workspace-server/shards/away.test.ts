// Objects on a shard that does not run are unknown: clients get a retryable error instead of a rejection.
import { type Store, StoreError } from "@virtual-workspaces/store";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { signingKey } from "../../_support/issuer.ts";
import { outcome } from "../../_support/plain.ts";
import { pemOf } from "../support/accounts.ts";
import {
  CONFIG_MAPS,
  conditionOf,
  makeOn,
  root,
  SHARDS,
  Stores,
  startSharded,
  untilAt,
  WORKSPACES,
} from "./support.ts";

const TYPES = "/apis/tenancy.kcp.io/v1alpha1/workspacetypes";
const ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default";
const NOT_RUNNING = [503, "ServiceUnavailable", "a shard of this server does not run yet: try again"];

const typeOf = (name: string, spec: object = {}): object => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "WorkspaceType",
  metadata: { name },
  spec,
});
const workspaceOf = (name: string, type: object): object => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: { type, location: { selector: { matchLabels: { name: "root" } } } },
});

describe("a shard that temporarily does not run", function () {
  this.timeout(30_000);

  it("makes its tokens and types unavailable instead of invalid", async () => {
    await using stores = new Stores();
    let isThere = true;
    const storeOf = (name: string): Store => {
      if (!isThere) throw new StoreError("Unavailable", `no disk for ${name}`);
      return stores.of(name);
    };
    const serviceAccountKeys = new ServiceAccountKeys({ signing: pemOf(signingKey().privateKey, "pkcs8") });
    const start = () => startSharded(stores, { serviceAccountKeys, shards: { storeOf } });
    let token: string;
    let child: string;
    {
      await using server = await start();
      const post = async (path: string, body: object) => {
        const answer = await server.send(`POST /clusters/${path}`, body, root);
        expect(answer.status, answer.text).to.equal(201);
        return answer.body;
      };
      const far = await makeOn(server, "far", { shard: "shard-1" });
      child = await makeOn(server, "child", { shard: "root", at: "root:far" });
      await makeOn(server, "near", { shard: "root" });
      // Two types of one name: a reference without a path means the nearer one.
      for (const at of [far, "root"]) await post(`${at}${TYPES}`, typeOf("both"));
      await post(`${far}${TYPES}`, typeOf("base"));
      await post(`root${TYPES}`, typeOf("extending", { extend: { with: [{ name: "base", path: "root:far" }] } }));
      await untilAt(server, `/clusters/${far}${ACCOUNT}`, ({ status }) => status === 200);
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
      token = (await post(`${far}${ACCOUNT}/token`, request)).status.token;
    }
    isThere = false;
    await using server = await start();
    await untilAt(server, `${SHARDS}/shard-1`, (one) => conditionOf(one, "Ready")?.status === "False");
    const asAccount = () => server.get(`/clusters/root:near${CONFIG_MAPS}`, { user: token });
    const whoami = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const identity = () =>
      server.send("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", whoami, { user: token });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
    const reviewed = () => server.send("POST /clusters/root/apis/authentication.k8s.io/v1/tokenreviews", review, root);
    const made = (name: string, type: object, at = "root:near") =>
      server.send(`POST /clusters/${at}${WORKSPACES}`, workspaceOf(name, type), root);
    for (const answer of [await asAccount(), await identity()]) {
      expect(outcome(answer)).to.deep.equal(NOT_RUNNING);
      expect(answer.headers["retry-after"]).to.equal("1");
    }
    expect((await reviewed()).body.status).to.deep.include({ error: `[invalid bearer token, ${NOT_RUNNING[2]}]` });
    const altered = `${token.slice(0, -8)}${"A".repeat(8)}`;
    expect((await server.get(`/clusters/root:near${CONFIG_MAPS}`, { user: altered })).status).to.equal(401);
    const types = [
      [{ name: "both", path: "root:far" }, "root:near"],
      [{ name: "extending", path: "root" }, "root:near"],
      [{ name: "both" }, child],
    ] as const;
    for (const [type, where] of types) expect(outcome(await made("a", type, where))).to.deep.equal(NOT_RUNNING);
    expect((await made("plain", { name: "universal", path: "root" })).status).to.equal(201);

    isThere = true;
    await untilAt(server, "/readyz", ({ status }) => status === 200);
    expect((await asAccount()).status, "known, and not let in").to.equal(403);
    expect((await identity()).status).to.equal(201);
    for (const [at, [type, where]] of types.entries()) {
      const answer = await made(`of-${at}`, type, where);
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.body.spec.type.path).to.equal(at === 1 ? "root" : "root:far");
    }
    expect((await made("none", { name: "nothing", path: "root:far" })).status, "there is none").to.equal(403);
    expectFault(/controller failed .*in-process-shards.*no disk for shard-1/);
  });
});
